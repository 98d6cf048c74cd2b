/**
 * What the application role may not do, tried as that role, and what even the role that owns the tables may not.
 * @module
 */

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import * as z from 'zod';
import { migrate } from '../../src/db/migrate.ts';
import { onlyAdded, writesAllowedOn, writtenByFunctions } from '../../src/db/privileges.ts';
import { oneRowOf, rowsOf, runSql } from '../../src/db/statement.ts';
import { available, external, wallet } from '../../src/domains/treasury/ledger/account.rules.ts';
import { newId } from '../../src/kernel/ids.ts';
import { verifyOwner } from '../../src/usecases/treasury/verify-owner.ts';
import { type Book, openBook } from './book.ts';

let book: Book;
let ownerId: string;
let walletId: string;
beforeAll(async () => {
  book = await openBook();
  ({ ownerId, walletId } = await book.owner());
  await book.fund(ownerId, walletId, 1_000);
});
afterAll(() => book.close());

const asApplication = (text: string) => runSql(book.database.read(), text);
const refused = { code: '42501' }; // insufficient_privilege

const aJournal = (id: string) =>
  `insert into journals (id, owner_id, kind, reference_type, reference_id, cause, request_id, created_at)
   values ('${id}', '${ownerId}', 'fund', 'adjustment', 'x', '${id}', 'x', now())`;
const anEntry = (id: string, amount: number, line = 0) =>
  `insert into ledger_entries (journal_id, line, account, amount_cents, created_at)
   values ('${id}', ${line}, '${external('cards', ownerId as never)}', ${amount}, now())`;

const aFunding = (id: string) => ({
  ...{ id, ownerId, kind: 'fund', referenceType: 'adjustment', referenceId: 'x', cause: id, requestId: 'x' },
  createdAt: '2026-03-02T10:00:00Z',
  postings: [
    { account: external('processor', ownerId as never), amountCents: -5 },
    { account: available(wallet(walletId)), amountCents: 5 },
  ],
});

test('the application role owns nothing and is a plain role', async () => {
  const role = await oneRowOf(
    book.database.read(),
    z.record(z.string(), z.unknown()),
    `select rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls,
       (select count(*) from pg_class where relowner = pg_roles.oid)::int as tables,
       (select count(*) from pg_proc where proowner = pg_roles.oid)::int as functions,
       (select count(*) from pg_auth_members where member = pg_roles.oid)::int as roles
     from pg_roles where rolname = current_user`,
  );
  const none = {
    rolsuper: false,
    rolcreatedb: false,
    rolcreaterole: false,
    rolreplication: false,
    rolbypassrls: false,
  };
  expect(role).toEqual({ ...none, tables: 0, functions: 0, roles: 0 });
});

const evidence = ['journals', 'ledger_entries', 'events', 'audit', 'decisions'];

test.each(evidence)('%s is written only through functions', async (table) => {
  const statements = [
    `insert into ${table} default values`,
    `update ${table} set ${table === 'ledger_entries' ? 'journal_id' : 'owner_id'} = 'x'`,
    `delete from ${table}`,
    `truncate ${table} cascade`,
    `select 1 from ${table} for update`,
    `alter table ${table} disable trigger all`,
    `alter table ${table} add column x int`,
    `drop table ${table} cascade`,
    `create trigger x after insert on ${table} execute function refuse_change()`,
    `create rule x as on insert to ${table} do instead nothing`,
    `copy ${table} to '/tmp/x'`,
    `grant all on ${table} to current_user`,
  ];
  for (const statement of statements) {
    const outcome = await asApplication(statement).then(
      () => 'done',
      ({ code }: { code: string }) => code,
    );
    // GRANT of what one does not have is a warning for some privileges; nothing may have come of it.
    if (statement.startsWith('grant')) continue;
    expect([statement, outcome]).toEqual([statement, refused.code]);
  }
  const may = await oneRowOf(
    book.database.read(),
    z.object({ write: z.boolean() }),
    `select has_table_privilege('${table}', 'insert, update, delete, truncate, trigger') as write`,
  );
  expect(may).toEqual({ write: false });
});

test('a balance, a text and a seal cannot be changed, and a journal with one posting cannot be inserted', async () => {
  for (const statement of [
    'update ledger_accounts set balance_cents = balance_cents + 1',
    `insert into ledger_accounts (name, owner_id, created_at) values ('x', 'y', now())`,
    'delete from journal_texts',
    'update journal_seals set hash = hash',
    'delete from journal_seals',
    'update ledger_checkpoints set hash = hash',
    'update transitions set to_status = to_status',
    'delete from transaction_events',
    `insert into unsealed_journals (journal_id, owner_id) values ('x', 'y')`,
    aJournal('jr_one'),
    anEntry('jr_one', 5),
  ])
    await expect(asApplication(statement)).rejects.toMatchObject(refused);
});

