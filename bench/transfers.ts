/**
 * How fast money moves between wallets over HTTP, with keys, events, audit rows and the chain on, among 1,000 wallets
 * and among 10 hot ones; beside the same postings in bare SQL, batched by a raw client, and the same bare SQL behind HTTP.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuClock, cpuPer } from './support/cpu.ts';
import { evaluate, inMs, perSecond, table, whole } from './support/figures.ts';
import { type Call, type Load, type Loaded, startLoad } from './support/load.ts';
import { benchFolder, type Sql, startBenchPostgres } from './support/postgres.ts';
import { type Program, startApi, startProgram } from './support/program.ts';
import { type Ending, runBench, say, secondsOr } from './support/run.ts';
import { idOf, seedAgents, seededOwner, settle } from './support/seed.ts';

const wallets = 1_000;
const hotWallets = 10;
const connections = 16;
const arrivingPerSecond = 2_000;
const wantedPerSecond = 5_000;
/** How many calls are prepared for each second of a measurement. */
const mostPerSecond = 8_000;
const worstMs = 15;
/** Of each measurement; the whole bench takes a minute. */
const seconds = secondsOr(6);
/** Until the processes run compiled code. */
const warmUp = { connections: 64, seconds: 6 };

/** One cent each, so that no wallet runs out; each pair of neighbours in both directions. */
function transfers(count: number, among: number): Call[] {
  return Array.from({ length: count }, (_, i) => {
    const from = 1 + ((i * 7) % among);
    const to = 1 + ((from + (i % 2 === 0 ? 0 : among - 2)) % among);
    const body = JSON.stringify({ amountEuros: 0.01, fromWalletId: idOf('wal', from) });
    return { path: `/wallets/${idOf('wal', to)}/fund`, headers: { 'idempotency-key': randomUUID() }, body };
  });
}

type Ours = { readonly url: string; readonly key: string; readonly sql: Sql; readonly pids: Record<string, number> };
type Measured = Loaded & { readonly rate: number; readonly cpu: string; readonly atOnce: number };

type Pace = { readonly connections: number; readonly seconds: number; readonly perSecond?: number };

const closedLoop: Pace = { connections, seconds };
const floorLoop: Pace = { connections, seconds: (seconds * 2) / 3 };
const steadily: Pace = { connections: 128, seconds, perSecond: arrivingPerSecond };

async function measured(load: Load, { url, key, sql, pids }: Ours, among: number, pace: Pace): Promise<Measured> {
  const [last] = await sql<{ xid: string }>('select pg_current_xact_id()::text as xid');
  const calls = transfers(Math.ceil((pace.perSecond ?? mostPerSecond) * pace.seconds), among);
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const before = cpuClock(pids);
  const loaded = await load({ kind: 'posts', url, headers, calls, ...pace });
  const cpu = cpuPer(loaded.count, before, cpuClock(pids));
  const [batches] = await sql<{ mean: number }>(
    `select count(*)::float8 / nullif(count(distinct xmin::text), 0) as mean from journals where xmin::text::bigint > $1::bigint`,
    [last?.xid],
  );
  return { ...loaded, rate: perSecond(loaded.count, loaded.seconds), cpu, atOnce: batches?.mean ?? Number.NaN };
}

/** At least half of a floor, and no more than what is wanted. */
function shareOf(what: string, rate: number, floorRate: number, most = Number.POSITIVE_INFINITY) {
  const least = Math.min(most, floorRate / 2);
  const found = `${whole(rate)}/s, ${(rate / floorRate).toFixed(2)} of the floor`;
  return { what, found, target: `≥ ${whole(least)}/s`, isMet: rate >= least };
}

const shown = (what: string, { rate, p50Ms, p99Ms, cpu, atOnce }: Measured): string[] => [
  what,
  `${whole(rate)}/s`,
  inMs(p50Ms),
  inMs(p99Ms),
  atOnce.toFixed(1),
  cpu,
];

/** How old the oldest unsealed journal was at most, looked at once a second. */
function watchSealer(sql: Sql, atEnd: Ending): { stop(): Promise<number> } {
  const over = new AbortController();
  let worst = 0;
  const watching = (async () => {
    while (!over.signal.aborted) {
      const [row] = await sql<{ ms: number | null }>(
        `select extract(epoch from clock_timestamp() - j.created_at)::float8 * 1000 as ms
         from unsealed_journals u join journals j on j.id = u.journal_id order by u.position limit 1`,
      );
      worst = Math.max(worst, row?.ms ?? 0);
      await sleep(1_000, undefined, { signal: over.signal }).catch(() => undefined);
    }
  })();
  watching.catch(() => undefined); // `stop` says it.
  const stop = async (): Promise<number> => {
    over.abort();
    await watching;
    return worst;
  };
  atEnd(stop);
  return { stop };
}

async function deadlocksIn(sql: Sql): Promise<number> {
  const [row] = await sql<{ deadlocks: number }>(
    'select deadlocks::int from pg_stat_database where datname = current_database()',
  );
  return row?.deadlocks ?? Number.NaN;
}

