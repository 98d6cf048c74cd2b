/**
 * `node test/load/transfer-deaths.ts`: 1,000 steps of transfers to bank accounts with 50 kills of worker, API, sandbox,
 * PostgreSQL and Temporal, on a separate installation; then separate checks. LOAD_STEPS, LOAD_DEATHS and LOAD_SEED
 * change the run. Exit code 1 when anything is wrong.
 * @module
 */
import { differencesOf, figuresOf } from '../crash/transfer-checks.ts';
import { isQuiet, isSettled, openHistory, playHistory } from '../crash/transfer-history.ts';
import { type Installation, startInstallation } from '../support/installation.ts';

const steps = Number(process.env.LOAD_STEPS ?? 1_000);
const deaths = Number(process.env.LOAD_DEATHS ?? 50);
const seed = Number(process.env.LOAD_SEED ?? Math.floor(Math.random() * 1e9));
const lanes = 8;

const say = (what: string, value: unknown): void =>
  void process.stdout.write(`${what}: ${typeof value === 'string' ? value : JSON.stringify(value)}\n`);

const site = await startInstallation();
try {
  process.exitCode = (await run(site)) ? 0 : 1;
} finally {
  await site.stop();
}

async function run(on: Installation): Promise<boolean> {
  say('transfers', `${steps} steps, ${deaths} deaths, seed ${seed}`);
  const history = await openHistory(on);
  const { tookMs, ...played } = await playHistory(history, { seed, steps, deaths, lanes });
  for (const [what, value] of Object.entries({ seconds: Math.round(tookMs / 1_000), ...played })) say(what, value);
  await isQuiet(history);
  const before = await differencesOf(history);
  for (const [what, value] of Object.entries(await figuresOf(history))) say(what, value);
  await isSettled(history);
  say('after the time for everything', (await figuresOf(history)).transfers);
  const wrong = [...new Set([...before, ...(await differencesOf(history))])];
  for (const one of wrong) say('WRONG', one);
  say('wrong', String(wrong.length));
  return wrong.length === 0;
}
