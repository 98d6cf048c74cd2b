/**
 * How many records and list pages a second the API reads, over HTTP with auth and every header, beside Express with
 * raw `pg` over the same tables. `BENCH_ONLY` names one of the reads.
 * @module
 */
import { strict as assert } from 'node:assert';
import { setTimeout } from 'node:timers/promises';
import { cpuClock, cpuPer } from './support/cpu.ts';
import { evaluate, inMs, table, whole } from './support/figures.ts';
import { type Load, type Loaded, startLoad } from './support/load.ts';
import { benchFolder, type Sql, startBenchPostgres } from './support/postgres.ts';
import { startApi, startProgram } from './support/program.ts';
import { type Ending, measuredSeconds, runBench, say } from './support/run.ts';
import { idOf, seedAgents, seededOwner, seedIntents, seedTransactions, settle } from './support/seed.ts';

const connections = 16;
const agents = 1_000;
const intents = 20_000;
const transactions = 100_000;

type Read = {
  readonly name: string;
  readonly kind: 'record' | 'list';
  /** Rows of the list are changed all the time while it is read. */
  readonly isChanging?: boolean;
  readonly paths: readonly string[];
};

const some = (prefix: string, base: string, highest: number): string[] =>
  Array.from({ length: 500 }, (_, i) => `${base}/${idOf(prefix, 1 + ((i * 7_919) % highest))}`);

const reads: readonly Read[] = [
  { name: 'GET /agents/{id}', kind: 'record', paths: some('ag', '/agents', agents) },
  { name: 'GET /intents/{id}', kind: 'record', paths: some('int', '/intents', intents) },
  { name: 'GET /transactions/{id}', kind: 'record', paths: some('tx', '/transactions', transactions) },
];
const lists = ['/agents', '/cards', '/wallets', '/intents', '/transactions', '/ledger'];

const recordsPerSecond = 5_000;
/** Of the floor in the same run. */
const shareOfFloor = 0.8;

/** The first page of a list and the page after it; the first page of transactions also while its rows change. */
async function pagesOf({ url, headers }: Side, path: string): Promise<Read[]> {
  const first: Read = { name: `GET ${path}`, kind: 'list', paths: [path] };
  const { nextCursor } = (await (await fetch(`${url}${path}`, { headers })).json()) as { nextCursor: string };
  const next: Read = { name: `GET ${path}?cursor=…`, kind: 'list', paths: [`${path}?cursor=${nextCursor}`] };
  const changing: Read = { ...first, name: `GET ${path}, changing`, isChanging: true };
  return path === '/transactions' ? [first, changing, next] : [first, next];
}

/** Changes one of the newest transactions every 10 ms until it is stopped. */
function startChanging(sql: Sql): () => Promise<void> {
  let isStopped = false;
  const changing = (async () => {
    for (let n = 1; !isStopped; n++) {
      await sql('update transactions set memo = $2 where id = $1', [idOf('tx', 1 + (n % 50)), `memo ${n}`]);
      await setTimeout(10);
    }
  })();
  return async () => {
    isStopped = true;
    await changing;
  };
}

type Side = {
  readonly name: 'bursar' | 'floor';
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly pids: Readonly<Record<string, number>>;
};
type Measured = { readonly rate: number; readonly p99Ms: number; readonly cpu: string };

async function start(atEnd: Ending): Promise<{ load: Load; sides: [Side, Side]; sql: Sql }> {
  const postgres = await startBenchPostgres(atEnd);
  const api = await startApi('live', { databaseUrl: postgres.url, dir: await benchFolder(atEnd) }, atEnd);
  const ownerId = await seededOwner(postgres.sql);
  await seedAgents(postgres.sql, ownerId, agents);
  await seedIntents(postgres.sql, ownerId, agents, intents);
  await seedTransactions(postgres.sql, ownerId, agents, transactions);
  await settle(postgres.sql);
  say(`${whole(agents)} agents, ${whole(intents)} intents, ${whole(transactions)} transactions of one owner`);
  const floor = await startProgram(
    'bench/floor/reads.ts',
    { DATABASE_URL: postgres.url, BENCH_OWNER_ID: ownerId },
    atEnd,
  );
  const { load, program } = await startLoad(atEnd);
  const common = { postgres: postgres.pid, load: program.pid };
  return {
    load,
    sql: postgres.sql,
    sides: [
      {
        name: 'bursar',
        url: api.url,
        headers: { authorization: `Bearer ${api.apiKey}` },
        pids: { api: api.pid, ...common },
      },
      { name: 'floor', url: floor.url, headers: {}, pids: { floor: floor.pid, ...common } },
    ],
  };
}

