/**
 * Goal: a list that is read from memory where nothing has changed shows exactly what the tables hold, whatever was
 * written, by whom and how. Method: arbitrary writes, and every page compared with one that nobody remembers.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Database, databaseOf } from '../../../src/db/database.ts';
import { type Orm, openDatabase } from '../../../src/db/orm.ts';
import { plainPage, rowVersion } from '../../../src/db/plain-rows.ts';
import { rows, type Tx } from '../../../src/db/tx.ts';
import { transactionsArea } from '../../../src/domains/payments/index.ts';
import { IntentRow, intentsArea } from '../../../src/domains/spending/intents/index.ts';
import { entities } from '../../../src/main/modules/index.ts';
import { anIntent, aPayer, networkOf, type Payer } from '../../support/payments-world.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
let orm: Orm;
let database: Database;
let payer: Payer;
let network: ReturnType<typeof networkOf>;
let intentIds: string[];
beforeAll(async () => {
  world = await startWorld();
  orm = await openDatabase({ url: world.config.DATABASE_URL, entities, poolSize: 3, applicationName: 'kept-rows' });
  database = databaseOf(orm);
  payer = await aPayer(world);
  network = networkOf(world);
  intentIds = [];
  for (let i = 0; i < 4; i++) intentIds.push(await anIntent(world, payer, { status: 'approved' }));
});
afterAll(async () => {
  await orm.close();
  await world.close();
});

const fields = ['id', 'ownerId', 'purpose', 'status', 'expectedAmountCents', 'createdAt', 'deniedReason'] as const;
const form = (row: Pick<IntentRow, (typeof fields)[number]>) => row;
const remembered = { entity: IntentRow, fields, version: rowVersion, form };
const forgotten = { entity: IntentRow, fields, form };
const newest = { limit: 50, after: undefined };
const pageOf = (tx: Tx, wanted: typeof remembered | typeof forgotten, status?: string) =>
  plainPage(
    tx,
    wanted,
    newest,
    ['owner_id = ?', payer.owner.ownerId],
    status === undefined ? undefined : ['status = ?', status],
  );
/** Without the version, which only one of the two has. */
const bare = (page: readonly object[]) => page.map((row) => ({ ...row, rowVersion: undefined }));

async function expectSame(): Promise<void> {
  for (const status of [undefined, 'approved']) {
    const [kept, read] = [
      await pageOf(database.read(), remembered, status),
      await pageOf(database.read(), forgotten, status),
    ];
    expect(bare(kept)).toEqual(bare(read));
  }
}

const set = (column: string, value: string) => (id: string) =>
  [`update intents set ${column} = $2 where id = $1`, [id, value]] as const;
const changes = [
  set('purpose', 'one thing'),
  set('purpose', 'another thing'),
  set('denied_reason', 'too dear'),
  (id: string) => ['update intents set purpose = purpose where id = $1', [id]] as const,
  (id: string) => ['select 1 from intents where id = $1 for update', [id]] as const,
];
class RolledBack extends Error {}

const step = fc.record({
  intent: fc.nat(3),
  first: fc.constantFrom(...changes),
  second: fc.option(fc.constantFrom(...changes)),
  end: fc.constantFrom('commit', 'roll back', 'look inside and roll back', 'look inside and commit'),
  looks: fc.nat(2),
});

test('arbitrary writes, committed and rolled back, looked at from inside and outside', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      for (const { intent, first, second, end, looks } of steps) {
        const id = intentIds[intent] ?? '';
        const work = database.write(async (tx) => {
          for (const change of [first, second]) {
            if (change === null) continue;
            const [text, values] = change(id);
            await rows(tx, text, values);
            if (end.startsWith('look inside'))
              expect(bare(await pageOf(tx, remembered))).toEqual(bare(await pageOf(tx, forgotten)));
          }
          if (end.endsWith('roll back')) throw new RolledBack();
        });
        await work.catch((error: unknown) => {
          if (!(error instanceof RolledBack)) throw error;
        });
        for (let i = 0; i < looks; i++) await expectSame();
      }
      await expectSame();
    }),
    { numRuns: 40 },
  );
});

test('many readers and writers at once: no reader is shown what was replaced before it asked', async () => {
  let written = 0;
  const write = async (times: number): Promise<void> => {
    for (let i = 0; i < times; i++) {
      await rows(database.read(), 'update intents set expected_amount_cents = $2 where id = $1', [
        intentIds[0],
        written + 1,
      ]);
      written += 1;
    }
  };
  const look = async (times: number): Promise<void> => {
    for (let i = 0; i < times; i++) {
      const atLeast = written;
      const page = await pageOf(database.read(), remembered);
      const shown = page.find(({ id }) => id === intentIds[0])?.expectedAmountCents;
      if (atLeast > 0) expect(shown).toBeGreaterThanOrEqual(atLeast);
    }
  };
  await Promise.all([write(150), look(100), look(100)]);
  expect(await pageOf(database.read(), remembered)).toContainEqual(
    expect.objectContaining({ expectedAmountCents: 150 }),
  );
});

test('a message of the network that leaves the transaction as it was is shown in its events', async () => {
  const { body } = await network.authorize(payer, { amountCents: 700 });
  const { transactionId } = body as { transactionId: string };
  const client = payer.owner.client(transactionsArea);
  const eventsShown = async () => {
    const { data } = await client.listTransactions();
    return data.find(({ id }) => id === transactionId)?.events.length;
  };
  expect(await eventsShown()).toBe(1);
  expect(await eventsShown()).toBe(1);
  await world.sql(
    `insert into transaction_events (transaction_id, kind, adapter, network_id, amount_cents, at)
     values ($1, 'reversal', 'sandbox', 'late', 0, now())`,
    [transactionId],
  );
  expect(await eventsShown()).toBe(2);
});

test('one owner’s page holds nothing of another’s, and an agent’s own state is told as it is at that moment', async () => {
  const stranger = await aPayer(world);
  await anIntent(world, stranger, { status: 'approved' });
  for (let i = 0; i < 2; i++) {
    for (const one of [payer, stranger]) {
      const { data } = await one.owner.client(intentsArea).listIntents();
      expect(new Set(data.map(({ ownerId }) => ownerId))).toEqual(new Set([one.owner.ownerId]));
    }
  }
  const { data } = await stranger.owner.client(intentsArea).listIntents();
  await world.sql("update intents set expires_at = now() - interval '1 day' where id = $1", [data[0]?.id]);
  const [late] = (await stranger.owner.client(intentsArea).listIntents()).data;
  expect(late).toMatchObject({ id: data[0]?.id, status: 'expired' });
});
