/**
 * How fast money moves between wallets over HTTP, with keys, events, audit rows and the chain on, among 1,000 wallets
 * and among 10 hot ones; beside the same postings in bare SQL, batched by a raw client.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { cpuClock, cpuPer } from './support/cpu.ts';
import { evaluate, inMs, perSecond, table, whole } from './support/figures.ts';
import { type Call, type Load, type Loaded, startLoad } from './support/load.ts';
import { benchFolder, type Sql, startBenchPostgres } from './support/postgres.ts';
import { startApi, startProgram } from './support/program.ts';
import { measuredSeconds, runBench, say } from './support/run.ts';
import { idOf, seedAgents, seededOwner, settle } from './support/seed.ts';

const wallets = 1_000;
const hotWallets = 10;
const connections = 16;
const arrivingPerSecond = 2_000;
const wantedPerSecond = 5_000;
const worstMs = 15;

/** One cent each, so that no wallet runs out; each pair of neighbours in both directions. */
function transfers(count: number, among: number): Call[] {
  return Array.from({ length: count }, (_, i) => {
    const from = 1 + ((i * 7) % among);
    const to = 1 + ((from + (i % 2 === 0 ? 0 : among - 2)) % among);
    const body = JSON.stringify({ amountEuros: 0.01, fromWalletId: idOf('wal', from) });
    return { path: `/wallets/${idOf('wal', to)}/fund`, headers: { 'idempotency-key': randomUUID() }, body };
  });
}

type Ours = { readonly url: string; readonly key: string; readonly pids: Readonly<Record<string, number>> };
type Measured = Loaded & { readonly rate: number; readonly cpu: string };

async function measured(load: Load, { url, key, pids }: Ours, calls: Call[], seconds: number, arriving?: number) {
  const before = cpuClock(pids);
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const pace = arriving === undefined ? { connections } : { connections: 128, perSecond: arriving };
  const loaded = await load({ kind: 'posts', url, headers, calls, seconds, ...pace });
  return {
    ...loaded,
    rate: perSecond(loaded.count, loaded.seconds),
    cpu: cpuPer(loaded.count, before, cpuClock(pids)),
  } satisfies Measured;
}

const shown = (what: string, { rate, p50Ms, p99Ms, cpu }: Measured): string[] => [
  what,
  `${whole(rate)}/s`,
  inMs(p50Ms),
  inMs(p99Ms),
  cpu,
];

/** How old the oldest unsealed journal was at most, looked at once a second. */
function watchSealer(sql: Sql): { stop(): number } {
  let worst = 0;
  const timer = setInterval(async () => {
    const [row] = await sql<{ ms: number | null }>(
      `select extract(epoch from clock_timestamp() - j.created_at)::float8 * 1000 as ms
       from unsealed_journals u join journals j on j.id = u.journal_id order by u.position limit 1`,
    );
    worst = Math.max(worst, row?.ms ?? 0);
  }, 1_000);
  return {
    stop: () => {
      clearInterval(timer);
      return worst;
    },
  };
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
  const ours = { url: api.url, key: api.apiKey, pids };
  const full = (seconds: number, among: number) => transfers(Math.ceil(9_000 * seconds), among);

  await measured(load, ours, full(2, wallets), 2);
  const deadlocksBefore = await deadlocksIn(postgres.sql);
  const watch = watchSealer(postgres.sql);
  const many = await measured(load, ours, full(measuredSeconds, wallets), measuredSeconds);
  const hot = await measured(load, ours, full(measuredSeconds, hotWallets), measuredSeconds);
  const arriving = (among: number) =>
    measured(load, ours, transfers(arrivingPerSecond * measuredSeconds, among), measuredSeconds, arrivingPerSecond);
  const manySteady = await arriving(wallets);
  const hotSteady = await arriving(hotWallets);
  const lagMs = watch.stop();
  const deadlocks = (await deadlocksIn(postgres.sql)) - deadlocksBefore;

  const floor = await startProgram(
    'bench/floor/transfers.ts',
    { DATABASE_URL: postgres.url, OWNER_ID: ownerId },
    atEnd,
  );
  const bare = (among: number): Promise<number> =>
    new Promise((done) => {
      floor.child.once('message', (message) => done((message as { perSecond: number }).perSecond));
      floor.child.send({ among, seconds: measuredSeconds / 2 });
    });
  const [bareMany, bareHot] = [await bare(wallets), await bare(hotWallets)];

  table(
    ['transfers', 'rate', 'p50', 'p99', 'CPU of each'],
    [
      shown(`${wallets} wallets, c=${connections}`, many),
      shown(`${hotWallets} wallets, c=${connections}`, hot),
      shown(`${wallets} wallets, ${arrivingPerSecond}/s arriving`, manySteady),
      shown(`${hotWallets} wallets, ${arrivingPerSecond}/s arriving`, hotSteady),
      [`floor, ${wallets} wallets`, `${whole(bareMany)}/s`, '', '', ''],
      [`floor, ${hotWallets} wallets`, `${whole(bareHot)}/s`, '', '', ''],
    ],
  );
  say(`oldest unsealed journal: ${inMs(lagMs)}; deadlocks: ${deadlocks}`);
  const rates = [
    { among: wallets, found: many, bare: bareMany },
    { among: hotWallets, found: hot, bare: bareHot },
  ].map(({ among, found, bare: bareRate }) => {
    const least = Math.min(wantedPerSecond, bareRate / 2);
    const target = `≥ ${whole(least)}/s`;
    return { what: `transfers among ${among}`, found: `${whole(found.rate)}/s`, target, isMet: found.rate >= least };
  });
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
