/**
 * Goal: the SQL function that writes a decision writes every column that the entities have, and moves an intent exactly
 * as `moveIntent` says. Method: its text against the entities' columns; decisions over random states in PostgreSQL.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import * as z from 'zod';
import { databaseOf } from '../../../src/db/database.ts';
import { type Orm, openDatabase } from '../../../src/db/orm.ts';
import { oneRowOf } from '../../../src/db/statement.ts';
import { type Decision, decideAuthorization } from '../../../src/domains/payments/network/authorization.rules.ts';
import {
  type AuthorizationFacts,
  decisionFactsOf,
  loadAuthorizationFacts,
  type OpenIntent,
} from '../../../src/domains/payments/network/authorization-facts.ts';
import { writingOf } from '../../../src/domains/payments/network/authorization-write.ts';
import { authorizationMessage } from '../../../src/domains/payments/network/network.contract.ts';
import { TransactionRow } from '../../../src/domains/payments/transactions/transaction.entity.ts';
import { IntentRow } from '../../../src/domains/spending/intents/intent.entity.ts';
import {
  type IntentStatus,
  intentStatuses,
  isFinalIntent,
  moveIntent,
} from '../../../src/domains/spending/intents/intent.rules.ts';
import { applyToIntent } from '../../../src/domains/spending/intents/intent.service.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { entities } from '../../../src/main/modules/index.ts';
import { anIntent, aPayer, networkOf, type Payer, sandboxShop } from '../../support/payments-world.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
let orm: Orm;
let payer: Payer;
beforeAll(async () => {
  world = await startWorld();
  orm = await openDatabase({ url: world.config.DATABASE_URL, entities, poolSize: 3, applicationName: 'test' });
  payer = await aPayer(world, { fundsCents: 100_000_000 });
});
afterAll(async () => {
  await orm.close();
  await world.close();
});

const functionText = (name: string): Promise<string> =>
  readFile(new URL(`../../../src/db/functions/${name}.sql`, import.meta.url), 'utf8');

/** Columns of the entity that the ORM writes. */
const columnsOf = (entity: typeof TransactionRow): string[] =>
  orm.em
    .getMetadata()
    .get(entity)
    .props.filter(({ persist, fieldNames }) => persist !== false && fieldNames !== undefined)
    .flatMap(({ fieldNames }) => fieldNames)
    .sort();

const columnsOfTable = async (table: string): Promise<string[]> =>
  (
    await world.sql<{ name: string }>(
      `select column_name as name from information_schema.columns where table_name = $1 and table_schema = 'public'`,
      [table],
    )
  )
    .map(({ name }) => name)
    .sort();

const names = (list: string): string[] =>
  list
    .split(',')
    .map((name) => name.trim())
    .sort();

const without = (all: readonly string[], some: readonly string[]): string[] =>
  all.filter((name) => !some.includes(name));

