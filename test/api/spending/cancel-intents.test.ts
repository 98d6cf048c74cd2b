/**
 * Goal: the revoking command that closes an agent cancels exactly what the rule lets it cancel, each once, in as many statements
 * for a hundred intents as for one. Method: real rows in every state.
 * @module
 */
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { cancelIntentsOf } from '../../../src/domains/spending/intents/intent.cancel.service.ts';
import { intentStatuses, moveIntent } from '../../../src/domains/spending/intents/intent.rules.ts';
import { moveWindow, windowStatuses } from '../../../src/domains/spending/intents/windows/window.rules.ts';
import { newId, uuidv7 } from '../../../src/kernel/ids.ts';
import { day, later } from '../../../src/kernel/instant.ts';
import { type Infrastructure, openInfrastructure } from '../../../src/main/infrastructure.ts';
import { entities, workflows } from '../../../src/main/modules/index.ts';
import type { Cause } from '../../../src/platform/cause.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
let infrastructure: Infrastructure;
beforeAll(async () => {
  world = await startWorld();
  infrastructure = await openInfrastructure(world.config, { name: 'cancel', entities, workflows });
});
afterAll(async () => {
  await infrastructure.close();
  await world.close();
});

const at = new Date('2027-03-01T10:00:00Z');
const causeOf = (causeId: string = uuidv7()): Cause => ({ causeId, requestId: 'r', actor: { kind: 'system' }, at });

async function intent(agentId: string, status: string, matched: string | null = null): Promise<string> {
  const id = newId('intent');
  await world.sql(
    `insert into intents (id, owner_id, agent_id, purpose, expected_amount_cents, card_id, status, expires_at,
       policy_check, matched_transaction_id, request_id, created_at, updated_at)
     values ($1, 'own_aaaaaaaa', $2, 'a thing', 100, 'ca_aaaaaaaa', $3, $4,
       '{"allowed":true,"requiresApproval":false,"reason":null}', $5, 'r', $4, $4)`,
    [id, agentId, status, at, matched],
  );
  await world.sql(
    `insert into workflow_runs (id, workflow, subject_id, owner_id, agent_id, stage, due_at, created_at)
     values ($1, 'intentLifecycle', $2, 'own_aaaaaaaa', $3, $4, $5, $5)`,
    [`intent/${id}`, id, agentId, status, at],
  );
  return id;
}

/** Cancels, and answers how many statements that took. */
async function cancel(agentId: string, cause = causeOf()) {
  let statements = 0;
  const cancelled = await infrastructure.database.write(async (tx) => {
    const sent = jest.spyOn(tx.getTransactionContext<{ executeQuery: () => unknown }>()!, 'executeQuery');
    const { length: count } = await cancelIntentsOf(tx, cause, agentId);
    statements = sent.mock.calls.length;
    return count;
  });
  return { cancelled, statements };
}

test('exactly the intents that the rule permits are cancelled', async () => {
  const agentId = newId('agent');
  await intent(newId('agent'), 'approved');
  const made: [id: string, expected: string][] = [];
  for (const status of intentStatuses) {
    for (const matched of [null, 'tx_aaaaaaaa']) {
      const move = moveIntent(
        { status, matchedTransactionId: matched, transferId: null, openPaymentId: null, isRecurring: false },
        'cancel',
        false,
      );
      made.push([await intent(agentId, status, matched), move.outcome === 'moved' ? 'cancelled' : status]);
    }
  }
  // Only what a payment is for may be matched; the others are here to be left alone.
  const { cancelled } = await cancel(agentId);
  const after = await world.sql<{ id: string; status: string; version: number; updated_at: Date }>(
    'select id, status, version, updated_at from intents where agent_id = $1 order by id',
    [agentId],
  );
  expect(after.map(({ id, status }) => [id, status])).toEqual([...made].sort());
  const moved = after.filter(({ version }) => version === 2);
  expect(moved).toHaveLength(2);
  expect(cancelled).toBe(2);
  const ids = moved.map(({ id }) => id);
  const events = await world.sql<{ subject_id: string; name: string; data: { id: string; status: string } }>(
    'select subject_id, name, data from events where agent_id = $1 order by subject_id',
    [agentId],
  );
  expect(events.map(({ subject_id, name, data }) => [subject_id, name, data.id, data.status])).toEqual(
    ids.map((id) => [id, 'intent.cancelled', id, 'cancelled']),
  );
  expect(await world.sql('select subject_id from audit where agent_id = $1 order by 1', [agentId])).toEqual(
    ids.map((subject_id) => ({ subject_id })),
  );
  expect(
    await world.sql('select subject_id, wanted_wake, due_at from workflow_runs where agent_id = $1 and not is_open', [
      agentId,
    ]),
  ).toEqual(expect.arrayContaining(ids.map((subject_id) => ({ subject_id, wanted_wake: true, due_at: null }))));
  expect(
    await world.sql('select row_id from transitions where row_id = any($1) order by 1', [made.map(([id]) => id)]),
  ).toEqual(ids.map((row_id) => ({ row_id })));
});

