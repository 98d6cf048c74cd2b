/**
 * How fast signed authorizations of the card network are decided over HTTP for 1,000 agents, with policy, match, hold,
 * journal, event and audit; beside Express that keeps the message in one insert.
 * @module
 */
import { createHmac, randomUUID } from 'node:crypto';
import { cpuClock, cpuPer } from './support/cpu.ts';
import { evaluate, inMs, perSecond, table, whole } from './support/figures.ts';
import { type Call, type Load, type Loaded, startLoad } from './support/load.ts';
import { benchFolder, startBenchPostgres } from './support/postgres.ts';
import { startApi, startProgram } from './support/program.ts';
import { measuredSeconds, runBench } from './support/run.ts';
import { cardRefOf, seedAgents, seededOwner, seedTransactions, settle } from './support/seed.ts';

const agents = 1_000;
const transactions = 100_000;
const connections = 16;
const arrivingPerSecond = 500;
const targetPerSecond = 1_500;
const worstMs = 10;

const merchant = { id: 'sandbox-shop', name: 'Sandbox Shop', mcc: '5734', country: 'DE' };

function authorizations(count: number, key: string): Call[] {
  const seconds = Math.floor(Date.now() / 1_000);
  const path = '/network/authorizations';
  return Array.from({ length: count }, (_, i) => {
    const message = {
      id: randomUUID(),
      cardRef: cardRefOf(1 + ((i * 7) % agents)),
      amountCents: 125,
      currency: 'EUR',
      merchant,
    };
    const body = JSON.stringify(message);
    const mac = createHmac('sha256', key).update(`${seconds}.POST ${path}.${body}`).digest('hex');
    const headers = { 'content-type': 'application/json', 'x-network-signature': `t=${seconds},v1=${mac}` };
    return { path, headers, body };
  });
}

type Side = { readonly url: string; readonly pids: Readonly<Record<string, number>> };

async function measured(load: Load, { url, pids }: Side, calls: Call[], seconds: number, arriving?: number) {
  const before = cpuClock(pids);
  const pace = arriving === undefined ? {} : { perSecond: arriving };
  const loaded = await load({
    kind: 'posts',
    url,
    headers: {},
    connections,
    calls,
    seconds,
    keepsAnswers: true,
    ...pace,
  });
  const declined = loaded.answers.find((answer) => !answer.includes('"approved"'));
  if (declined !== undefined) throw new Error(`not approved: ${declined}`);
  return {
    ...loaded,
    rate: perSecond(loaded.count, loaded.seconds),
    cpu: cpuPer(loaded.count, before, cpuClock(pids)),
  };
}

const shown = (what: string, { rate, p50Ms, p99Ms, cpu }: Loaded & { rate: number; cpu: string }): string[] => [
  what,
  `${whole(rate)}/s`,
  inMs(p50Ms),
  inMs(p99Ms),
  cpu,
];

await runBench('decisions', async (atEnd) => {
  const postgres = await startBenchPostgres(atEnd);
  // No network but the simulated one is connected yet, and live does not listen to that.
  const api = await startApi('sandbox', { databaseUrl: postgres.url, dir: await benchFolder(atEnd) }, atEnd);
  const ownerId = await seededOwner(postgres.sql);
  await seedAgents(postgres.sql, ownerId, agents, {
    max_transaction_cents: 10_000_000,
    daily_limit_cents: 50_000_000,
    monthly_limit_cents: 90_000_000,
    merchant_blocklist: ['Casino'],
    blocked_mccs: ['7995'],
    allowed_countries: ['DE', 'FR', 'IE'],
  });
  await seedTransactions(postgres.sql, ownerId, agents, transactions);
  await settle(postgres.sql);
  const floor = await startProgram('bench/floor/decisions.ts', { DATABASE_URL: postgres.url }, atEnd);
  const { load, program } = await startLoad(atEnd);
  const common = { postgres: postgres.pid, load: program.pid };
  const ours = { url: api.url, pids: { api: api.pid, ...common } };
  const theirs = { url: floor.url, pids: { floor: floor.pid, ...common } };
  const full = (seconds: number) => authorizations(Math.ceil(4_000 * seconds), api.networkKey);
  for (const side of [ours, theirs]) await measured(load, side, full(2), 2);
  const half = measuredSeconds / 2;
  const bare = await measured(load, theirs, full(half), half);
  const most = await measured(load, ours, full(half), half);
  const calls = authorizations(arrivingPerSecond * measuredSeconds, api.networkKey);
  const steady = await measured(load, ours, calls, measuredSeconds, arrivingPerSecond);
  table(
    ['decisions', 'rate', 'p50', 'p99', 'CPU of each'],
    [
      shown(`c=${connections}`, most),
      shown(`${arrivingPerSecond}/s arriving`, steady),
      shown(`floor, c=${connections}`, bare),
    ],
  );
  return evaluate([
    {
      what: `decisions at c=${connections}`,
      found: `${whole(most.rate)}/s`,
      target: `≥ ${whole(targetPerSecond)}/s`,
      isMet: most.rate >= targetPerSecond,
    },
    {
      what: `decision p99 at ${arrivingPerSecond}/s`,
      found: inMs(steady.p99Ms),
      target: `≤ ${worstMs} ms`,
      isMet: steady.p99Ms <= worstMs,
    },
  ]);
});
