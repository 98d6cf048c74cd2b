/**
 * Goal: of several grants at once never more is granted than the limits allow, and none to an agent that is being
 * closed. Method: real HTTP and rows; each race is run over many agents, because one run may happen to be in order.
 * @module
 */

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { allowAllRisk } from '../../../src/adapters/risk/allow-all.ts';
import { storeIssuedCard } from '../../../src/domains/cards/cards/card.issue.service.ts';
import { prepareRotation } from '../../../src/domains/cards/cards/card.rotate.service.ts';
import { intentsArea } from '../../../src/domains/spending/intents/intent.contract.ts';
import { newId, uuidv7 } from '../../../src/kernel/ids.ts';
import { type Infrastructure, openInfrastructure } from '../../../src/main/infrastructure.ts';
import { entities, workflows } from '../../../src/main/modules/index.ts';
import type { Cause } from '../../../src/platform/cause.ts';
import { reassignPayments } from '../../../src/usecases/cards/rotate-card.ts';
import { decideIntent } from '../../../src/usecases/spending/decide-intent.ts';
import { anAgentWithCard } from '../../support/factories/agent-with-card.ts';
import { clientsOf } from '../../support/factories/records.ts';
import { someoneWaits } from '../../support/lock-waits.ts';
import { reached } from '../../support/reached.ts';
import { type Owner, startWorld, type World } from '../../support/world.ts';

let world: World;
let owner: Owner;
let infrastructure: Infrastructure;
beforeAll(async () => {
  world = await startWorld();
  owner = await world.owner();
  await clientsOf(owner).fund.fundWallet({ body: { amountEuros: 500 } }); // A closed agent's money has a place to go.
  infrastructure = await openInfrastructure(world.config, { name: 'races', entities, workflows });
});
afterAll(async () => {
  await infrastructure.close();
  await world.close();
});

/** As the factory makes them: a daily limit of 100.00 and nothing else. */
const agents = (count: number) => inOrder(Array.from({ length: count }, () => () => anAgentWithCard(world, owner)));
const inOrder = async <T>(steps: (() => Promise<T>)[]): Promise<T[]> => {
  const done: T[] = [];
  for (const step of steps) done.push(await step());
  return done;
};
const declare = (agentId: string, expectedAmountEuros: number, more: object = {}) =>
  owner.client(intentsArea).declareIntent({ body: { agentId, purpose: 'a thing', expectedAmountEuros, ...more } });
const close = (agentId: string) => clientsOf(owner).agents.closeAgent({ params: { id: agentId } });
const approve = async (intentId: string): Promise<unknown> => {
  const { database, clock } = infrastructure;
  const causeId = uuidv7();
  const cause: Cause = { causeId, requestId: causeId, actor: { kind: 'key', id: 'key_1' }, at: await clock.now() };
  return database.write((tx) => decideIntent({ risk: allowAllRisk })(tx, intentId, { kind: 'approve' }, cause));
};
const statuses = (agentId: string) =>
  world
    .sql<{ status: string }>('select status from intents where agent_id = $1 order by status', [agentId])
    .then((found) => found.map(({ status }) => status));
const mustAsk = (agentId: string) =>
  world.sql('update policies set auto_approve_limit_cents = 0 where agent_id = $1', [agentId]);

test('of three declarations of 60 at once under a daily limit of 100 one is approved', async () => {
  for (const { agentId } of await agents(8)) {
    await Promise.all([60, 60, 60].map((amount) => declare(agentId, amount)));
    expect(await statuses(agentId)).toEqual(['approved', 'denied', 'denied']);
  }
});

test('of two concurrent approvals of 60 under a daily limit of 100 one takes effect', async () => {
  for (const { agentId } of await agents(8)) {
    await mustAsk(agentId);
    const asked = await Promise.all([60, 60].map((amount) => declare(agentId, amount)));
    const done = await Promise.allSettled(asked.map(({ id }) => approve(id)));
    expect(done.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(done.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: 'policy_denied', message: 'cannot approve: daily limit 100.00, spent 60.00, asked 60.00' },
    });
    expect(await statuses(agentId)).toEqual(['approved', 'pending_approval']);
  }
});

test('an approval and a declaration at once share the day', async () => {
  for (const { agentId } of await agents(8)) {
    await mustAsk(agentId);
    const waiting = await declare(agentId, 60);
    await world.sql('update policies set auto_approve_limit_cents = null where agent_id = $1', [agentId]);
    await Promise.allSettled([approve(waiting.id), declare(agentId, 60)]);
    expect((await statuses(agentId)).filter((status) => status === 'approved')).toHaveLength(1);
  }
});

test('a declaration that is concurrent with the close of its agent leaves no open intent', async () => {
  for (const { agentId } of await agents(12)) {
    const [, closed] = await Promise.allSettled([declare(agentId, 10), close(agentId), declare(agentId, 10)]);
    expect(closed.status).toBe('fulfilled');
    expect((await statuses(agentId)).filter((status) => status !== 'cancelled')).toEqual([]);
  }
});

test('an approval that is concurrent with the close of its agent leaves no open intent', async () => {
  for (const { agentId } of await agents(12)) {
    await mustAsk(agentId);
    const { id } = await declare(agentId, 10);
    const [, closed] = await Promise.allSettled([approve(id), close(agentId)]);
    expect(closed.status).toBe('fulfilled');
    expect(await statuses(agentId)).toEqual(['cancelled']);
  }
});

test('an approval that waits for a new card number to come is for the new card', async () => {
  const [{ agentId, cardId } = { agentId: '', cardId: '' }] = await agents(1);
  await mustAsk(agentId);
  const { id } = await declare(agentId, 10);
  const newCardId = newId('card');
  const issued = { cardRef: `ref_${newCardId}`, last4: '0005', brand: 'visa', expiryMonth: 2, expiryYear: 2030 };
  const { database, clock } = infrastructure;
  const at = await clock.now();
  const cause: Cause = { causeId: uuidv7(), requestId: 'rotate', actor: { kind: 'system' }, at };
  await database.write((tx) =>
    prepareRotation(tx, cause, { newId: newCardId, cardId: reached(cardId), ownerId: owner.ownerId }),
  );
  let approval: Promise<unknown> = Promise.resolve();
  await database.write(async (tx) => {
    await storeIssuedCard(tx, newCardId, issued, at, (inner, told) =>
      reassignPayments(inner, told, { agentId, from: cardId, to: newCardId }),
    );
    approval = approve(id);
    approval.catch(() => undefined); // Looked at once the rotation is done.
    await someoneWaits(world);
  });
  await approval;
  expect(await world.sql('select status, card_id from intents where id = $1', [id])).toEqual([
    { status: 'approved', card_id: newCardId },
  ]);
});

test('none of it made PostgreSQL end a deadlock', async () => {
  const [seen] = await world.sql<{ deadlocks: string }>(
    'select deadlocks from pg_stat_database where datname = current_database()',
  );
  expect(Number(seen?.deadlocks)).toBe(0);
});

test('the same clientIntentId at once makes one intent', async () => {
  const [{ agentId } = { agentId: '' }] = await agents(1);
  const both = await Promise.all([1, 2, 3].map(() => declare(agentId, 10, { clientIntentId: 'order-7' })));
  expect(new Set(both.map(({ id }) => id)).size).toBe(1);
  expect(await statuses(agentId)).toEqual(['approved']);
});
