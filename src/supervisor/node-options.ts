/**
 * The options of Node with which Bursar's processes are started. `docker-compose.yml` names the same ones in
 * `NODE_OPTIONS`.
 * @module
 */
export const nodeOptions: readonly string[] = ['--disable-warning=ExperimentalWarning'];

/**
 * Of the API: a young generation of up to 16 MiB per half, not Node's 64, so that a bank file of 10,000 entries is booked
 * in 400 MiB, not in 590 (docs/performance.md, Files of a bank).
 */
export const apiNodeOptions: readonly string[] = [...nodeOptions, '--max-semi-space-size=16'];
