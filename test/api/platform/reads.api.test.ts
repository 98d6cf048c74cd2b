/**
 * What the quick reads promise: one statement for a record or for a page that has not changed, the rows that the ORM
 * would give, and answers that survive a changed table.
 * @module
 */
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import pg from 'pg';
import { type Database, databaseOf } from '../../../src/db/database.ts';
import { type Orm, openDatabase } from '../../../src/db/orm.ts';
import { plainPage, plainRow, wholeRow } from '../../../src/db/plain-rows.ts';
import { rows } from '../../../src/db/tx.ts';
import { agentsArea } from '../../../src/domains/parties/index.ts';
import { TransactionRow, transactionsArea } from '../../../src/domains/payments/index.ts';
import { IntentRow, intentsArea } from '../../../src/domains/spending/intents/index.ts';
import { PolicyRow } from '../../../src/domains/spending/policies/index.ts';
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

test.each(Object.entries(reads))('%s: one statement, when it was shown before', async (_what, read) => {
  expect((await statementsOf(read)).length).toBeLessThanOrEqual(2);
  expect(await statementsOf(read)).toHaveLength(1);
});

test('plain rows are the ORM’s rows', async () => {
  const tx = database.read();
  for (const [entity, id] of [
    [TransactionRow, transactionId],
    [IntentRow, intentId],
    [PolicyRow, payer.policyId],
  ] as const) {
    const fields = tx
      .getMetadata()
      .get<{ id: string }>(entity)
      .props.map(({ name }) => name);
    const wanted = { entity: entity as never, fields: fields as never[], form: (row: object) => row };
    const managed = (await tx.findOneOrFail(entity as never, { id } as never)) as Record<string, unknown>;
    const expected = Object.fromEntries(fields.map((field) => [field, managed[field] ?? null]));
    expect(await plainRow(tx, wanted, ['id = ?', id])).toEqual(expected);
    expect(await wholeRow(tx, entity as never, ['id = ?', id])).toEqual(expected);
    expect(await plainPage(tx, wanted, { limit: 1, after: undefined }, ['id = ?', id])).toEqual([expected]);
  }
  expect(await plainRow(tx, { entity: IntentRow, fields: ['id'] }, ['id = ?', 'int_nobody00'])).toBeNull();
});

test('what comes again is kept by PostgreSQL, and goes on when its table has changed', async () => {
  await world.sql('create table changing (id int, note text)');
  await world.sql(`insert into changing values (1, 'as it was')`);
  await world.sql('grant select on changing to public'); // Made after the migrations, which grant the rest.
  const text = 'select * from changing where id = $1';
  const prepared = () =>
    rows<{ statement: string }>(database.read(), 'select statement from pg_prepared_statements where statement = $1', [
      text,
    ]);
  const read = () => rows(database.read(), text, [1]);
  await read();
  expect(await prepared()).toEqual([]);
  for (let i = 0; i < 5; i++) await read();
  expect(await prepared()).toEqual([{ statement: text }]);
  await world.sql('alter table changing add column more int default 7');
  expect(await read()).toEqual([{ id: 1, note: 'as it was', more: 7 }]);
  for (let i = 0; i < 5; i++) await read();
  await world.sql('alter table changing drop column note');
  // A transaction is begun again.
  expect(await database.write((tx) => rows(tx, text, [1]))).toEqual([{ id: 1, more: 7 }]);
});
