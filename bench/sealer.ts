/**
 * How far the sealer is behind while journals come at a fixed rate, and how many it seals a second out of a backlog.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { databaseOf } from '../src/db/database.ts';
import { openDatabase } from '../src/db/orm.ts';
import { runSealer } from '../src/domains/treasury/ledger/sealer.ts';
import { WalletRow } from '../src/domains/treasury/wallets/wallet.entity.ts';
import { createLogger } from '../src/platform/log.ts';
import { evaluate, inMs, percentile, table, whole } from './support/figures.ts';
import { type Sql, startBenchPostgres } from './support/postgres.ts';
import { measuredSeconds, runBench, say } from './support/run.ts';
import { idOf } from './support/seed.ts';

const owners = 100;
const rate = Math.max(1, Number(process.env.BENCH_RATE) || 3_000);
const backlog = Math.max(1, Number(process.env.BENCH_BACKLOG) || 50_000);
const journalsAtOnce = 100;
const mostBehindMs = 1_000;

const ownerOf = (n: number): string => idOf('own', 1 + (n % owners));
const walletOf = (n: number): string => idOf('wal', 1 + (n % owners));

const seed = (sql: Sql): Promise<unknown> =>
  sql(
    `insert into wallets (id, owner_id, name, created_at, updated_at)
     select 'wal_' || lpad(n::text, 26, '0'), 'own_' || lpad(n::text, 26, '0'), 'Wallet', now(), now()
     from generate_series(1, $1::int) n`,
    [owners],
  );

let posted = 0;
async function post(sql: Sql, count: number): Promise<void> {
  const journals = Array.from({ length: count }, () => {
    const n = ++posted;
    return {
      ...{ id: idOf('jr', n), ownerId: ownerOf(n), kind: 'fund', referenceType: 'fund', referenceId: idOf('fnd', n) },
      ...{ cause: `bench:${n}`, requestId: 'bench', createdAt: new Date().toISOString() },
      postings: [
        { account: `external:processor:${ownerOf(n)}`, amountCents: -1 },
        { account: `wallet:${walletOf(n)}:available`, amountCents: 1 },
      ],
    };
  });
  await sql('select * from post_journals($1::jsonb)', [JSON.stringify(journals)]);
}

const waiting = async (sql: Sql): Promise<{ count: number; behindMs: number }> => {
  const [row] = await sql<{ count: string; ms: number }>(
    `select count(*) as count, coalesce(extract(epoch from clock_timestamp() - min(j.created_at)) * 1000, 0)::float8 as ms
     from (select journal_id from unsealed_journals order by position limit 1) u join journals j on j.id = u.journal_id`,
  );
  return { count: Number(row?.count), behindMs: row?.ms ?? 0 };
};

/** Journals of `seconds` at the fixed rate; how many could be posted. */
async function arrive(sql: Sql, seconds: number): Promise<number> {
  const start = performance.now();
  const before = posted;
  while (performance.now() < start + seconds * 1_000) {
    const due = Math.floor(((performance.now() - start) / 1_000) * rate) - (posted - before);
    if (due < journalsAtOnce) await sleep(5);
    else await post(sql, Math.min(due, 5 * journalsAtOnce));
  }
  return (posted - before) / ((performance.now() - start) / 1_000);
}

await runBench('sealer', async (atEnd) => {
  const { url, sql } = await startBenchPostgres(atEnd);
  const orm = await openDatabase({ url, entities: [WalletRow], poolSize: 2, applicationName: 'bench-sealer' });
  atEnd(() => orm.close());
  await seed(sql);
  const sealer = runSealer({ database: databaseOf(orm), log: createLogger({ name: 'bench', level: 'error' }) });
  atEnd(() => sealer.stop());

  while (posted < backlog) await post(sql, 5 * journalsAtOnce);
  await sql('vacuum (analyze)');
  say(`${whole(backlog)} journals of ${owners} owners wait`);
  let start = performance.now();
  sealer.start();
  while (sealer.state().sealed < backlog) await sleep(10);
  const drained = backlog / ((performance.now() - start) / 1_000);

  const behind: number[] = [];
  start = performance.now();
  const watch = new AbortController();
  const watching = (async () => {
    while (!watch.signal.aborted) {
      behind.push((await waiting(sql)).behindMs);
      await sleep(50);
    }
  })();
  const arrived = await arrive(sql, measuredSeconds);
  watch.abort();
  await watching;
  const most = Math.max(...behind);
  table(
    ['journals', 'a second', 'behind p50', 'p99', 'most'],
    [
      ['out of a backlog', whole(drained), '', '', ''],
      [
        `arriving (${whole(rate)} asked)`,
        whole(arrived),
        inMs(percentile(behind, 0.5)),
        inMs(percentile(behind, 0.99)),
        inMs(most),
      ],
    ],
  );
  return evaluate([
    { what: 'out of a backlog', found: `${whole(drained)}/s`, target: `≥ ${whole(rate)}/s`, isMet: drained >= rate },
    { what: 'behind, at the most', found: inMs(most), target: `≤ ${inMs(mostBehindMs)}`, isMet: most <= mostBehindMs },
  ]);
});
