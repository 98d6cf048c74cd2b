/**
 * What a book's length does to lists, balances, statements and postings of one owner: the same statements over 10,000
 * entries and over up to 1,000,000. `BENCH_ENTRIES` names the greatest size.
 * @module
 */
import pg from 'pg';
import { type Database, databaseOf } from '../src/db/database.ts';
import { openDatabase } from '../src/db/orm.ts';
import { trialBalance } from '../src/domains/treasury/ledger/account.queries.ts';
import { type EntryFilter, listEntries } from '../src/domains/treasury/ledger/entry.queries.ts';
import { entryIdOf } from '../src/domains/treasury/ledger/entry.rules.ts';
import { readStatement } from '../src/domains/treasury/ledger/statement.queries.ts';
import { WalletRow } from '../src/domains/treasury/wallets/wallet.entity.ts';
import { listWallets } from '../src/domains/treasury/wallets/wallet.queries.ts';
import { evaluate, inMs, percentile, table, whole } from './support/figures.ts';
import { type Sql, startBenchPostgres } from './support/postgres.ts';
import { type Ending, runBench, say } from './support/run.ts';
import { idOf } from './support/seed.ts';

const most = Math.max(10_000, Number(process.env.BENCH_ENTRIES) || 1_000_000);
const sizes = [...new Set([10_000, 100_000, most])].filter((size) => size <= most).sort((a, b) => a - b);
const wallets = 100;
const repeats = Math.max(20, Number(process.env.BENCH_REPEATS) || 300);
const mostGrowth = 1.3;
const ownerId = idOf('own', 1);
/** The first entry's time; each journal is a millisecond later. */
const since = Date.parse('2026-01-01T00:00:00.000Z');

/** Journals `first` to `last`, in turn over the wallets, each of one cent from outside, sealed. */
async function grow(sql: Sql, first: number, last: number): Promise<void> {
  const made = `generate_series($2::int, $3::int) n, lateral (select 'jr_' || lpad(n::text, 26, '0') as id,
    'wallet:wal_' || lpad((1 + (n - 1) % ${wallets})::text, 26, '0') || ':available' as account,
    1 + (n - 1) / ${wallets} as version, '2026-01-01T00:00:00Z'::timestamptz + n * interval '1 ms' as at) m`;
  const params = [ownerId, first, last];
  await sql(
    `with journal as (
       insert into journals (id, owner_id, kind, reference_type, reference_id, cause, request_id, created_at)
       select m.id, $1, 'fund', 'fund', 'fnd_' || n, 'bench:' || n, 'bench', m.at from ${made}
     ), entry as (
       insert into ledger_entries
         (journal_id, line, account, amount_cents, balance_before_cents, balance_after_cents, account_version, created_at)
       select m.id, 0, 'external:processor:' || $1, -1, null, null, null, m.at from ${made}
       union all
       select m.id, 1, m.account, 1, m.version - 1, m.version, m.version, m.at from ${made}
     )
     insert into journal_seals (owner_id, sequence, journal_id, format, leaf, hash, sealed_at)
     select $1, n, m.id, 2, repeat('a', 64), repeat('b', 64), m.at from ${made}`,
    params,
  );
  await sql(
    `insert into ledger_accounts
       (name, owner_id, balance_cents, debited_cents, credited_cents, version, created_at, last_entry_at)
     select account, $1, max(version), 0, max(version), max(version), max(m.at), max(m.at) from ${made} group by account
     on conflict (name) do update set balance_cents = excluded.balance_cents, credited_cents = excluded.credited_cents,
       version = excluded.version, last_entry_at = excluded.last_entry_at`,
    params,
  );
  await sql(
    `insert into contra_lines (account, number, journal_id, line, debited_cents, credited_cents)
     select 'external:processor:' || $1, n, m.id, 0, n, 0 from ${made}`,
    params,
  );
  await sql(
    `insert into contra_totals (account, owner_id, debited_cents, credited_cents, lines)
     values ('external:processor:' || $1, $1, $2, 0, $2)
     on conflict (account) do update set debited_cents = excluded.debited_cents, lines = excluded.lines`,
    [ownerId, last],
  );
  await sql('update ledger_sealed_through set at = now()');
}

type Work = {
  readonly name: string;
  readonly run: (n: number) => Promise<unknown>;
  /** Of what takes long. */
  readonly mostRepeats?: number;
};

/** Sums half of all entries: shown, but without a target, because its cost is that of the book's length. */
const halfTheBook = 'trial balance as of the middle of the book';

