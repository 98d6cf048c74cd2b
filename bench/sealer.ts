/**
 * How far the sealer is behind the commits while journals come at a fixed rate, each with its audit row, as the write
 * path leaves them; and how many it seals a second out of a backlog. The sealer runs in its own process.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuClock, cpuPer } from './support/cpu.ts';
import { evaluate, inMs, percentile, table, whole } from './support/figures.ts';
import { type Sql, startBenchPostgres } from './support/postgres.ts';
import { startProgram } from './support/program.ts';
import { measuredSeconds, runBench, say } from './support/run.ts';
import { idOf } from './support/seed.ts';

const owners = 100;
const rate = Math.max(1, Number(process.env.BENCH_RATE) || 3_000);
const backlog = Math.max(1, Number(process.env.BENCH_BACKLOG) || 10_000);
const mostAtOnce = 64;
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

/** How many were given out to be posted, and how many are. */
let given = 0;
let posted = 0;
/** When the transaction of each journal and audit row was committed, as far as the one who posts it knows. */
const committedAt: number[] = [];

async function post(sql: Sql, count: number): Promise<void> {
  const first = given + 1;
  given += count;
  const journals = Array.from({ length: count }, (_, i) => {
    const n = first + i;
    return {
      ...{ id: idOf('jr', n), ownerId: ownerOf(n), kind: 'fund', referenceType: 'fund', referenceId: idOf('fnd', n) },
      ...{ cause: `bench:${n}`, requestId: 'bench', createdAt: new Date().toISOString() },
      postings: [
        { account: `external:processor:${ownerOf(n)}`, amountCents: -1 },
        { account: `wallet:${walletOf(n)}:available`, amountCents: 1 },
      ],
    };
  });
  await sql(
    `with posted as (select * from post_journals($1::jsonb))
     insert into audit (id, owner_id, actor, action, subject_id, details, request_id, created_at)
     select 'aud_' || substr(j ->> 'id', 4), j ->> 'ownerId', 'key:bench', 'wallet.funded', j ->> 'referenceId',
       '{"amountCents": 1}', 'bench', now()
     from jsonb_array_elements($1::jsonb) j where (select count(*) from posted) > 0`,
    [JSON.stringify(journals)],
  );
  posted += count;
  const at = performance.now();
  for (let n = first; n < first + count; n++) committedAt[n] = at;
}

type Waiting = { readonly journal: string | null; readonly record: string | null };

/** For how long the oldest journal or audit row without a seal has been committed. */
async function behindMs(sql: Sql): Promise<number> {
  const asked = performance.now();
  const [row] = await sql<Waiting>(
    `select (select journal_id from unsealed_journals order by position limit 1) as journal,
       (select record_id from unsealed_records order by position limit 1) as record`,
  );
  const oldest = [row?.journal, row?.record].flatMap((id) => (id == null ? [] : [Number(id.slice(-26))]));
  return Math.max(0, ...oldest.map((n) => asked - (committedAt[n] ?? asked)));
}

const isAllSealed = async (sql: Sql): Promise<boolean> => {
  const [row] = await sql<{ sealed: boolean }>(
    'select not exists (select from unsealed_journals) and not exists (select from unsealed_records) as sealed',
  );
  return row?.sealed === true;
};

/** Journals of `seconds` at the fixed rate; how many could be posted in a second. */
async function arrive(sql: Sql, seconds: number): Promise<number> {
  const start = performance.now();
  const [before, givenBefore] = [posted, given];
  const postWhatIsDue = async (): Promise<void> => {
    while (performance.now() < start + seconds * 1_000) {
      const due = Math.floor(((performance.now() - start) / 1_000) * rate) - (given - givenBefore);
      if (due < 1) await sleep(2);
      else await post(sql, Math.min(due, mostAtOnce));
    }
  };
  await Promise.all([postWhatIsDue(), postWhatIsDue()]);
  return (posted - before) / ((performance.now() - start) / 1_000);
}

await runBench('sealer', async (atEnd) => {
  const postgres = await startBenchPostgres(atEnd);
  const { url, sql } = postgres;
  await seed(sql);
  while (posted < backlog) await post(sql, 500);
  await sql('vacuum (analyze)');
  say(`${whole(backlog)} journals of ${owners} owners wait, each with its audit row`);
  const sealer = await startProgram('bench/support/sealer-program.ts', { DATABASE_URL: url }, atEnd);
  const start = performance.now();
  while (!(await isAllSealed(sql))) await sleep(20);
  const drained = backlog / ((performance.now() - start) / 1_000);

  const behind: number[] = [];
  const watch = new AbortController();
  const watching = (async () => {
    while (!watch.signal.aborted) {
      behind.push(await behindMs(sql));
      await sleep(25);
    }
  })();
  const pids = { postgres: postgres.pid, sealer: sealer.pid };
  const clock = cpuClock(pids);
  const before = posted;
  const arrived = await arrive(sql, measuredSeconds);
  const cpu = cpuPer(posted - before, clock, cpuClock(pids));
  watch.abort();
  await watching;
  const most = Math.max(...behind);
  table(
    ['journals, each with an audit row', 'a second', 'behind p50', 'p99', 'most', 'CPU of each'],
    [
      ['out of a backlog', whole(drained), '', '', '', ''],
      [
        `arriving (${whole(rate)} asked)`,
        whole(arrived),
        inMs(percentile(behind, 0.5)),
        inMs(percentile(behind, 0.99)),
        inMs(most),
        cpu,
      ],
    ],
  );
  return evaluate([
    { what: 'out of a backlog', found: `${whole(drained)}/s`, target: `≥ ${whole(rate)}/s`, isMet: drained >= rate },
    { what: 'behind, at the most', found: inMs(most), target: `≤ ${inMs(mostBehindMs)}`, isMet: most <= mostBehindMs },
  ]);
});