await runBench('transfers', async (atEnd) => {
  const postgres = await startBenchPostgres(atEnd);
  const api = await startApi('live', { databaseUrl: postgres.url, dir: await benchFolder(atEnd) }, atEnd);
  const ownerId = await seededOwner(postgres.sql);
  await seedAgents(postgres.sql, ownerId, wallets);
  await postgres.sql(
    `insert into owner_limits (owner_id, name, most, updated_at) values ($1, 'fundings', 1000000000, now())`,
    [ownerId],
  );
  await settle(postgres.sql);
  const sealer = await startProgram('bench/support/sealer-program.ts', { DATABASE_URL: postgres.url }, atEnd);
  const { load, program } = await startLoad(atEnd);
  const pids = { api: api.pid, postgres: postgres.pid, sealer: sealer.pid, load: program.pid };
  const ours = { url: api.url, key: api.apiKey, sql: postgres.sql, pids };

  await measured(load, ours, wallets, warmUp);
  const deadlocksBefore = await deadlocksIn(postgres.sql);
  const watch = watchSealer(postgres.sql, atEnd);
  const many = await measured(load, ours, wallets, closedLoop);
  const hot = await measured(load, ours, hotWallets, closedLoop);
  const manySteady = await measured(load, ours, wallets, steadily);
  const hotSteady = await measured(load, ours, hotWallets, steadily);
  const lagMs = await watch.stop();
  const deadlocks = (await deadlocksIn(postgres.sql)) - deadlocksBefore;

  // The floors have the machine for themselves.
  const end = async ({ child }: Program): Promise<void> => {
    child.kill('SIGTERM');
    await once(child, 'exit');
  };
  await Promise.all([sealer, api].map(end));
  const env = { DATABASE_URL: postgres.url, OWNER_ID: ownerId, API_KEY: api.apiKey };
  const edge = await startProgram('bench/floor/transfers-edge.ts', env, atEnd);
  const behindHttp = { ...ours, url: edge.url, pids: { floor: edge.pid, postgres: postgres.pid, load: program.pid } };
  await measured(load, behindHttp, wallets, { ...warmUp, seconds: warmUp.seconds / 2 });
  const edgeMany = await measured(load, behindHttp, wallets, floorLoop);
  const edgeHot = await measured(load, behindHttp, hotWallets, floorLoop);
  await end(edge);

  const floor = await startProgram('bench/floor/transfers.ts', env, atEnd);
  const bare = async (among: number): Promise<{ rate: number; cpu: string }> => {
    const clients = { floor: floor.pid, postgres: postgres.pid };
    const before = cpuClock(clients);
    floor.child.send({ among, seconds: floorLoop.seconds });
    const [{ done, tookMs }] = (await once(floor.child, 'message')) as [{ done: number; tookMs: number }];
    return { rate: perSecond(done, tookMs / 1_000), cpu: cpuPer(done, before, cpuClock(clients)) };
  };
  await bare(wallets);
  const [bareMany, bareHot] = [await bare(wallets), await bare(hotWallets)];

  table(
    ['transfers', 'rate', 'p50', 'p99', 'in a commit', 'CPU of each'],
    [
      shown(`${wallets} wallets, c=${connections}`, many),
      shown(`${hotWallets} wallets, c=${connections}`, hot),
      shown(`${wallets} wallets, ${arrivingPerSecond}/s arriving`, manySteady),
      shown(`${hotWallets} wallets, ${arrivingPerSecond}/s arriving`, hotSteady),
      shown(`floor behind HTTP, ${wallets} wallets`, edgeMany),
      shown(`floor behind HTTP, ${hotWallets} wallets`, edgeHot),
      [`floor, ${wallets} wallets`, `${whole(bareMany.rate)}/s`, '', '', '64', bareMany.cpu],
      [`floor, ${hotWallets} wallets`, `${whole(bareHot.rate)}/s`, '', '', '64', bareHot.cpu],
    ],
  );
  say(`oldest unsealed journal: ${inMs(lagMs)}; deadlocks: ${deadlocks}`);
  const rates = [
    { among: wallets, found: many, edge: edgeMany, floorRate: bareMany.rate },
    { among: hotWallets, found: hot, edge: edgeHot, floorRate: bareHot.rate },
  ].flatMap((row) => [
    shareOf(`transfers among ${row.among}, bare SQL`, row.found.rate, row.floorRate, wantedPerSecond),
    shareOf(`transfers among ${row.among}, behind HTTP`, row.found.rate, row.edge.rate),
  ]);
  const steady = [
    { among: wallets, found: manySteady },
    { among: hotWallets, found: hotSteady },
  ].map(({ among, found }) => ({
    what: `p99 at ${arrivingPerSecond}/s among ${among}`,
    found: inMs(found.p99Ms),
    target: `≤ ${worstMs} ms`,
    isMet: found.p99Ms <= worstMs,
  }));
  const none = { what: 'deadlocks', found: String(deadlocks), target: '0', isMet: deadlocks === 0 };
  return evaluate([...rates, ...steady, none]);
});