test.each([
  'set session_replication_role = replica',
  'drop function post_journals(jsonb)',
  `create or replace function post_journals(p_journals jsonb) returns table (ordinal int, journal_id text, posted boolean,
     balances jsonb, owed_cents bigint) language sql as 'select 1, null, true, null, 0'`,
  `create or replace function refuse_change() returns trigger language plpgsql as 'begin return null; end'`,
  `alter function record_changes(jsonb, jsonb) reset search_path`,
  `create table public.journals_copy (n int)`,
  `create function public.has_running_balance(text, int) returns boolean language sql as 'select true'`,
  `create schema stolen`,
  `create role another superuser`,
  `set role postgres`,
  `drop trigger journals_append_only on journals`,
])('refused to the application role: %s', async (statement) => {
  await expect(asApplication(statement)).rejects.toMatchObject(refused);
});

test('a function that runs as its owner cannot be led to other tables by the caller’s search path', async () => {
  const client = new pg.Client({ connectionString: book.url });
  await client.connect();
  try {
    await client
      .query('create temp table audit (like audit); create temp table events (like events)')
      .catch(() => undefined);
    await client.query('set search_path = pg_temp, public');
    const audit = { id: 'aud_temp', owner_id: ownerId, actor: 'x', action: 'x', subject_id: 'x', details: {} };
    const row = JSON.stringify([{ ...audit, request_id: 'x', outcome: 'done', created_at: new Date() }]);
    await client.query(`select record_changes('[]', $1::jsonb)`, [row]);
  } finally {
    await client.end();
  }
  expect(await book.rows(`select 1 from audit where id = 'aud_temp'`)).toHaveLength(1);
  const open = await book.rows(
    `select proname from pg_proc where pronamespace = 'public'::regnamespace and prosecdef and (
       not coalesce(proconfig, '{}') @> array['search_path=public, pg_temp'] or has_function_privilege('public', oid, 'execute'))`,
  );
  expect(open).toEqual([]);
});

test('triggers that run at the commit do not use relations of the caller', async () => {
  const client = new pg.Client({ connectionString: book.url });
  await client.connect();
  const id = newId('journal');
  try {
    await client.query(`
      create function pg_temp.planted() returns text language plpgsql as $$ begin
        insert into public.audit (id, owner_id, actor, action, subject_id, details, request_id, created_at)
          values ('aud_planted', 'x', current_user, 'x', 'x', '{}', 'x', now());
        return '${id}';
      end $$;
      create temp view ledger_entries as select pg_temp.planted() as journal_id;
      create temp view journals as select '${id}'::text as id;
      set search_path = pg_temp, public`);
    await client.query('select from public.post_journals($1::jsonb)', [JSON.stringify([aFunding(id)])]);
  } finally {
    await client.end();
  }
  expect(await book.rows(`select actor from audit where id = 'aud_planted'`)).toEqual([]);
  expect(
    await book.rows(
      `select proname from pg_proc where pronamespace = 'public'::regnamespace and prorettype = 'trigger'::regtype
         and not coalesce(proconfig, '{}') @> array['search_path=public, pg_temp']`,
    ),
  ).toEqual([]);
});

test('the application role makes no temporary relations and functions', async () => {
  await migrate(book.ownerUrl, book.url);
  for (const statement of [
    'create temp table t (n int)',
    'create temp view t as select 1',
    'select * into temp t from agents',
  ])
    await expect(asApplication(statement)).rejects.toMatchObject(refused);
});

test('a caller that claims to hold the locks moves no money of another owner and none that is not available', async () => {
  const victim = await book.owner();
  await book.fund(victim.ownerId, victim.walletId, 700);
  const fresh = await book.wallet(ownerId);
  for (const from of [available(wallet(victim.walletId)), available(wallet(fresh))]) {
    const to = available(wallet(walletId));
    await expect(
      book.database.write(async (tx) => {
        await runSql(tx, `select set_config('bursar.locked_accounts', $1, true)`, [`${from},${to}`]);
        const postings = [
          { account: from, amountCents: -500 },
          { account: to, amountCents: 500 },
        ];
        await runSql(tx, 'select from post_journals($1::jsonb)', [
          JSON.stringify([{ ...aFunding(newId('journal')), postings }]),
        ]);
      }),
    ).rejects.toMatchObject({ code: 'BL003' });
  }
});

