/**
 * What the quick reads promise: one statement for a record or a page, the rows that the ORM would give, and answers that survive a changed table.
 * @module
 */

import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import type { EntitySchema, EntitySchemaWithMeta } from '@mikro-orm/core';
import { sql } from 'kysely';
import pg from 'pg';
import * as z from 'zod';
import { type Database, databaseOf } from '../../../src/db/database.ts';
import { type Db, db, type Given, query } from '../../../src/db/db.ts';
import { type Orm, openDatabase } from '../../../src/db/orm.ts';
import { rowsOf } from '../../../src/db/statement.ts';
import { columnsOf } from '../../../src/db/tables.ts';
import { agentsArea } from '../../../src/domains/parties/agents/agent.contract.ts';
import { transactionsArea } from '../../../src/domains/payments/transactions/transaction.contract.ts';
import { TransactionSchema } from '../../../src/domains/payments/transactions/transaction.entity.ts';
import { intentsArea } from '../../../src/domains/spending/intents/intent.contract.ts';
import { IntentSchema } from '../../../src/domains/spending/intents/intent.entity.ts';
import { PolicySchema } from '../../../src/domains/spending/policies/policy.entity.ts';
import { entities } from '../../../src/main/modules/index.ts';
import { anIntent, aPayer, networkOf, type Payer } from '../../support/payments-world.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
let orm: Orm;
let database: Database;
let payer: Payer;
let intentId: `int_${string}`;
let transactionId: `tx_${string}`;
beforeAll(async () => {
  world = await startWorld();
  orm = await openDatabase({ url: world.config.DATABASE_URL, entities, poolSize: 1, applicationName: 'reads' });
  database = databaseOf(orm);
  payer = await aPayer(world);
  intentId = await anIntent(world, payer, { status: 'completed' });
  const network = networkOf(world);
  const { body } = await network.authorize(payer, { merchantAmount: 13.37, merchantCurrency: 'USD' });
  transactionId = body.transactionId as typeof transactionId;
});
afterAll(async () => {
  await orm.close();
  await world.close();
});
afterEach(() => {
  jest.restoreAllMocks();
});

/** Not counted: who is calling, known for a second, and the sandbox's clock. */
const isOfTheEdge = (text: string): boolean => /from (api_keys|clock)\b/.test(text);

async function statementsOf(read: () => Promise<unknown>): Promise<string[]> {
  const asked = jest.spyOn(pg.Client.prototype, 'query');
  await read();
  const { calls } = asked.mock;
  asked.mockRestore();
  return calls
    .map(([query]) => (typeof query === 'string' ? query : (query as { text: string }).text))
    .filter((text) => !isOfTheEdge(text));
}

const reads: Record<string, () => Promise<unknown>> = {
  'an agent': () => payer.owner.client(agentsArea).getAgent({ params: { id: payer.agentId } }),
  agents: () => payer.owner.client(agentsArea).listAgents(),
  'an intent': () => payer.owner.client(intentsArea).getIntent({ params: { id: intentId } }),
  intents: () => payer.owner.client(intentsArea).listIntents(),
  'a transaction': () => payer.owner.client(transactionsArea).getTransaction({ params: { id: transactionId } }),
  transactions: () => payer.owner.client(transactionsArea).listTransactions(),
};

test.each(Object.entries(reads))('%s: a repeated read is one statement', async (_what, read) => {
  expect((await statementsOf(read)).length).toBeLessThanOrEqual(2);
  expect(await statementsOf(read)).toHaveLength(1);
});

test.each([
  ['intents', IntentSchema],
  ['policies', PolicySchema],
  ['transactions', TransactionSchema],
] as const)('a typed query reads a row of %s as the ORM does', async (table, schema) => {
  const id = { intents: intentId, policies: payer.policyId, transactions: transactionId }[table];
  const fields = columnsOf(schema as EntitySchemaWithMeta);
  const tx = database.read();
  const managed = new Map(
    Object.entries(await tx.findOneOrFail(schema as EntitySchemaWithMeta as EntitySchema<{ id: string }>, { id })),
  );
  const expected = Object.fromEntries(fields.map((field) => [field, managed.get(field) ?? null]));
  const byId = (from: Db) => from.selectFrom(table).select(fields as 'id'[]);
  const compiled = query((from, given: Given<{ id: string }>) => byId(from).where('id', '=', given('id')));
  expect(await compiled.first(tx, { id })).toEqual(expected);
  expect(await compiled.first(tx, { id: 'nothing' })).toBeNull();
  expect(await byId(db(tx)).where(sql<boolean>`id = ${id}`).execute()).toEqual([expected]);
  await database.write(async (within) => expect(await compiled.all(within, { id })).toEqual([expected]));
});

test('a query outside of a transaction does not see what the transaction has not committed', async () => {
  const renamed = query((from, given: Given<{ id: string }>) =>
    from.selectFrom('agents').select('name').where('id', '=', given('id')),
  );
  const id = payer.agentId;
  const other = await openDatabase({ url: world.config.DATABASE_URL, entities, poolSize: 1, applicationName: 'other' });
  try {
    const outside = databaseOf(other).read();
    await database.write(async (tx) => {
      await db(tx)
        .updateTable('agents')
        .set((eb) => ({ name: 'Renamed', version: eb('version', '+', 1) }))
        .where(sql<boolean>`id = ${id}`)
        .execute();
      expect(await renamed.first(tx, { id })).toEqual({ name: 'Renamed' });
      expect(await renamed.first(outside, { id })).not.toEqual({ name: 'Renamed' });
    });
  } finally {
    await other.close();
  }
});

test('a repeated statement is prepared, and works after a change of its table', async () => {
  await world.sql('create table changing (id int, note text)');
  await world.sql(`insert into changing values (1, 'as it was')`);
  await world.sql('grant select on changing to public'); // Made after the migrations, which grant the rest.
  const text = 'select * from changing where id = $1';
  const prepared = () =>
    rowsOf(
      database.read(),
      z.object({ statement: z.string() }),
      'select statement from pg_prepared_statements where statement = $1',
      [text],
    );
  const anyRow = z.record(z.string(), z.unknown());
  const read = () => rowsOf(database.read(), anyRow, text, [1]);
  await read();
  expect(await prepared()).toEqual([]);
  for (let i = 0; i < 5; i++) await read();
  expect(await prepared()).toEqual([{ statement: text }]);
  await world.sql('alter table changing add column more int default 7');
  expect(await read()).toEqual([{ id: 1, note: 'as it was', more: 7 }]);
  for (let i = 0; i < 5; i++) await read();
  await world.sql('alter table changing drop column note');
  // A transaction is begun again.
  expect(await database.write((tx) => rowsOf(tx, anyRow, text, [1]))).toEqual([{ id: 1, more: 7 }]);
});
