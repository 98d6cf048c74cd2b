/**
 * Runs before every test file: a developer's own settings must not reach the tests, and what the API refuses is
 * remembered. Property tests take the seed of the run. No test begins shortly before midnight. Imports little, because
 * test/rules has to stay quick.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach } from '@jest/globals';
import fc from 'fast-check';
import { recordAnswers } from './answers.ts';
import { seed } from './seed.ts';

for (const name of Object.keys(process.env)) {
  if (/^(BURSAR_|TEMPORAL_(ADDRESS|NAMESPACE)$|DATABASE_URL$|PORT$|HOST$|PG)/.test(name)) delete process.env[name];
}
if (process.env.TEST_ANSWERS !== undefined) recordAnswers(process.env.TEST_ANSWERS);
fc.configureGlobal({ seed });

/** Many a test adds up a day, or counts days from today: such a test begins afterwards. */
const shortlyMs = 15_000;
const hourMs = 3_600_000;
/** A day begins then in UTC, or in Berlin in summer or winter. */
const midnights = [0, 22, 23];

beforeEach(async () => {
  const next = Math.ceil(Date.now() / hourMs) * hourMs;
  const leftMs = next - Date.now();
  if (leftMs < shortlyMs && midnights.includes(new Date(next).getUTCHours())) await sleep(leftMs + 100);
}, 60_000);
