/**
 * How fast signed authorizations of the card network are decided over HTTP for 1,000 agents, with policy, match, hold,
 * journal, event and audit; beside Express that keeps the message in one insert. Then for agents that pay only with an
 * intent, each with 20 open ones, of which one fits the charge; by two API processes; when more come than can be decided;
 * over 1,000,000 stored payments; and by a whole installation, whose worker seals each decision and delivers its event to
 * a subscriber. `BENCH_ONLY` names one of these cases.
 * @module
 */
import { createHmac, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuClock, cpuPer } from './support/cpu.ts';
import { evaluate, inMs, perSecond, table, whole } from './support/figures.ts';
import { startInstallation } from './support/installation.ts';
import { type Call, type Load, type Loaded, startLoad } from './support/load.ts';
import { type BenchPostgres, benchFolder, startBenchPostgres } from './support/postgres.ts';
import { type ApiProgram, type Program, startApi, startProgram } from './support/program.ts';
import { startBenchReceiver } from './support/receiver.ts';
import { byItself, type Ending, measuredSeconds, runBench, say } from './support/run.ts';
import {
  cardRefOf,
  fittingMerchant,
  idOf,
  seedAgents,
  seedDecisions,
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

const ofAgents = intending.last - intending.first + 1;

const merchant = { id: 'sandbox-shop', name: fittingMerchant, mcc: '5734', country: 'DE' };

/** More than two cores decide. */
const offered = { perSecond: 3_000, seconds: 10, connections: 4_000, advices: 1_000 };
/** How long the bench waits for the deliveries that are left when the last decision is made. */
const patienceMs = 120_000;
const stored = Math.max(10_000, Number(process.env.BENCH_TRANSACTIONS) || 1_000_000);
const mostGrowth = 1.3;

const cases = ['plain', 'intents', 'processes', 'overload', 'stored', 'subscriber'] as const;
type Case = (typeof cases)[number];
const only = process.env.BENCH_ONLY;
if (only !== undefined && !cases.some((one) => one === only)) throw new Error(`BENCH_ONLY: ${cases.join(', ')}`);
const isWanted = (one: Case): boolean => only === undefined || only === one;

type Agents = { readonly first: number; readonly last: number };

const plainAgents: Agents = { first: 1, last: agents };

const messages = (count: number, { first, last }: Agents = plainAgents) =>
  Array.from({ length: count }, (_, i) => ({
    id: randomUUID(),
    cardRef: cardRefOf(first + ((i * 7) % (last - first + 1))),
    amountCents: intending.cents,
    currency: 'EUR',
    merchant,
  }));

function signed(key: string, path: string, bodies: readonly object[]): Call[] {
  const seconds = Math.floor(Date.now() / 1_000);
  return bodies.map((message) => {
    const body = JSON.stringify(message);
    const mac = createHmac('sha256', key).update(`${seconds}.POST ${path}.${body}`).digest('hex');
    const headers = { 'content-type': 'application/json', 'x-network-signature': `t=${seconds},v1=${mac}` };
    return { path, headers, body };
  });
}

const authorizations = (count: number, key: string, of?: Agents): Call[] =>
  signed(key, '/network/authorizations', messages(count, of));

type Side = { readonly url: string; readonly pids: Readonly<Record<string, number>> };

type Pace = { readonly seconds: number; readonly connections: number; readonly perSecond?: number };

const posts = (load: Load, { url }: Side, calls: readonly Call[], pace: Pace): Promise<Loaded> =>
  load({ kind: 'posts', url, headers: {}, calls, keepsAnswers: true, mayBeRefused: true, ...pace });

async function measured(
  load: Load,
  side: Side,
  calls: readonly Call[],
  seconds: number,
  arriving?: number,
  open: number = connections,
) {
  const before = cpuClock(side.pids);
  const pace = { seconds, connections: open, ...(arriving === undefined ? {} : { perSecond: arriving }) };
  const loaded = await posts(load, side, calls, pace);
  const declined = loaded.answers.find((answer) => !answer.includes('"approved"'));
  if (declined !== undefined) throw new Error(`not approved: ${declined}`);
  if (loaded.refused.length > 0 && arriving !== offered.perSecond) throw new Error('answered 503');
  return {
    ...loaded,
    rate: perSecond(loaded.count, loaded.seconds),
    cpu: cpuPer(loaded.count, before, cpuClock(side.pids)),
  };
}

const shown = (what: string, { rate, p50Ms, p99Ms, cpu }: Measured): string[] => [
  what,
  `${whole(rate)}/s`,
  inMs(p50Ms),
  inMs(p99Ms),
  cpu,
];

type Measured = Awaited<ReturnType<typeof measured>>;
type Found = { readonly lines: string[][]; readonly targets: Parameters<typeof evaluate>[0] };
type Bench = {
  readonly postgres: BenchPostgres;
  readonly api: ApiProgram;
  readonly load: Load;
  readonly side: (program: Program) => Side;
  readonly ownerId: string;
  readonly atEnd: Ending;
};

const half = measuredSeconds / 2;
/**
 * At a fixed rate of arrival: twice as long as Linux keeps written pages before it brings them to the disk, and as long as
 * autovacuum rests, so that the figure contains both as often as they come.
 */
const steadySeconds = measuredSeconds * 2;
/** Until the processes run compiled code. Then the tables that were empty get statistics, as after the first minute. */
const warmUpSeconds = 10;
const full = (seconds: number, key: string, of?: Agents): Call[] => authorizations(Math.ceil(4_000 * seconds), key, of);

const env = { BURSAR_NETWORK_MESSAGES_PER_SECOND: '1000000' };

const policy = {
  max_transaction_cents: 10_000_000,
  daily_limit_cents: 50_000_000,
  monthly_limit_cents: 90_000_000,
  merchant_blocklist: ['Casino'],
  blocked_mccs: ['7995'],
  allowed_countries: ['DE', 'FR', 'IE'],
};

/** Over tables with as many agents, after a warm-up; `payments` were made before. */
async function start(atEnd: Ending, { count, payments }: { count: number; payments: number }): Promise<Bench> {
  const postgres = await startBenchPostgres(atEnd);
  // No network but the simulated one is connected yet, and live does not listen to that.
  const api = await startApi('sandbox', { databaseUrl: postgres.url, dir: await benchFolder(atEnd), env }, atEnd);
  const ownerId = await seededOwner(postgres.sql);
  await seedAgents(postgres.sql, ownerId, count, policy);
  if (payments > 0) await seedTransactions(postgres.sql, ownerId, agents, payments);
  await settle(postgres.sql);
  const { load, program } = await startLoad(atEnd);
  const common = { postgres: postgres.pid, load: program.pid };
  const side = ({ url, pid }: Program): Side => ({ url, pids: { api: pid, ...common } });
  await measured(load, side(api), full(warmUpSeconds, api.networkKey), warmUpSeconds);
  await settle(postgres.sql);
  return { postgres, api, load, ownerId, atEnd, side };
}

/** `rest` runs between the two measurements. */
async function mostAndSteady(load: Load, to: Side, key: string, rest: () => Promise<void>) {
  const most = await measured(load, to, full(half, key), half);
  await rest();
  const calls = authorizations(arrivingPerSecond * steadySeconds, key);
  return { most, steady: await measured(load, to, calls, steadySeconds, arrivingPerSecond) };
}

async function plain({ postgres, api, load, side, atEnd }: Bench): Promise<Found> {
  const floor = await startProgram('bench/floor/decisions.ts', { DATABASE_URL: postgres.url }, atEnd);
  const { api: _, ...common } = side(api).pids;
  const theirs = { url: floor.url, pids: { floor: floor.pid, ...common } };
  await measured(load, theirs, full(2, api.networkKey), 2);
  const bare = await measured(load, theirs, full(half, api.networkKey), half);
  const bareCalls = authorizations(arrivingPerSecond * half, api.networkKey);
  const bareSteady = await measured(load, theirs, bareCalls, half, arrivingPerSecond);
  const { most, steady } = await mostAndSteady(load, side(api), api.networkKey, () => settle(postgres.sql));
  return {
    lines: [
      shown(`c=${connections}`, most),
      shown(`${arrivingPerSecond}/s arriving`, steady),
      shown(`floor, c=${connections}`, bare),
      shown(`floor, ${arrivingPerSecond}/s arriving`, bareSteady),
    ],
    targets: targets('decision', plainly, most.rate, steady.p99Ms),
  };
}

async function intents({ postgres, api, load, side, ownerId }: Bench): Promise<Found> {
  await postgres.sql('update policies set require_intent = true where agent_id >= $1', [idOf('ag', intending.first)]);
  await seedOpenIntents(postgres.sql, ownerId, intending, { withRuns: true });
  await settle(postgres.sql);
  const intended = await measured(load, side(api), authorizations(ofAgents, api.networkKey, intending), half);
  await seedOpenIntents(postgres.sql, ownerId, intending, { withRuns: true });
  const seconds = Math.min(half, ofAgents / arrivingPerSecond);
  const later = authorizations(arrivingPerSecond * seconds, api.networkKey, intending);
  const steadily = await measured(load, side(api), later, seconds, arrivingPerSecond);
  return {
    lines: [
      shown(`with intents, c=${connections}`, intended),
      shown(`with intents, ${arrivingPerSecond}/s arriving`, steadily),
    ],
    targets: targets('decision with intents', withIntents, intended.rate, steadily.p99Ms),
  };
}

type Holds = { readonly payments: number; readonly heldCents: number; readonly bookedCents: number };

const holdsIn = async ({ postgres }: Bench): Promise<Holds> => {
  const [found] = await postgres.sql<{ payments: string; held: string; booked: string }>(
    `select count(*) as payments, coalesce(sum(held_cents), 0) as held,
       (select coalesce(sum(balance_cents), 0) from ledger_accounts where name like '%:held') as booked from transactions`,
  );
  return {
    payments: Number(found?.payments),
    heldCents: Number(found?.held),
    bookedCents: Number(found?.booked),
  };
};

/** Every approval that was answered is held once, in the payments and in the book, and nothing else is. */
function asAnswered(what: string, before: Holds, after: Holds, approvals: number) {
  const payments = after.payments - before.payments;
  const [held, booked] = [after.heldCents - before.heldCents, after.bookedCents - before.bookedCents];
  const due = approvals * intending.cents;
  return {
    what: `${what}: what is held is what was answered`,
    found: `${whole(payments)} payments, ${whole(held)} cents held, ${whole(booked)} cents in the book`,
    target: `${whole(approvals)} and ${whole(due)}`,
    isMet: payments === approvals && held === due && booked === due,
  };
}

const firstHalf = { first: 1, last: agents / 2 };
const secondHalf = { first: agents / 2 + 1, last: agents };

/** Two API processes over one database, with the connections of one between them, and the agents too. */
async function processes(bench: Bench): Promise<Found> {
  const { postgres, api, load, side, atEnd } = bench;
  const twin = { ...env, ...api.secrets };
  const other = await startApi(
    'sandbox',
    { databaseUrl: postgres.url, dir: await benchFolder(atEnd), env: twin },
    atEnd,
  );
  const { load: otherLoad } = await startLoad(atEnd);
  const before = await holdsIn(bench);
  const both = (seconds: number) =>
    Promise.all([
      measured(load, side(api), full(seconds, api.networkKey, firstHalf), seconds, undefined, connections / 2),
      measured(otherLoad, side(other), full(seconds, api.networkKey, secondHalf), seconds, undefined, connections / 2),
    ]);
  const warm = await both(2);
  const found = await both(half);
  const rate = found[0].rate + found[1].rate;
  const approvals = [...warm, ...found].reduce((sum, { count }) => sum + count, 0);
  return {
    lines: found.map((one, i) => shown(`process ${i + 1} of 2, c=${connections / 2}`, one)),
    targets: [
      {
        what: `two processes: rate at c=${connections} together`,
        found: `${whole(rate)}/s`,
        target: `≥ ${whole(plainly.perSecond)}/s`,
        isMet: rate >= plainly.perSecond,
      },
      asAnswered('two processes', before, await holdsIn(bench), approvals),
    ],
  };
}

/** What cannot begin in time is 503 and holds nothing; the network decides it, and its advice books it. */
async function overload(bench: Bench): Promise<Found> {
  const { postgres, api, load, side } = bench;
  const { perSecond: arriving, seconds } = offered;
  const sent = messages(arriving * seconds);
  const before = await holdsIn(bench);
  const calls = signed(api.networkKey, '/network/authorizations', sent);
  const found = await measured(load, side(api), calls, seconds, arriving, offered.connections);
  const after = await holdsIn(bench);
  const refused = found.refused.map((nth) => sent[nth] as (typeof sent)[number]);
  const [kept] = await postgres.sql<{ n: string }>('select count(*) as n from network_messages where id = any ($1)', [
    refused.map(({ id }) => id),
  ]);
  const advised = refused.slice(0, offered.advices);
  const advices = advised.map((authorization) => {
    return { id: randomUUID(), authorization, approvedCents: authorization.amountCents };
  });
  const path = '/network/advices';
  if (advices.length > 0)
    await posts(load, side(api), signed(api.networkKey, path, advices), { seconds: 600, connections });
  say(`offered ${whole(sent.length)}, decided ${whole(found.count)}, refused with 503 ${whole(refused.length)}`);
  return {
    lines: [shown(`${arriving}/s offered`, found)],
    targets: [
      {
        what: `overload: decided of ${whole(arriving)}/s`,
        found: `${whole(found.rate)}/s`,
        target: `≥ ${whole(plainly.perSecond)}/s`,
        isMet: found.rate >= plainly.perSecond,
      },
      asAnswered('overload', before, after, found.count),
      {
        what: 'overload: messages kept of what was refused',
        found: whole(Number(kept?.n)),
        target: '0',
        isMet: Number(kept?.n) === 0,
      },
      asAnswered('advices', after, await holdsIn(bench), advised.length),
    ],
  };
}

/** The same calls over new tables, and over those of long use. */
async function overStored(atEnd: Ending): Promise<Found> {
  const bench = await start(atEnd, { count: agents, payments: 0 });
  const { postgres, api, load, side, ownerId } = bench;
  const once = () => measured(load, side(api), full(half, api.networkKey), half);
  const empty = await once();
  const began = performance.now();
  await seedTransactions(postgres.sql, ownerId, agents, stored);
  await seedDecisions(postgres.sql, stored);
  await settle(postgres.sql);
  say(`${whole(stored)} payments stored in ${whole((performance.now() - began) / 1_000)} s`);
  await measured(load, side(api), full(2, api.networkKey), 2);
  const filled = await once();
  const growth = empty.rate / filled.rate;
  return {
    lines: [shown('new tables', empty), shown(`${whole(stored)} payments`, filled)],
    targets: [
      {
        what: `decision over ${whole(stored)} payments`,
        found: `${growth.toFixed(2)} × the time of one over new tables`,
        target: `≤ ${mostGrowth} ×`,
        isMet: growth <= mostGrowth,
      },
    ],
  };
}

/**
 * The receiver, the worker and Temporal share the two cores with the API. Then agents pay with intents, which have no runs
 * here: Temporal ends fewer runs in a second than payments are decided, and `bench/intents.ts` measures them.
 */
async function withSubscriber(atEnd: Ending): Promise<Found> {
  const receiver = await startBenchReceiver(1, atEnd);
  const { url, headers, sql, ownerId, networkKey, pids } = await startInstallation(atEnd, {
    ...{ mode: 'sandbox', allowedOrigins: receiver.origins, env },
  });
  await seedAgents(sql, ownerId, intending.last, policy);
  await seedTransactions(sql, ownerId, agents, transactions);
  const events = ['transaction.created', 'intent.matched'];
  const body = JSON.stringify({ url: `${receiver.origins[0]}/0`, events });
  const answer = await fetch(`${url}/webhooks`, { method: 'POST', headers, body });
  if (!answer.ok) throw new Error(`POST /webhooks: ${answer.status} ${await answer.text()}`);
  await settle(sql);
  const { load, program } = await startLoad(atEnd);
  const to = { url, pids: { ...pids, receiver: receiver.pid, load: program.pid } };
  let expected = 0;
  const counted = async (eventsOfEach: number, made: Promise<Measured>): Promise<Measured> => {
    const one = await made;
    expected += one.count * eventsOfEach;
    return one;
  };
  const most = (of: Agents, seconds: number) => measured(load, to, full(seconds, networkKey, of), seconds);
  const steady = (of: Agents, seconds: number) =>
    measured(load, to, authorizations(arrivingPerSecond * seconds, networkKey, of), seconds, arrivingPerSecond);
  await counted(1, most(plainAgents, warmUpSeconds));
  await settle(sql);
  const plainMost = await counted(1, most(plainAgents, half));
  await settle(sql);
  const plainSteady = await counted(1, steady(plainAgents, steadySeconds));

  await sql('update policies set require_intent = true where agent_id >= $1', [idOf('ag', intending.first)]);
  await seedOpenIntents(sql, ownerId, intending, { withRuns: false });
  await settle(sql);
  const intentMost = await counted(2, measured(load, to, authorizations(ofAgents, networkKey, intending), half));
  await seedOpenIntents(sql, ownerId, intending, { withRuns: false });
  await settle(sql);
  const intentSteady = await counted(2, steady(intending, Math.min(half, ofAgents / arrivingPerSecond)));

  const waited = performance.now();
  while (receiver.received() < expected && performance.now() < waited + patienceMs) await sleep(50);
  const received = receiver.received();
  say(`the last delivery came ${whole(performance.now() - waited)} ms after the last decision`);
  return {
    lines: [
      shown(`with a subscriber, c=${connections}`, plainMost),
      shown(`with a subscriber, ${arrivingPerSecond}/s arriving`, plainSteady),
      shown(`with intents and a subscriber, c=${connections}`, intentMost),
      shown(`with intents and a subscriber, ${arrivingPerSecond}/s arriving`, intentSteady),
    ],
    targets: [
      ...targets('decision with a subscriber', plainly, plainMost.rate, plainSteady.p99Ms),
      ...targets('decision with intents and a subscriber', withIntents, intentMost.rate, intentSteady.p99Ms),
      {
        what: 'decision with a subscriber: events received',
        found: whole(received),
        target: `≥ ${whole(expected)}`,
        isMet: received >= expected,
      },
    ],
  };
}

await runBench('decisions', async (atEnd) => {
  const found: Found[] = [];
  const together = (
    [
      ['plain', plain],
      ['intents', intents],
      ['processes', processes],
      ['overload', overload],
    ] as const
  ).filter(([name]) => isWanted(name));
  // Each of the three by itself: what the tables of one are cleaned of would slow the next.
  if (together.length > 0) {
    await byItself(atEnd, async (atItsEnd) => {
      const count = isWanted('intents') ? intending.last : agents;
      const bench = await start(atItsEnd, { count, payments: transactions });
      await measured(bench.load, bench.side(bench.api), full(2, bench.api.networkKey), 2);
      for (const [, run] of together) found.push(await run(bench));
    });
  }
  if (isWanted('stored')) found.push(await byItself(atEnd, overStored));
  if (isWanted('subscriber')) found.push(await byItself(atEnd, withSubscriber));
  table(
    ['decisions', 'rate', 'p50', 'p99', 'CPU of each'],
    found.flatMap(({ lines }) => lines),
  );
  return evaluate(found.flatMap((one) => one.targets));
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