const recurring = {
  cadence: 'daily',
  windowStartDaysBefore: 0,
  windowEndDaysAfter: 0,
  amountTolerancePercent: 0,
  merchantMatch: true,
};

/** Of a recurring intent, with a window of each kind; `open` was paid for and given back. */
async function recurringIntent(agentId: string): Promise<string> {
  const id = await intent(agentId, 'approved');
  await world.sql('update intents set recurring = $2, anchor_at = $3 where id = $1', [id, recurring, at]);
  await world.sql(
    `insert into intent_windows (intent_id, number, due_at, from_at, to_at, status, transaction_id, completed_at,
       created_at, updated_at)
     select $1::text, number, $2::timestamptz, $2, $2::timestamptz + interval '1 day', status,
       case when status in ('matched', 'completed') then $1 || '/' || number end,
       case when status = 'completed' then $2 end, $2, $2
     from unnest($3::text[]) with ordinality as w(status, number)`,
    [id, at, [...windowStatuses]],
  );
  return id;
}

test('exactly the windows that the rule permits are missed, with an event each', async () => {
  const agentId = newId('agent');
  const ids = [await recurringIntent(agentId), await recurringIntent(agentId)].sort();
  const untouched = await recurringIntent(newId('agent'));
  await cancel(agentId);
  const after = await world.sql<{ intent_id: string; number: number; status: string }>(
    'select intent_id, number, status from intent_windows where intent_id = any($1) order by intent_id, number',
    [[...ids, untouched]],
  );
  const expected = windowStatuses.map((status, index) => {
    const state = { status, transactionId: null, toAt: later(at, day) };
    const move = moveWindow(state, 'miss', { by: null, at, isIntentOver: true });
    return { number: index + 1, status: move.outcome === 'moved' ? move.next : status };
  });
  const of = (id: string) =>
    after.filter(({ intent_id }) => intent_id === id).map(({ number, status }) => ({ number, status }));
  expect(ids.map(of)).toEqual([expected, expected]);
  expect(of(untouched).map(({ status }) => status)).toEqual(windowStatuses);
  const events = await world.sql('select subject_id, name from events where agent_id = $1 order by subject_id, name', [
    agentId,
  ]);
  expect(events).toEqual(
    ids.flatMap((subject_id) => [
      { subject_id, name: 'intent.cancelled' },
      { subject_id, name: 'intent_window.missed' },
    ]),
  );
});

test('a hundred recurring ones take as many statements as one', async () => {
  const [one, hundred] = [newId('agent'), newId('agent')];
  await recurringIntent(one);
  for (let i = 0; i < 100; i++) await recurringIntent(hundred);
  const { statements } = await cancel(one);
  expect(await cancel(hundred)).toEqual({ cancelled: 100, statements });
});

test('the same cause again, and another one, change nothing more', async () => {
  const agentId = newId('agent');
  await intent(agentId, 'approved');
  const cause = causeOf();
  expect((await cancel(agentId, cause)).cancelled).toBe(1);
  expect((await cancel(agentId, cause)).cancelled).toBe(0);
  expect((await cancel(agentId)).cancelled).toBe(0);
  expect(await world.sql('select name from events where agent_id = $1', [agentId])).toHaveLength(1);
});

test('a hundred take as many statements as one', async () => {
  const [one, hundred] = [newId('agent'), newId('agent')];
  await intent(one, 'approved');
  for (let i = 0; i < 100; i++) await intent(hundred, i % 2 === 0 ? 'approved' : 'pending_approval');
  const single = await cancel(one);
  expect(single.cancelled).toBe(1);
  expect(single.statements).toBeGreaterThan(0);
  expect(await cancel(hundred)).toEqual({ cancelled: 100, statements: single.statements });
});
