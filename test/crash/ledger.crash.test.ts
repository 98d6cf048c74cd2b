/**
 * Five histories of a ledger while API, worker, Temporal, PostgreSQL and its connections are killed: what was
 * acknowledged is there once, what was refused is not there, and books, seals and checkpoints agree. The seed is
 * printed; TEST_SEED repeats it. `node test/load/ledger-deaths.ts` plays a hundred.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Installation, startInstallation } from '../support/installation.ts';
import { seed } from '../support/seed.ts';
import { booksAgree, differencesOf } from './ledger-checks.ts';
import { openBook, playHistory, type Victim } from './ledger-history.ts';

/** Each dies in its own history. */
const victims: readonly Victim[] = ['backend', 'api', 'postgres', 'worker', 'temporal'];

let site: Installation;
beforeAll(async () => {
  site = await startInstallation();
}, 300_000);
afterAll(async () => {
  await site?.stop();
}, 60_000);

test('whatever is killed, each order with a key takes effect once, and the books agree', async () => {
  process.stderr.write(`crash test of the ledger: seed ${seed}\n`);
  for (const [number, victim] of victims.entries()) {
    const book = await openBook(site);
    const course = { seed: seed + number, steps: 80, deaths: [[victim]], lanes: 12 };
    const history = await playHistory(site, book, course);
    const { figures, differences } = await differencesOf(history);
    process.stderr.write(`${JSON.stringify({ ...figures, kills: history.kills, tookMs: history.tookMs })}\n`);
    expect(history.kills).toEqual([victim]);
    expect(differences).toEqual([]);
  }
  expect(await booksAgree(site)).toEqual([]);
}, 400_000);