function worksOn(database: Database, sql: Sql, journals: number): Work[] {
  const filter: EntryFilter = {
    ...{ ownerId, agentId: undefined, accounts: undefined, referenceType: undefined, referenceId: undefined },
    ...{ direction: undefined, from: undefined, to: undefined },
  };
  const pageAfter = (n: number) => ({
    limit: 50,
    after: { createdAt: new Date(since + n).toISOString(), id: entryIdOf({ journalId: idOf('jr', n), line: 1 }) },
  });
  const first = { limit: 50, after: undefined };
  const middle = Math.floor(journals / 2);
  const accountOf = (n: number): string => `wallet:${idOf('wal', 1 + (n % wallets))}:available`;
  const balanceAsOf = (n: number) => trialBalance(database.read(), ownerId, new Date(since + n));
  const statement = (account: string) =>
    readStatement(database.read(), { ownerId, account, from: new Date(since + middle), to: undefined }, first);
  const list = (change: Partial<EntryFilter>, after = first as ReturnType<typeof pageAfter> | typeof first) =>
    listEntries(database.read(), { ...filter, ...change }, after);
  return [
    { name: 'list of entries', run: () => list({}) },
    { name: 'list of entries, from its middle', run: (n) => list({}, pageAfter(middle + n)) },
    { name: 'entries of an account', run: (n) => list({ accounts: [accountOf(n)] }) },
    { name: 'entries of the contra account', run: () => list({ accounts: [`external:processor:${ownerId}`] }) },
    { name: 'entries of a kind of record', run: () => list({ referenceType: 'fund' }) },
    { name: 'entries of one record', run: (n) => list({ referenceId: `fnd_${middle + n}` }) },
    { name: 'wallets with their balances', run: () => listWallets(database.read(), { ownerId } as never, first) },
    { name: 'trial balance of now', run: () => trialBalance(database.read(), ownerId, undefined) },
    { name: 'trial balance as of 1,000 journals ago', run: (n) => balanceAsOf(journals - 1_000 - (n % 100)) },
    { name: halfTheBook, run: (n) => balanceAsOf(middle + (n % 100)), mostRepeats: 20 },
    { name: 'statement of 50 lines', run: (n) => statement(accountOf(n)) },
    { name: 'statement of 50 lines, contra account', run: () => statement(`external:processor:${ownerId}`) },
    { name: 'posting of 10 journals', run: (n) => post(sql, n) },
  ];
}

/** As a call posts them; taken back, so that each size has exactly its entries. */
async function post(sql: Sql, n: number): Promise<void> {
  const journals = Array.from({ length: 10 }, (_, i) => ({
    ...{ id: idOf('jr', 90_000_000 + n * 10 + i), ownerId, kind: 'fund', referenceType: 'fund', referenceId: 'fnd' },
    ...{ cause: `posting:${n}:${i}`, requestId: 'bench', createdAt: new Date().toISOString() },
    postings: [
      { account: `external:processor:${ownerId}`, amountCents: -1 },
      { account: `wallet:${idOf('wal', 1 + ((n + i * 7) % wallets))}:available`, amountCents: 1 },
    ],
  }));
  await sql('begin');
  await sql('select * from post_journals($1::jsonb)', [JSON.stringify(journals)]);
  await sql('rollback');
}

async function timed({ run, mostRepeats = repeats }: Work): Promise<number> {
  const took: number[] = [];
  const warming = Math.min(20, mostRepeats / 4);
  for (let n = 0; n < Math.min(repeats, mostRepeats) + warming; n++) {
    const start = performance.now();
    await run(n);
    if (n >= warming) took.push(performance.now() - start);
  }
  return percentile(took, 0.5);
}

async function start(atEnd: Ending) {
  const { url, sql, single } = await startGrowing(atEnd);
  const orm = await openDatabase({ url, entities: [WalletRow], poolSize: 2, applicationName: 'bench-growth' });
  atEnd(() => orm.close());
  await sql(
    `insert into wallets (id, owner_id, name, created_at, updated_at)
     select 'wal_' || lpad(n::text, 26, '0'), $1, 'Wallet ' || n, now(), now() from generate_series(1, $2::int) n`,
    [ownerId, wallets],
  );
  return { database: databaseOf(orm), sql, single };
}

/** `single`: one connection, for transactions. */
async function startGrowing(atEnd: Ending) {
  const { url, sql } = await startBenchPostgres(atEnd);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  atEnd(() => client.end());
  const single: Sql = async <Row extends pg.QueryResultRow>(text: string, params: unknown[] = []) =>
    (await client.query<Row>(text, params)).rows;
  return { url, sql, single };
}

await runBench('growth', async (atEnd) => {
  const { database, sql, single } = await start(atEnd);
  const found = new Map<string, number[]>();
  let journals = 0;
  for (const size of sizes) {
    const until = Math.floor(size / 2);
    while (journals < until) {
      const next = Math.min(until, journals + 50_000);
      await grow(sql, journals + 1, next);
      journals = next;
    }
    await sql('vacuum (analyze)');
    say(`${whole(size)} entries`);
    for (const work of worksOn(database, single, journals))
      found.set(work.name, [...(found.get(work.name) ?? []), await timed(work)]);
  }
  const growthOf = (times: readonly number[]): number => (times.at(-1) ?? 0) / (times[0] ?? 1);
  table(
    ['median', ...sizes.map((size) => `${whole(size)} entries`), 'growth'],
    [...found].map(([name, times]) => [name, ...times.map(inMs), growthOf(times).toFixed(2)]),
  );
  const withTargets = [...found].filter(([name]) => name !== halfTheBook);
  return evaluate(
    withTargets.map(([name, times]) => ({
      what: name,
      found: `${growthOf(times).toFixed(2)} × from ${whole(sizes[0] ?? 0)} to ${whole(sizes.at(-1) ?? 0)} entries`,
      target: `≤ ${mostGrowth} ×`,
      isMet: growthOf(times) <= mostGrowth,
    })),
  );
});