test.each(['infinity', '-infinity'])('a journal is not entered at the time %s', async (createdAt) => {
  const other = await book.owner();
  const postings = [
    { account: external('processor', other.ownerId), amountCents: -5 },
    { account: available(wallet(other.walletId)), amountCents: 5 },
  ];
  const journal = { ...aFunding(newId('journal')), ownerId: other.ownerId, createdAt, postings };
  await expect(
    runSql(book.database.read(), 'select from post_journals($1::jsonb)', [JSON.stringify([journal])]),
  ).rejects.toMatchObject({ code: '23514' });
});

test('addresses of refused accesses are not emptied before their 90 days', async () => {
  const audit = {
    owner_id: ownerId,
    actor: 'x',
    action: 'x',
    subject_id: 'x',
    details: {},
    source_address: '192.0.2.1',
  };
  const row = (id: string, days: number) => ({
    ...audit,
    ...{ id, request_id: 'x', outcome: 'refused', created_at: new Date(Date.now() - days * 86_400_000) },
  });
  await runSql(book.database.read(), `select record_changes('[]', $1::jsonb)`, [
    JSON.stringify([row('aud_recent', 89), row('aud_old', 91)]),
  ]);
  await runSql(book.database.read(), `select purge_audit_addresses('infinity', 1000)`);
  expect(
    await book.rows(`select id, source_address from audit where source_address is not null and id like 'aud_%'`),
  ).toEqual([{ id: 'aud_recent', source_address: '192.0.2.1' }]);
});

test('every table has the privileges of one list, and each append-only table is on it', async () => {
  const tables = await rowsOf(
    book.database.read(),
    z.object({ name: z.string(), writes: z.string(), refuses: z.boolean() }),
    `select c.relname as name,
       array_to_string(array(
         select p from unnest(array['insert', 'update', 'delete', 'truncate', 'references', 'trigger']) p
         where has_table_privilege(c.oid, p)
         union all
         -- Of single columns, where the table as a whole may not be written so.
         select format('%s (%s)', p, string_agg(a.attname, ', ' order by a.attnum))
         from unnest(array['insert', 'update', 'references']) p
         join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
         where not has_table_privilege(c.oid, p) and has_column_privilege(c.oid, a.attnum, p)
         group by p), ', ') as writes,
       exists (select from pg_trigger t join pg_proc f on f.oid = t.tgfoid
         where t.tgrelid = c.oid and f.proname like 'refuse%change') as refuses
     from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') order by 1`,
  );
  expect(tables.length).toBeGreaterThan(40);
  for (const { name, writes, refuses } of tables) {
    expect([name, writes]).toEqual([name, writesAllowedOn(name)]);
    if (refuses) expect([...writtenByFunctions, ...onlyAdded]).toContain(name);
  }
});

test('not even the owner of the tables commits a journal that is not balanced, or one without lines', async () => {
  const unbalanced = { message: expect.stringMatching(/is not balanced|has no lines/) };
  const [one, two] = [newId('journal'), newId('journal')];
  const lines = (amounts: number[]) =>
    `insert into ledger_entries (journal_id, line, account, amount_cents, created_at)
     select '${two}', n, '${external('cards', ownerId as never)}', amount, now()
     from unnest(array[${amounts.join()}]) with ordinality a (amount, n)`;
  await expect(book.asOwner(aJournal(one))).rejects.toMatchObject(unbalanced);
  await expect(book.asOwner(`${aJournal(one)}; ${anEntry(one, 5)}`)).rejects.toMatchObject(unbalanced);
  await expect(book.asOwner(`${aJournal(two)}; ${lines([5, -4])}`)).rejects.toMatchObject(unbalanced);
  await book.asOwner(`${aJournal(two)}; ${lines([5, -5])}`);
  await expect(book.asOwner(anEntry(two, 7, 9))).rejects.toMatchObject(unbalanced);
  for (const table of [...evidence, 'ledger_checkpoints', 'journal_seals'])
    await expect(book.asOwner(`truncate ${table} cascade`)).rejects.toThrow(/append-only/);
});

test('the ledger works as ever', async () => {
  const other = await book.owner();
  await book.fund(other.ownerId, other.walletId, 5);
  expect(await verifyOwner(book)(other.ownerId, { full: true })).toMatchObject({
    balanced: true,
    journals: 1,
  });
});
