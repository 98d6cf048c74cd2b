/**
 * A hundred steps of transfers to bank accounts, while worker, API, sandbox, PostgreSQL and Temporal are killed: the bank
 * gets each transfer once at most, its book is ours, and no money is held for what has ended. The seed is printed;
 * TEST_SEED repeats it. `node test/load/transfer-deaths.ts` plays a longer history.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Installation, startInstallation } from '../support/installation.ts';
import { seed } from '../support/seed.ts';
import { differencesOf, figuresOf } from './transfer-checks.ts';
import { isQuiet, isSettled, openHistory, playHistory } from './transfer-history.ts';

let site: Installation;

beforeAll(async () => {
  site = await startInstallation();
}, 300_000);
afterAll(() => site?.stop(), 60_000);

test('whatever is killed, a transfer is submitted once at most, and both books agree', async () => {
  process.stderr.write(`crash test of transfers: seed ${seed}\n`);
  const history = await openHistory(site);
  const figures = await playHistory(history, { seed, steps: 100, deaths: 5, lanes: 6 });
  expect(figures.kills).toEqual({ worker: 1, api: 1, sandbox: 1, postgres: 1, temporal: 1 });
  await isQuiet(history);
  expect(await differencesOf(history)).toEqual([]);

  // Time ends what people and the bank leave open.
  await isSettled(history);
  process.stderr.write(`${JSON.stringify({ ...figures, ...(await figuresOf(history)) })}\n`);
  expect(await differencesOf(history)).toEqual([]);
}, 400_000);
