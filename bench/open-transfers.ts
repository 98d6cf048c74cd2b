/**
 * Goal: with 1,000 open transfers PostgreSQL gets as many transactions per minute as with 10, because a run that waits
 * asks for nothing. Method: a whole installation that is left alone; a third each of the transfers waits for a person,
 * for the day on which the bank settles, and for the end of the return window. `BENCH_SECONDS` is the length of a window.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { germanIban } from '../src/domains/treasury/wallets/iban.rules.ts';
import { type BenchInstallation, startInstallation } from './support/installation.ts';
import { type Ending, runBench, say, secondsOr } from './support/run.ts';

const few = 10;
const many = 1_000;
const seconds = secondsOr(60);
const windows = 2;
/** Of the larger figure: the loops of the processes do not tick to the millisecond. */
const mostDifference = 0.03;
const kinds = [
  { name: 'Anna CLOSE', scheme: 'instant' },
  { name: 'Erika Muster', scheme: 'batch' },
  { name: 'Erika Muster', scheme: 'instant' },
] as const;
/** On its way to where it waits. On a busy machine some do not reach the bank in time, and end. */
const moving = `stage in ('requested', 'approved', 'sending', 'submitted')`;
const lanes = 8;

async function post(installation: BenchInstallation, path: string, body: object): Promise<void> {
  const headers = { ...installation.headers, 'Idempotency-Key': randomUUID() };
  const answer = await fetch(`${installation.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
}

async function open(installation: BenchInstallation, from: number, to: number): Promise<void> {
  let next = from;
  const lane = async () => {
    while (next < to) {
      const number = next++;
      const { name, scheme } = kinds[number % kinds.length] as (typeof kinds)[number];
      const payee = { name, iban: germanIban('99999998', number) };
      await post(installation, '/transfers', { to: payee, amountEuros: 1, scheme });
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  for (;;) {
    const [row] = await installation.sql<{ all: number; moving: number }>(
      `select count(*)::int as all, count(*) filter (where ${moving})::int as moving from transfers
       where (select count(*) from workflow_runs where wanted_wake) = 0
         and (select count(*) from unsealed_journals) = 0`,
    );
    if (row?.all === to && row.moving === 0) break;
    await sleep(500);
  }
  await sleep(15_000); // The statistics of idle connections come up to 10 s later.
}

/** Transactions of all processes. The bench's own connection is idle between the two questions. */
async function transactions({ sql }: BenchInstallation): Promise<number> {
  const [row] = await sql<{ count: number }>(
    `select (xact_commit + xact_rollback)::float8 as count from pg_stat_database where datname = current_database()`,
  );
  return row?.count ?? Number.NaN;
}

async function perMinute(installation: BenchInstallation, what: string): Promise<number> {
  const found: number[] = [];
  for (let window = 0; window < windows; window++) {
    const before = await transactions(installation);
    await sleep(seconds * 1_000);
    found.push(((await transactions(installation)) - before) * (60 / seconds));
  }
  const figures = found.map((figure) => Math.round(figure));
  const mean = figures.reduce((sum, figure) => sum + figure, 0) / windows;
  say(`${what}: ${Math.round(mean)} transactions per minute (${figures.join(', ')})`);
  return mean;
}

async function measure(atEnd: Ending): Promise<boolean> {
  const installation = await startInstallation(atEnd, { mode: 'sandbox' });
  await post(installation, '/fund', { amountEuros: 5_000 });
  await open(installation, 0, few);
  const withFew = await perMinute(installation, `${few} open transfers`);
  await open(installation, few, many);
  const withMany = await perMinute(installation, `${many} open transfers`);
  const isSame = Math.abs(withMany - withFew) <= mostDifference * Math.max(withMany, withFew);
  say(isSame ? 'the same number' : 'MISSED: the numbers differ');
  return isSame;
}

await runBench('open transfers', measure);
