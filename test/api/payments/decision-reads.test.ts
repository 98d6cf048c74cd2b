/**
 * Goal: what a decision reads costs the same with a million rows of others. Method: many rows of others, and
 * PostgreSQL's own count of the scans of one decision.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import * as z from 'zod';
import { oneRowOf, rowsOf } from '../../../src/db/statement.ts';
import { walletsToReturnTo } from '../../../src/domains/treasury/index.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { expireHolds } from '../../../src/usecases/payments/expire-holds.ts';
import { inside } from '../../support/backlog.ts';
import { anIntent, aPayer, inDatabase, networkOf } from '../../support/payments-world.ts';
import { startWorld, type World } from '../../support/world.ts';

const loadOne = `select facts from load_authorizations(array['sandbox'], array['auth_next'], array[$1], array[null], array[now()])`;

let world: World;
let client: pg.Client;
beforeAll(async () => {
  world = await startWorld();
  client = new pg.Client({ connectionString: world.config.DATABASE_URL });
  await client.connect();
  await world.sql(
    `insert into spending_days (agent_id, card_id, day, spent_cents, payments)
     select 'ag_' || i % 100, 'ca_' || i % 300, date '2026-01-01' + i / 300, 100, 1 from generate_series(1, 60000) i`,
  );
  await world.sql('analyze spending_days');
});
afterAll(async () => {
  await client.end();
  await world.close();
});

test('the facts of an authorization are read without a scan over all spending', async () => {
  const payer = await aPayer(world);
  await networkOf(world).authorize(payer);
  await client.query('begin');
  const found = await client.query<{ facts: { counters: unknown } }>(loadOne, [payer.cardRef]);
  expect(found.rows[0]?.facts.counters).toMatchObject({ spent_today_cents: 1_250, usage_count: 1 });
  const scans = await client.query(
    `select relname, seq_scan::int as scans, idx_scan::int as lookups from pg_stat_xact_user_tables where relname = 'spending_days'`,
  );
  await client.query('rollback');
  // One look into the index of the agent's days serves the sums of the month and the count of payments.
  expect(scans.rows).toEqual([{ relname: 'spending_days', scans: 0, lookups: 1 }]);
});

test('the owner of a new account is looked up by the index of wallets and agents', async () => {
  const { walletId } = await aPayer(world);
  const made = { wallet: walletId, agent: (await aPayer(world)).agentId };
  await client.query('begin');
  await client.query('set local enable_seqscan = off');
  for (const [kind, id] of Object.entries(made)) {
    const owner = await client.query<{ owner: string | null }>(
      `select account_owner($1::text collate "C" || ':available') as owner`,
      [`${kind}:${id}`],
    );
    expect(owner.rows).toEqual([{ owner: expect.any(String) }]);
  }
  // Of the transaction before it the session may count too; neither reads one of the tables whole.
  const scans = await client.query(
    `select relname, seq_scan::int as scans, idx_scan > 0 as "isLookedUp" from pg_stat_xact_user_tables
     where relname in ('wallets', 'agents') order by relname`,
  );
  await client.query('rollback');
  expect(scans.rows).toEqual([
    { relname: 'agents', scans: 0, isLookedUp: true },
    { relname: 'wallets', scans: 0, isLookedUp: true },
  ]);
});

test('the wallets that budgets go back to are looked up by their indexes', async () => {
  const [open, closed] = [await aPayer(world), await aPayer(world)];
  const [spare] = await world.sql<{ id: string }>(
    `insert into wallets (id, owner_id, name, is_default, created_at, updated_at) values ($1, $2, 'Spare', true, now(), now())
     returning id`,
    [newId('wallet'), closed.owner.ownerId],
  );
  await world.sql(`update wallets set status = 'closed', closed_at = now() where id = '${closed.walletId}'`);
  await world.sql(
    `insert into wallets (id, owner_id, name, is_default, created_at, updated_at)
     select 'wal_of_other_' || n, 'own_other_' || n, 'Other', true, now(), now() from generate_series(1, 5000) n`,
  );
  await world.sql('analyze wallets');
  const ofBoth = [open, closed].map(({ owner, walletId }) => ({ ownerId: owner.ownerId, walletId }));
  const readRow = z.object({ rows: z.int() });
  await inDatabase(world, (database) =>
    database.write(async (tx) => {
      const readSoFar = () =>
        rowsOf(
          tx,
          readRow,
          `select (seq_tup_read + idx_tup_fetch)::int as rows from pg_stat_xact_user_tables where relname = 'wallets'`,
        );
      const [before] = await readSoFar();
      expect([...(await walletsToReturnTo(tx, ofBoth))]).toEqual([
        [open.walletId, open.walletId],
        [closed.walletId, spare?.id],
      ]);
      const [after] = await readSoFar();
      expect((after?.rows ?? Number.NaN) - (before?.rows ?? 0)).toBeLessThan(20);
    }),
  );
});

test('the intents of a card are read without those that it had before, by a plan made while there were none', async () => {
  const payer = await aPayer(world);
  const load = () => client.query<{ facts: { intents: unknown[] } }>(loadOne, [payer.cardRef]);
  await load();
  const open = await anIntent(world, payer);
  await world.sql(
    `insert into intents select (jsonb_populate_record(i, jsonb_build_object('id', i.id || '_' || n, 'status', 'completed',
       'client_intent_id', null, 'created_at', i.created_at - n * interval '1 second'))).*
     from intents i, generate_series(1, 2000) n where i.id = '${open}'`,
  );
  await client.query('begin');
  const found = await load();
  const read = await client.query(
    `select (seq_tup_read + idx_tup_fetch)::int as rows from pg_stat_xact_user_tables where relname = 'intents'`,
  );
  await client.query('rollback');
  expect(found.rows[0]?.facts.intents).toHaveLength(1);
  expect(read.rows).toEqual([{ rows: 1 }]);
});

test('open intents are summed for a declaration, and not read for a charge', async () => {
  const payer = await aPayer(world);
  await anIntent(world, payer);
  const sums = (call: string) =>
    world.sql<{ open_intents_cents: string }>(
      `select open_intents_cents from spending_counters('${payer.agentId}', '${payer.cardId}', now()${call})`,
    );
  expect(await sums('')).toEqual([{ open_intents_cents: '1250' }]);
  expect(await sums(', true')).toEqual([{ open_intents_cents: '0' }]);
});

test('the sweep of confirms without an authorization reads no other payments', async () => {
  await world.sql(
    `insert into transactions (id, owner_id, agent_id, adapter, authorization_id, type, status, amount_cents, requested_cents,
       merchant, link_until, request_id, created_at, updated_at)
     select 'tx_old_' || n, 'own_other', 'ag_other', 'other', 'auth_old_' || n, 'capture', 'completed', 100, 100,
       'A shop', now() - interval '1 hour', 'a-request', now(), now() from generate_series(1, 5000) n`,
  );
  // The planner believes that all of them are due.
  await world.sql('analyze transactions');
  await world.sql('update transactions set link_until = null');
  const readRow = z.object({ rows: z.int() });
  await inDatabase(world, (database) =>
    database.write(async (tx) => {
      const readSoFar = async () =>
        (
          await oneRowOf(
            tx,
            readRow,
            `select coalesce(sum(seq_tup_read + idx_tup_fetch), 0)::int as rows from pg_stat_xact_user_tables
             where relname = 'transactions'`,
          )
        ).rows;
      const before = await readSoFar();
      expect(await expireHolds({ database: inside(tx) })(new Date())).toMatchObject({ confirms: 0 });
      expect((await readSoFar()) - before).toBeLessThan(20);
    }),
  );
});
