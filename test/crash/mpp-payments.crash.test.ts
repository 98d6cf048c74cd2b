/**
 * A hundred steps of machine payments at merchants that cheat, while API, worker and sandbox are killed five times: no
 * intent is paid twice or beyond its tolerance, the owner sees every charge, and an unknown payment is never paid
 * again. The seed is printed; TEST_SEED repeats it. `node test/load/mpp-deaths.ts` plays a longer history.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Installation, startInstallation } from '../support/installation.ts';
import { seed } from '../support/seed.ts';
import { type CheatingMerchant, startCheatingMerchant } from './cheating-merchant.ts';
import { differencesOf, figuresOf } from './mpp-checks.ts';
import { isQuiet, isSettled, openHistory, playHistory } from './mpp-history.ts';

const silenceMs = 8 * 86_400_000;

let site: Installation;
let merchant: CheatingMerchant;

beforeAll(async () => {
  merchant = await startCheatingMerchant();
  site = await startInstallation({ BURSAR_ALLOWED_ORIGINS: merchant.origin });
}, 300_000);
afterAll(async () => {
  await site?.stop();
  await merchant?.close();
}, 60_000);

test('whatever is killed and which merchant cheats, an intent is paid once at most', async () => {
  process.stderr.write(`crash test of machine payments: seed ${seed}\n`);
  const history = await openHistory(site, merchant);
  const figures = await playHistory(history, { seed, steps: 100, deaths: 5, lanes: 6 });
  await isQuiet(history);
  process.stderr.write(`${JSON.stringify({ ...figures, ...(await figuresOf(history)) })}\n`);
  expect(Object.values(figures.kills).reduce((sum, one) => sum + one, 0)).toBe(5);
  expect(merchant.presentations.size).toBeGreaterThan(5);
  expect(await differencesOf(history)).toEqual([]);

  // Silence settles what is not settled; it pays nothing.
  await site.advance(silenceMs);
  await isSettled(history);
  expect(await differencesOf(history)).toEqual([]);
}, 400_000);
