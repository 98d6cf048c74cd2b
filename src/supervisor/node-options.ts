/**
 * The options of Node with which Bursar's processes are started. `docker-compose.yml` names the same ones: those of V8 in
 * the commands, because `NODE_OPTIONS` takes only some of them.
 * @module
 */

/**
 * Without the second one V8 allocates in the old generation where most objects outlived a small collection. For requests
 * that is wrong: those that are under way outlive it, and would be kept until a large one (`docs/decisions.md`, "V8 chooses
 * no generation").
 */
export const nodeOptions: readonly string[] = [
  '--disable-warning=ExperimentalWarning',
  '--no-allocation-site-pretenuring',
];

/**
 * Of the API: a young generation of up to 16 MiB per half, not Node's 64, so that a bank file of 10,000 entries is booked
 * in 400 MiB, not in 590 (docs/performance.md, Files of a bank).
 */
export const apiNodeOptions: readonly string[] = [...nodeOptions, '--max-semi-space-size=16'];
