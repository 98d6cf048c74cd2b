/**
 * The options of Node with which each of Bursar's processes is started. The image of `docker-compose.yml` names the same
 * ones in `NODE_OPTIONS`.
 * @module
 */
export const nodeOptions: readonly string[] = [
  '--disable-warning=ExperimentalWarning',
  // A young generation of up to 16 MiB per half, not Node's 64: a bank file of 10,000 entries is booked in 392 MiB, not
  // in 590, and no bench is slower (docs/performance.md, SEPA).
  '--max-semi-space-size=16',
];
