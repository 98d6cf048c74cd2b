/**
 * The seed of every random choice that a test makes. It is the same in every run unless TEST_SEED says otherwise, so
 * that a run of an unchanged tree repeats; TEST_SEED=random explores, and a failure then names the seed.
 * @module
 */

/** Of this run, as `TEST_SEED` says: a whole number from 0 to 2,147,483,647. */
export const seed = seedFrom(process.env.TEST_SEED);

function seedFrom(given: string | undefined): number {
  if (given === undefined) return 20_261_121;
  if (!/^\d{1,10}$/.test(given) || Number(given) >= 2 ** 31)
    throw new Error(`TEST_SEED must be "random" or a whole number below ${2 ** 31}, not ${JSON.stringify(given)}`);
  return Number(given);
}
