/**
 * The options of Node with which each of Bursar's processes is started. The image of `docker-compose.yml` names the same
 * ones in `NODE_OPTIONS`.
 * @module
 */
export const nodeOptions: readonly string[] = [
  '--disable-warning=ExperimentalWarning',
  // A young generation of up to 16 MiB per half, not Node's 64: a bank file of 10,000 entries is booked in 400 MiB, not
  // in 590 (docs/performance.md, Files of a bank). The p99 of decisions may be a little higher; it was not told apart.
  '--max-semi-space-size=16',
];