/** In turns, so that both see the same machine. */
async function measured(load: Load, sides: [Side, Side], read: Read, seconds: number): Promise<[Measured, Measured]> {
  const turn = (side: Side, turnSeconds: number) =>
    load({ kind: 'gets', url: side.url, headers: side.headers, connections, paths: read.paths, seconds: turnSeconds });
  for (const side of sides) await turn(side, 2); // Compiled and connected, as after the first seconds of service.
  const found: Loaded[][] = [[], []];
  const spent = sides.map(({ pids }) => Object.fromEntries(Object.keys(pids).map((name) => [name, 0])));
  for (let i = 0; i < turns; i++) {
    for (const [at, side] of sides.entries()) {
      const before = cpuClock(side.pids);
      found[at]?.push(await turn(side, Math.max(1, Math.round(seconds / turns))));
      const after = cpuClock(side.pids);
      const sum = spent[at] ?? {};
      for (const name of Object.keys(sum)) sum[name] = (sum[name] ?? 0) + (after[name] ?? 0) - (before[name] ?? 0);
    }
  }
  return [0, 1].map((at) => {
    const all = found[at] ?? [];
    const count = all.reduce((sum, one) => sum + one.count, 0);
    const zero = Object.fromEntries(Object.keys(spent[at] ?? {}).map((name) => [name, 0]));
    return {
      rate: count / all.reduce((sum, one) => sum + one.seconds, 0),
      p99Ms: Math.max(...all.map(({ p99Ms }) => p99Ms)),
      cpu: cpuPer(count, zero, spent[at] ?? {}),
    };
  }) as [Measured, Measured];
}

const turns = 3;

/** A floor that answers something else is no floor. */
async function sameAnswers(wanted: readonly Read[], [bursar, floor]: [Side, Side]): Promise<void> {
  for (const { paths } of wanted) {
    const answers = await Promise.all(
      [bursar, floor].map(async ({ url, headers }) => (await fetch(`${url}${paths[0]}`, { headers })).json()),
    );
    const [ours, theirs] = answers.map((answer) => comparable(answer));
    assert.deepEqual(theirs, ours);
  }
}

/** The records' own fields that say something; the page's own words say nothing about a record. */
function comparable(answer: unknown): unknown {
  const { data = [answer] } = answer as { data?: unknown[] };
  return data.map((row) => Object.fromEntries(Object.entries(row as object).filter(([, value]) => value !== null)));
}

await runBench('reads', async (atEnd) => {
  const { load, sides, sql } = await start(atEnd);
  const all = [...reads];
  for (const path of lists) all.push(...(await pagesOf(sides[0], path)));
  const wanted = all.filter(({ name }) => name.includes(process.env.BENCH_ONLY ?? ''));
  await sameAnswers(wanted, sides);
  const lines: string[][] = [];
  const rates: { read: Read; rate: number; floor: number }[] = [];
  for (const read of wanted) {
    const stop = read.isChanging === true ? startChanging(sql) : async () => undefined;
    const [bursar, floor] = await measured(
      load,
      sides,
      read,
      measuredSeconds / wanted.filter(({ kind }) => kind === read.kind).length,
    );
    await stop();
    rates.push({ read, rate: bursar.rate, floor: floor.rate });
    lines.push(
      [read.name, `${whole(bursar.rate)}/s`, inMs(bursar.p99Ms), `${whole(floor.rate)}/s`, inMs(floor.p99Ms)],
      ['', bursar.cpu, '', floor.cpu, ''],
    );
  }
  table([`reads at c=${connections}, CPU per request`, 'bursar', 'p99', 'floor', 'p99'], lines);
  return evaluate(
    rates.map(({ read, rate, floor }) =>
      read.kind === 'record'
        ? {
            what: read.name,
            found: `${whole(rate)}/s`,
            target: `≥ ${whole(recordsPerSecond)}/s`,
            isMet: rate >= recordsPerSecond,
          }
        : {
            what: read.name,
            found: `${(rate / floor).toFixed(2)} of the floor`,
            target: `≥ ${shareOfFloor}`,
            isMet: rate >= shareOfFloor * floor,
          },
    ),
  );
});
