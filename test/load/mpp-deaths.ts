/**
 * `node test/load/mpp-deaths.ts`: 1,000 steps of machine payments at merchants that cheat, with 50 kills of API, worker
 * and sandbox, on a separate installation; then separate checks. LOAD_STEPS, LOAD_DEATHS and LOAD_SEED change the
 * run. Exit code 1 when anything is wrong.
 * @module
 */
import { startCheatingMerchant } from '../crash/cheating-merchant.ts';
import { differencesOf, figuresOf } from '../crash/mpp-checks.ts';
import { isQuiet, isSettled, openHistory, playHistory } from '../crash/mpp-history.ts';
import { type Installation, startInstallation } from '../support/installation.ts';

const steps = Number(process.env.LOAD_STEPS ?? 1_000);
const deaths = Number(process.env.LOAD_DEATHS ?? 50);
const seed = Number(process.env.LOAD_SEED ?? Math.floor(Math.random() * 1e9));
const lanes = 8;
const silenceMs = 8 * 86_400_000;

const say = (what: string, value: unknown): void =>
  void process.stdout.write(`${what}: ${typeof value === 'string' ? value : JSON.stringify(value)}\n`);

const merchant = await startCheatingMerchant();
const site = await startInstallation({ BURSAR_ALLOWED_ORIGINS: merchant.origin });
try {
  process.exitCode = (await run(site)) ? 0 : 1;
} finally {
  await site.stop();
  await merchant.close();
}

async function run(on: Installation): Promise<boolean> {
  say('machine payments', `${steps} steps, ${deaths} deaths, seed ${seed}`);
  const history = await openHistory(on, merchant);
  const { tookMs, ...played } = await playHistory(history, { seed, steps, deaths, lanes });
  for (const [what, value] of Object.entries({ seconds: Math.round(tookMs / 1_000), ...played })) say(what, value);
  await isQuiet(history);
  const before = await differencesOf(history);
  for (const [what, value] of Object.entries(await figuresOf(history))) say(what, value);
  await on.advance(silenceMs);
  await isSettled(history);
  say('after 8 days of silence', (await figuresOf(history)).payments);
  const wrong = [...new Set([...before, ...(await differencesOf(history))])];
  for (const one of wrong) say('WRONG', one);
  say('wrong', String(wrong.length));
  return wrong.length === 0;
}
