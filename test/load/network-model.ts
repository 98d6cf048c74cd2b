/**
 * `node test/load/network-model.ts`: 2,000 random steps of card payments and commands on a separate installation
 * beside the model, compared at each step and everything verified every 500. LOAD_STEPS and LOAD_SEED change the run.
 * Exit code 1 when anything is wrong.
 * @module
 */
import { startInstallation } from '../support/installation.ts';
import { playPayments } from '../support/payment-history.ts';

const steps = Number(process.env.LOAD_STEPS ?? 2_000);
const seed = Number(process.env.LOAD_SEED ?? Math.floor(Math.random() * 1e9));

const say = (what: string, value: unknown): void =>
  void process.stdout.write(`${what}: ${typeof value === 'string' ? value : JSON.stringify(value)}\n`);

const site = await startInstallation();
try {
  say('card payments', `${steps} steps beside the model, seed ${seed}`);
  const networkKey = site.ready.networkKey as string;
  const startedAt = performance.now();
  const { done, verified } = await playPayments({ ...site, networkKey }, { seed, steps, verifyEvery: 500 });
  const seconds = (performance.now() - startedAt) / 1_000;
  say('seconds', seconds.toFixed(0));
  say('done', done);
  say('verified', String(verified));
  say('wrong', '0');
} catch (error) {
  say('WRONG', (error as Error).message);
  process.exitCode = 1;
} finally {
  await site.stop();
}
