/**
 * Goal: the real stack does with the network's messages and with the commands of owner and agent what the model says,
 * in any order, repeated and late. Method: 200 random steps over HTTP beside the model, everything compared at each
 * step, the ledger verified at the end. The seed is printed, TEST_SEED repeats it; `node test/load/network-model.ts`
 * plays 2,000.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { playPayments } from '../../support/payment-history.ts';
import { brokenInvariants } from '../../support/payments-world.ts';
import { seed } from '../../support/seed.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({ worker: true });
});
afterAll(async () => {
  expect(await brokenInvariants(world)).toEqual([]);
  await world.close();
});

test('200 random steps: each answer, account, payment and intent is the model’s', async () => {
  process.stderr.write(`model of payments on the real stack: seed ${seed}\n`);
  const played = await playPayments(world, { seed, steps: 200, verifyEvery: 100 });
  process.stderr.write(`model of payments on the real stack: ${JSON.stringify(played.done)}\n`);
  expect(played).toMatchObject({ steps: 200, verified: 2 });
}, 200_000);
