/**
 * Goal: the real stack does with the network's messages what the model says, in any order, repeated and late. Method: 200
 * random steps over HTTP beside the model, the accounts compared at each step, the ledger verified at the end. The seed
 * is printed, TEST_SEED repeats it; `node test/load/network-model.ts` plays 2,000.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { playPayments } from '../../support/payment-history.ts';
import { brokenInvariants, expireIn } from '../../support/payments-world.ts';
import { seed } from '../../support/seed.ts';
import { businessNow, startWorld, type World } from '../../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(async () => {
  expect(await brokenInvariants(world)).toEqual([]);
  await world.close();
});

test('200 random steps: each answer, account, payment and intent is the model’s', async () => {
  process.stderr.write(`model of payments on the real stack: seed ${seed}\n`);
  const passes = async (ms: number): Promise<void> => {
    await world.advance(ms);
    await expireIn(world, await businessNow(world));
  };
  const played = await playPayments({ ...world, passes }, { seed, steps: 200, verifyEvery: 100 });
  expect(played).toMatchObject({ steps: 200, verified: 2 });
}, 200_000);