describe('the column lists', () => {
  test('an authorization inserts every column of a transaction but those that only later messages set', async () => {
    const text = await functionText('apply-authorization');
    const [, inserted = '', selected = ''] =
      /insert into transactions \(([^)]*)\)\s+select ([\s\S]*?)\s+from jsonb_populate_record\(null::transactions/.exec(
        text,
      ) ?? [];
    expect(names(selected)).toEqual(names(inserted));
    const setLater = [
      ...['cleared_cents', 'reversed_cents', 'refunded_cents', 'is_final', 'issuer_settlement_id'],
      ...['verified', 'verified_at', 'mismatch', 'memo', 'original_transaction_id'],
      ...['link_until', 'confirmed_at', 'confirm_cause', 'currency', 'version'],
    ].sort();
    const columns = columnsOf(TransactionRow);
    expect(without(columns, names(inserted))).toEqual(without(setLater, without(setLater, columns)));
    expect(without(names(inserted), columns)).toEqual([]);
  });

  test.each([
    [
      'a confirmed transaction',
      't.link_until is not null',
      ['intent_id', 'decline_rule', 'decline_reason', 'completed_at', 'status'],
    ],
    [
      'a transaction that was collected before',
      "'orphan' ->> 'version'",
      ['adapter', 'authorization_id', 'funding_source', 'wallet_id'],
    ],
  ])('linking %s sets known columns only, each to the column of the same name', async (_what, end, kept) => {
    const text = await functionText('apply-authorization');
    const updates = text.split('update transactions t set ').slice(1);
    const update = updates.find((one) => one.slice(0, one.indexOf('if not found')).includes(end)) ?? '';
    const assignments = update.slice(0, update.indexOf('from jsonb_populate_record'));
    const set = [...assignments.matchAll(/(\w+) = (?:n\.(\w+)|case n\.(\w+)|null|t\.version \+ 1)/g)];
    const columns = columnsOf(TransactionRow);
    expect(set.length).toBeGreaterThan(15);
    for (const [, column = '', ...sources] of set) {
      expect(columns).toContain(column);
      const [source = column] = sources.filter((one) => one !== undefined);
      expect(source).toBe(column);
    }
    expect(set.map(([, column]) => column).filter((column) => kept.includes(column ?? ''))).toEqual([]);
  });

  test('rows of decisions, events and audit are inserted with every column of their tables', async () => {
    const [apply, record] = [await functionText('apply-authorization'), await functionText('record-changes')];
    for (const [text, table, made] of [
      [apply, 'decisions', ['seq', 'message_kind', 'message_id']],
      [apply, 'events', ['seq']],
      [apply, 'audit', []],
      [record, 'events', ['seq']],
      [record, 'audit', []],
    ] as const) {
      const [, inserted = '', selected = ''] =
        new RegExp(`insert into ${table} \\(([^)]*)\\)\\s+select ([\\s\\S]*?)\\s+from jsonb_`).exec(text) ?? [];
      expect([table, names(selected)]).toEqual([table, names(inserted)]);
      expect([table, [...names(inserted), ...made].sort()]).toEqual([table, await columnsOfTable(table)]);
    }
  });

  test('a batch writes the columns that a single decision writes, in each table', async () => {
    const [one, many] = [await functionText('apply-authorization'), await functionText('apply-authorizations')];
    const columnsIn = (text: string, table: string): string[] => {
      const insert = new RegExp(`insert into ${table} \\(([^)]*)\\)\\s+select ([\\s\\S]*?)\\s+from jsonb_`);
      const [, inserted = '', selected = ''] = insert.exec(text) ?? [];
      expect(names(selected)).toEqual(names(inserted));
      return names(inserted);
    };
    for (const table of ['transactions', 'decisions', 'events', 'audit']) {
      expect([table, columnsIn(many, table)]).toEqual([table, columnsIn(one, table)]);
      expect(columnsIn(many, table).length).toBeGreaterThan(5);
    }
    const setLater: Record<string, readonly string[]> = {
      network_messages: ['is_waiting', 'body', 'unbooked_reason', 'settled_as', 'settled_reason', 'settled_at'],
      transaction_events: ['seq', 'is_final'],
    };
    for (const [table, later] of Object.entries(setLater)) {
      const inserted = (text: string) => names(new RegExp(`insert into ${table} \\(([^)]*)\\)`).exec(text)?.[1] ?? '');
      expect([table, inserted(many)]).toEqual([table, inserted(one)]);
      expect([table, [...inserted(many), ...later].sort()]).toEqual([table, await columnsOfTable(table)]);
    }
  });

  test('a batch moves an intent and its run by the columns that a single decision sets, from the same values', async () => {
    const [one, many] = [await functionText('apply-authorization'), await functionText('apply-authorizations')];
    const setIn = (text: string, table: string, end: string): string[] => {
      const updates = text.split(new RegExp(`update ${table} (?:\\w+ )?set `)).slice(1);
      const assigned = updates.map((update) => update.slice(0, update.search(new RegExp(`\\s(?:${end})\\s`))));
      // Of intents also the column of the windows, which no batch writes.
      const moving = assigned.filter((update) => !update.includes('window_number'));
      return moving
        .flatMap((update) => [...update.matchAll(/(\w+) = (?:\(?(?:v_intent|m\.value) ->> '(\w+)')?/g)])
        .map(([, column, value]) => [column, value].filter((name) => name !== undefined).join(' from '));
    };
    const intents = (text: string) =>
      setIn(text, 'intents', 'where|from').filter((name) => !name.startsWith('updated_at'));
    expect(intents(many)).toEqual(intents(one));
    expect(intents(many)).toEqual([
      'status from to',
      'matched_transaction_id from matchedTransactionId',
      'transaction_id from transactionId',
      'denied_reason from deniedReason',
    ]);
    const runs = (text: string) =>
      [...new Set(setIn(text, 'workflow_runs', 'where|from').map((name) => name.split(' ')[0]))].sort();
    expect(runs(many)).toEqual(['due_at', 'is_open', 'wanted_wake']);
    expect(runs(one)).toEqual(expect.arrayContaining(runs(many)));
  });

  test('the stored row of an approved and of a declined authorization equals the row that was built', async () => {
    for (const amountCents of [1_250, 200_000_000]) {
      const { received, facts } = await asked(amountCents);
      const decision = decided(facts, received);
      const { payload, transactionId } = writingOf(received, facts, decision);
      await applied(payload);
      const [row] = await world.sql<{ row: Record<string, unknown> }>(
        'select to_jsonb(t) as row from transactions t where id = $1',
        [transactionId],
      );
      const built = JSON.parse(JSON.stringify(payload.transaction)) as Record<string, unknown>;
      const read = row?.row ?? {};
      const differing = Object.keys(built).filter((column) => !isSame(built[column], read[column]));
      expect(differing).toEqual([]);
    }
  });
});

const isSame = (built: unknown, read: unknown): boolean => {
  if (typeof built === 'string' && typeof read === 'string' && /^\d{4}-\d\d-\d\dT/.test(built)) {
    return Date.parse(built) === Date.parse(read);
  }
  return (built ?? null) === (read ?? null);
};

async function asked(amountCents: number) {
  const message = authorizationMessage.parse({
    ...networkOf(world).authorizationOf(payer, { amountCents, merchant: sandboxShop }),
  });
  const at = new Date();
  const cause = {
    causeId: `network:sandbox:${message.id}`,
    requestId: randomUUID(),
    actor: { kind: 'network' },
    at,
  } as const;
  const received = { adapter: 'sandbox', message, requestHash: 'hash', cause };
  const question = { adapter: 'sandbox', id: message.id, cardRef: message.cardRef, tokenHash: null, at };
  const loaded = await loadAuthorizationFacts(databaseOf(orm).read(), question);
  if (!('facts' in loaded)) throw new Error('no facts');
  return { received, facts: loaded.facts };
}

type Received = Awaited<ReturnType<typeof asked>>['received'];

const decided = (facts: AuthorizationFacts, { message, cause }: Received): Decision =>
  decideAuthorization(
    decisionFactsOf(
      facts,
      message,
      {
        amountCents: message.amountCents,
        merchant: { id: message.merchant.id, name: message.merchant.name },
        mcc: message.merchant.mcc,
        country: message.merchant.country,
        kind: message.kind,
        recurring: message.recurring,
      },
      { at: cause.at, risk: { outcome: 'allow', signals: [] } },
    ),
  );

const applied = (payload: object) =>
  oneRowOf(
    databaseOf(orm).read(),
    z.object({ applied: z.unknown() }),
    'select apply_authorization($1::jsonb) as applied',
    [JSON.stringify(payload)],
  );

const intentRow = async (id: string): Promise<IntentRow> => {
  const row = await orm.em.fork().findOne(IntentRow, { id: id as IntentRow['id'] });
  if (row === null) throw new Error(`no intent ${id}`);
  return row;
};

describe('the open intents of a card', () => {
  test('what is read of each is what its row says, and what is left out of one for a single payment is null there', async () => {
    const attested = await anIntent(world, payer, { amountCents: 4_711 });
    const kept = await anIntent(world, payer, { amountCents: 4_712 });
    const monthly = await anIntent(world, payer, { amountCents: 4_713 });
    const declinedCharge = {
      transactionId: newId('transaction'),
      merchant: { id: 'sandbox-shop', name: 'Sandbox Shop', mcc: '5734', country: 'DE' },
      rule: 'blocked_mcc',
      figures: { mcc: '5734' },
    };
    await world.sql(
      `update intents set attested_at = now(), attested_by = 'a person', approved_at = now(), approved_by = 'a person',
         transaction_id = $2, verified = true, run_id = 'run', policy_version = 3, client_intent_id = 'mine'
       where id = $1`,
      [attested, newId('transaction')],
    );
    await world.sql(
      `update intents set open_payment_id = 'mpp_1', open_payment_at = now(), is_auto_approved = false,
         declined_charge = $2::jsonb where id = $1`,
      [kept, JSON.stringify(declinedCharge)],
    );
    await world.sql(
      `update intents set recurring = $2::jsonb, anchor_at = now(), expires_at = now() + interval '90 days',
         window_number = 1, window_due_at = now(), window_from_at = now() - interval '1 day',
         window_to_at = now() + interval '1 day' where id = $1`,
      [monthly, JSON.stringify({ every: 'month', count: 3, merchantMatch: true, amountTolerancePercent: 5 })],
    );
    const { facts } = await asked(1_250);
    for (const id of [attested, kept, monthly]) {
      const read = facts.intents.find((intent) => intent.id === id);
      if (read === undefined) throw new Error(`intent ${id} was not read`);
      const { taken, ...columns } = read;
      const row: Readonly<Record<string, unknown>> = { ...(await intentRow(id)) };
      expect(Object.entries(columns).map(([name, value]) => [name, value ?? null])).toEqual(
        Object.keys(columns).map((name) => [name, row[name] ?? null]),
      );
      expect(taken ?? null).toBeNull();
    }
    await world.sql(`update intents set status = 'cancelled' where id = any ($1)`, [[attested, kept, monthly]]);
  });
});

const aState = fc.record({
  status: fc.constantFrom(...intentStatuses),
  isMatched: fc.boolean(),
  isApproved: fc.boolean(),
});

type State = { status: IntentStatus; isMatched: boolean; isApproved: boolean };
const everyState: [State][] = intentStatuses.flatMap((status) =>
  [true, false].flatMap((isApproved) => [true, false].map((isMatched): [State] => [{ status, isMatched, isApproved }])),
);

/** An intent in that state, whether or not any command leads there. */
async function intentIn({ status, isMatched }: { status: string; isMatched: boolean }): Promise<string> {
  const id = await anIntent(world, payer, { status });
  if (isMatched) {
    await world.sql('update intents set matched_transaction_id = $2, transaction_id = $2 where id = $1', [
      id,
      newId('transaction'),
    ]);
  }
  return id;
}

const trail = async (id: string) => {
  const transitions = await world.sql(
    `select from_status, to_status from transitions where noun = 'intent' and row_id = $1`,
    [id],
  );
  const [run] = await world.sql('select is_open, wanted_wake, due_at from workflow_runs where subject_id = $1', [id]);
  return { transitions, run };
};

const standing = ({ status, matchedTransactionId, completedAt, approvedBy, version }: IntentRow) => ({
  ...{ status, isMatched: matchedTransactionId != null, completedAt, approvedBy, version },
});

test('an approved charge matches its intent, and a declined one of a checkout fails it, exactly where moveIntent allows it', async () => {
  await fc.assert(
    fc.asyncProperty(aState, async (state) => {
      const id = await intentIn(state);
      const twin = await intentIn(state);
      const before = await intentRow(id);
      const { received, facts: loaded } = await asked(state.isApproved ? 1_250 : 200_000_000);
      const token: AuthorizationFacts['token'] = {
        kind: 'checkout',
        id: newId('checkout'),
        intentId: id,
        ceilingCents: null,
        isUsed: false,
        isExpired: false,
        isRevoked: false,
        recipient: null,
        host: null,
        transactionId: null,
        requestId: randomUUID(),
        runId: null,
      };
      const facts = { ...loaded, intents: [before as OpenIntent], token: state.isApproved ? null : token };
      const allowed = decided({ ...loaded, intents: [] }, received);
      expect(allowed.outcome).toBe(state.isApproved ? 'approved' : 'declined');
      const candidate = state.isApproved ? ({ id } as Decision['candidate']) : undefined;
      await applied(writingOf(received, facts, { ...allowed, candidate }).payload);

      const kind = state.isApproved ? 'match' : 'fail';
      const from = {
        status: before.status,
        matchedTransactionId: before.matchedTransactionId ?? null,
        transferId: before.transferId ?? null,
        openPaymentId: before.openPaymentId ?? null,
        isRecurring: false,
      };
      const move = moveIntent(from, kind, false);
      const after = await intentRow(id);
      if (move.outcome !== 'moved') {
        expect(standing(after)).toEqual(standing(before));
        expect((await trail(id)).transitions).toEqual([]);
        return;
      }
      expect(after.status).toBe(move.next);
      expect((await trail(id)).run).toMatchObject({ is_open: !isFinalIntent(move.next), wanted_wake: true });
      // The same command through the entity leaves the same intent, transition and workflow run.
      const command =
        kind === 'match'
          ? ({ kind, transactionId: newId('transaction') } as const)
          : ({ kind, reason: 'declined' } as const);
      await databaseOf(orm).write((tx) => applyToIntent(tx, twin, command, received.cause));
      expect(standing(after)).toEqual(standing(await intentRow(twin)));
      expect(await trail(id)).toEqual(await trail(twin));
    }),
    {
      numRuns: 60,
      examples: everyState,
    },
  );
});
