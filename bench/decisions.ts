/**
 * How fast signed authorizations of the card network are decided over HTTP for 1,000 agents, with policy, match, hold,
 * journal, event and audit; beside Express that keeps the message in one insert. Then for agents that pay only with an
 * intent, each with 20 open ones, of which one fits the charge.
 * @module
 */
import { createHmac, randomUUID } from 'node:crypto';
import { cpuClock, cpuPer } from './support/cpu.ts';
import { evaluate, inMs, perSecond, table, whole } from './support/figures.ts';
import { type Call, type Load, type Loaded, startLoad } from './support/load.ts';
import { benchFolder, startBenchPostgres } from './support/postgres.ts';
import { startApi, startProgram } from './support/program.ts';
import { measuredSeconds, runBench } from './support/run.ts';
import {
  cardRefOf,
  fittingMerchant,
  idOf,
  seedAgents,
  seededOwner,
  seedOpenIntents,
  seedTransactions,
  settle,
} from './support/seed.ts';

const agents = 1_000;
const transactions = 100_000;
const connections = 16;
const arrivingPerSecond = 500;
/** What is required; the goals are 1,500 and 10, and with intents 1,000 and 20. */
const plainly = { perSecond: 1_100, worstMs: 25 };
const withIntents = { perSecond: 750, worstMs: 50 };
/** They pay once in each measurement, so that each payment finds as many open intents as the first. */
const intending = { first: agents + 1, last: agents + 10_000, perAgent: 20, cents: 125 };

const merchant = { id: 'sandbox-shop', name: fittingMerchant, mcc: '5734', country: 'DE' };

type Agents = { readonly first: number; readonly last: number };

function authorizations(count: number, key: string, { first, last }: Agents = { first: 1, last: agents }): Call[] {
  const seconds = Math.floor(Date.now() / 1_000);
  const path = '/network/authorizations';
  return Array.from({ length: count }, (_, i) => {
    const message = {
      id: randomUUID(),
      cardRef: cardRefOf(first + ((i * 7) % (last - first + 1))),
      amountCents: intending.cents,
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
  await seedAgents(postgres.sql, ownerId, intending.last, {
    max_transaction_cents: 10_000_000,
    daily_limit_cents: 50_000_000,
    monthly_limit_cents: 90_000_000,
    merchant_blocklist: ['Casino'],
    blocked_mccs: ['7995'],
    allowed_countries: ['DE', 'FR', 'IE'],
  });
  await postgres.sql('update policies set require_intent = true where agent_id >= $1', [idOf('ag', intending.first)]);
  await seedOpenIntents(postgres.sql, ownerId, intending);
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
  const ofAgents = intending.last - intending.first + 1;
  const intended = await measured(load, ours, authorizations(ofAgents, api.networkKey, intending), half);
  await seedOpenIntents(postgres.sql, ownerId, intending);
  const steadySeconds = Math.min(half, ofAgents / arrivingPerSecond);
  const later = authorizations(arrivingPerSecond * steadySeconds, api.networkKey, intending);
  const steadilyIntended = await measured(load, ours, later, steadySeconds, arrivingPerSecond);
  table(
    ['decisions', 'rate', 'p50', 'p99', 'CPU of each'],
    [
      shown(`c=${connections}`, most),
      shown(`${arrivingPerSecond}/s arriving`, steady),
      shown(`with intents, c=${connections}`, intended),
      shown(`with intents, ${arrivingPerSecond}/s arriving`, steadilyIntended),
      shown(`floor, c=${connections}`, bare),
    ],
  );
  return evaluate([
    ...targets('decision', plainly, most.rate, steady.p99Ms),
    ...targets('decision with intents', withIntents, intended.rate, steadilyIntended.p99Ms),
  ]);
});

function targets(what: string, { perSecond: least, worstMs }: typeof plainly, rate: number, p99Ms: number) {
  return [
    {
      what: `${what}: rate at c=${connections}`,
      found: `${whole(rate)}/s`,
      target: `≥ ${whole(least)}/s`,
      isMet: rate >= least,
    },
    {
      what: `${what}: p99 at ${arrivingPerSecond}/s`,
      found: inMs(p99Ms),
      target: `≤ ${worstMs} ms`,
      isMet: p99Ms <= worstMs,
    },
  ];
}
