/**
 * Goal: a list shows each row once, also rows of the same instant. Method: rows of one instant, read with every page
 * length, and with rows that are inserted between two pages.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import * as z from 'zod';
import { type Database, databaseOf } from '../../../src/db/database.ts';
import { type Orm, openDatabase } from '../../../src/db/orm.ts';
import { rowsOf } from '../../../src/db/statement.ts';
import { listTransactions } from '../../../src/domains/payments/transactions/transaction.queries.ts';
import { listIntents } from '../../../src/domains/spending/intents/intent.queries.ts';
import { listEntries } from '../../../src/domains/treasury/ledger/entry.queries.ts';
import { listWallets } from '../../../src/domains/treasury/wallets/wallet.queries.ts';
import { decodeCursor, type Page, type PageQuery } from '../../../src/kernel/page.ts';
import { entities } from '../../../src/main/modules/index.ts';
import { anIntent, aPayer, networkOf, type Payer } from '../../support/payments-world.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
let orm: Orm;
let database: Database;
let payer: Payer;
const now = new Date();
beforeAll(async () => {
  world = await startWorld();
  orm = await openDatabase({ url: world.config.DATABASE_URL, entities, poolSize: 2, applicationName: 'pages' });
  database = databaseOf(orm);
  payer = await aPayer(world);
  for (let i = 0; i < 5; i++) await anIntent(world, payer, { status: 'completed' });
  for (let i = 0; i < 4; i++) await networkOf(world).authorize(payer, { amountCents: 100 + i });
  const wallet = `insert into wallets (id, owner_id, name, created_at, updated_at)
    select 'wal_same' || lpad(n::text, 22, '0'), $1, 'Wallet ' || n, $2, $2 from generate_series(1, 4) n`;
  await world.sql(wallet, [payer.owner.ownerId, now]);
  await world.sql('update intents set created_at = $1', [now]);
  await world.sql('update transactions set created_at = $1', [now]);
});
afterAll(async () => {
  await orm.close();
  await world.close();
});

type Read = (asked: PageQuery) => Promise<Page<{ id?: string; journalId?: string; line?: number }>>;
const ownerId = () => payer.owner.ownerId;
const none = { agentId: undefined, referenceType: undefined, referenceId: undefined, direction: undefined };
const lists: Record<string, Read> = {
  intents: (asked) => listIntents(database.read(), { ownerId: ownerId(), now }, asked),
  'completed intents': (asked) => listIntents(database.read(), { ownerId: ownerId(), status: 'completed', now }, asked),
  transactions: (asked) => listTransactions(database.read(), { ownerId: ownerId(), now }, asked),
  wallets: (asked) =>
    listWallets(
      database.read(),
      { ownerId: ownerId(), drawnBy: undefined, status: undefined, parentWalletId: undefined },
      asked,
    ),
  entries: (asked) =>
    listEntries(
      database.read(),
      { ownerId: ownerId(), accounts: undefined, from: undefined, to: undefined, ...none },
      asked,
    ),
};

async function all(read: Read, limit: number): Promise<string[]> {
  const found: string[] = [];
  let after: PageQuery['after'];
  do {
    const { data, hasMore, nextCursor } = await read({ limit, after });
    found.push(...data.map(({ id, journalId, line }) => id ?? `${journalId}/${line}`));
    expect(hasMore).toBe(nextCursor !== null);
    expect(data.length).toBeLessThanOrEqual(limit);
    after = nextCursor === null ? undefined : decodeCursor(nextCursor, /./);
  } while (after !== undefined);
  return found;
}

test.each(Object.entries(lists))('%s of one instant: no page length loses or repeats one', async (_name, read) => {
  const whole = await all(read, 100);
  expect(whole.length).toBeGreaterThan(3);
  expect(new Set(whole).size).toBe(whole.length);
  for (const limit of [1, 2, 3, 50]) expect(await all(read, limit)).toEqual(whole);
});

test('a row that is inserted between two pages moves no other row', async () => {
  const read = lists.intents as Read;
  const first = await read({ limit: 2, after: undefined });
  const before = await all(read, 100);
  const inserted = await anIntent(world, payer, { status: 'completed' });
  await world.sql(`update intents set created_at = $2 where id = $1`, [inserted, new Date(now.getTime() + 1)]);
  expect((await all(read, 100))[0]).toBe(inserted);
  const after = first.nextCursor === null ? undefined : decodeCursor(first.nextCursor, /./);
  const { data } = await read({ limit: 100, after });
  expect(data.map(({ id }) => id)).toEqual(before.slice(2));
});

test('PostgreSQL uses one plan for every cursor, because planning takes longer than reading the page', async () => {
  await world.sql(
    `insert into wallets (id, owner_id, name, created_at, updated_at)
     select 'wal_many' || lpad(n::text, 22, '0'), $1, 'Wallet', $2::timestamptz - n * interval '1 second', $2
     from generate_series(1, 1000) n`,
    [ownerId(), now],
  );
  await world.sql('analyze wallets');
  const filter = { ownerId: ownerId(), drawnBy: undefined, status: undefined, parentWalletId: undefined };
  await database.write(async (tx) => {
    let after: PageQuery['after'];
    for (let pages = 0; pages < 15; pages++) {
      const { nextCursor } = await listWallets(tx, filter, { limit: 50, after });
      after = decodeCursor(nextCursor ?? '', /./);
    }
    const plans = await rowsOf(
      tx,
      z.object({ generic: z.number() }),
      `select generic_plans as generic from pg_prepared_statements
       where statement like '%from "wallets"%::timestamptz%limit 51'`,
    );
    expect(plans).toEqual([{ generic: expect.any(Number) }]);
    expect(plans[0]?.generic).toBeGreaterThan(0);
  });
});
