/**
 * Goal: access to a card is decided as its payment would be, every decision is recorded once and never changes, and an
 * agent sees its own. Method: HTTP, PostgreSQL, events; the writer in a transaction.
 * @module
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { cardsArea } from '../../../src/domains/cards/cards/card.contract.ts';
import { accessEventsArea } from '../../../src/domains/oversight/access-events/access-event.contract.ts';
import { accessKinds } from '../../../src/events/access.rules.ts';
import { recordAccess } from '../../../src/events/access.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { day, minute } from '../../../src/kernel/instant.ts';
import { eventsOf } from '../../support/events.ts';
import { anIntent, aPayer, inDatabase, type Payer } from '../../support/payments-world.ts';
import { refusalOf } from '../../support/refusals.ts';
import { businessNow, startWorld, type World } from '../../support/world.ts';

let world: World;
let payer: Payer;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(async () => {
  await world.close();
});
beforeEach(async () => {
  payer = await aPayer(world, { policy: { require_intent: false, daily_limit_cents: 10_000 } });
});

const asOwner = ({ owner }: Payer = payer) => owner.client(accessEventsArea);
const asAgent = ({ token }: Payer = payer) => world.as(token).client(accessEventsArea);
const request = (body: object = {}, by = asAgent(), { cardId }: Payer = payer) =>
  by.requestCardAccess({ params: { cardId }, body });

describe('a request of an agent', () => {
  // spec: does:Access Events:card access request logging and audit trail
  test('is granted for 15 minutes and recorded with event and audit row', async () => {
    const asked = { expectedAmount: 12.5, purpose: 'a book', reason: 'the shop asks again' };
    const granted = await request(asked);
    expect(granted).toMatchObject({
      kind: 'card_access',
      decision: 'granted',
      rule: 'within_rules',
      reasons: [],
      ownerId: payer.owner.ownerId,
      agentId: payer.agentId,
      cardId: payer.cardId,
      intentId: null,
      expectedAmountEuros: 12.5,
      purpose: 'a book',
      reason: 'the shop asks again',
      actor: `agent:${payer.agentId}`,
    });
    expect(Date.parse(granted.expiresAt ?? '') - Date.parse(granted.createdAt)).toBe(15 * minute);
    expect(await asAgent().getAccessEvent({ params: { id: granted.id } })).toEqual(granted);
    const [event] = await eventsOf(world, granted.id);
    expect(event).toEqual({
      name: 'access.granted',
      agent_id: payer.agentId,
      data: {
        ...{ id: granted.id, ownerId: granted.ownerId, agentId: payer.agentId, cardId: payer.cardId, intentId: null },
        ...{ kind: 'card_access', decision: 'granted', rule: 'within_rules' },
        ...{ expiresAt: granted.expiresAt, createdAt: granted.createdAt },
      },
    });
    const audited = await world.sql('select actor, action, request_id from audit where subject_id = $1', [granted.id]);
    expect(audited).toEqual([
      { actor: `agent:${payer.agentId}`, action: 'access.granted', request_id: granted.requestId },
    ]);
  });

  test('is denied with 200 and the figures where a rule objects', async () => {
    const denied = await request({ expectedAmount: 100.01 });
    expect(denied).toMatchObject({
      decision: 'denied',
      rule: 'daily_limit',
      reasons: ['daily limit 100.00, spent 0.00, asked 100.01'],
      expiresAt: null,
    });
    expect((await eventsOf(world, denied.id)).map(({ name }) => name)).toEqual(['access.denied']);
  });

  test('is denied while the card or the agent is frozen', async () => {
    await payer.owner.client(cardsArea).freezeCard({ params: { cardId: payer.cardId } });
    expect(await request()).toMatchObject({ decision: 'denied', rule: 'card_status', reasons: ['the card is frozen'] });
    await world.sql(`update agents set status = 'frozen' where id = $1`, [payer.agentId]);
    expect(await request()).toMatchObject({
      decision: 'denied',
      rule: 'agent_status',
      reasons: ['the agent is frozen'],
    });
  });

  test('without an amount asks whether the card may be used at all', async () => {
    expect(await request()).toMatchObject({ decision: 'granted', expectedAmountEuros: null });
  });

  test('is answered once for an Idempotency-Key', async () => {
    const send = () =>
      fetch(`${world.apiUrl}/cards/${payer.cardId}/access`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${payer.token}`,
          'Content-Type': 'application/json',
          'Idempotency-Key': payer.cardId,
        },
        body: '{}',
      });
    const [first, again] = [await send(), await send()];
    expect([first.status, again.status, again.headers.get('Idempotent-Replayed')]).toEqual([200, 200, 'true']);
    expect(await again.json()).toEqual(await first.json());
    expect((await asAgent().listAccessEvents({ query: {} })).data).toHaveLength(1);
  });
});

describe('a request for an intent', () => {
  test('is evaluated with the amount and merchant of the intent', async () => {
    await world.sql(`update policies set require_intent = true, merchant_blocklist = '{Casino}' where id = $1`, [
      payer.policyId,
    ]);
    expect(await request()).toMatchObject({ decision: 'denied', rule: 'require_intent' });
    const intentId = await anIntent(world, payer);
    expect(await request({ intentId })).toMatchObject({ decision: 'granted', intentId, expectedAmountEuros: 12.5 });
    const blocked = await anIntent(world, payer, { merchant: 'Casino' });
    expect(await request({ intentId: blocked })).toMatchObject({ decision: 'denied', rule: 'merchant_blocklist' });
  });

  test('is denied while a person has to approve it, and granted afterwards', async () => {
    await world.sql('update policies set auto_approve_limit_cents = 1000 where id = $1', [payer.policyId]);
    expect(await request({ expectedAmount: 12.5 })).toMatchObject({ decision: 'denied', rule: 'auto_approve_limit' });
    const waiting = await anIntent(world, payer, { status: 'pending_approval' });
    expect(await request({ intentId: waiting })).toMatchObject({
      decision: 'denied',
      rule: 'intent',
      reasons: [`intent ${waiting} is pending_approval`],
    });
    const approved = await anIntent(world, payer, { isAutoApproved: false });
    expect(await request({ intentId: approved })).toMatchObject({ decision: 'granted' });
  });

  test('is denied for more than the intent, for another card, and after its deadline', async () => {
    const intentId = await anIntent(world, payer);
    expect(await request({ intentId, expectedAmount: 12.51 })).toMatchObject({
      decision: 'denied',
      reasons: [`intent ${intentId} expects 12.50, asked 12.51`],
    });
    const other = await aPayer(world, { owner: payer.owner, policy: { require_intent: false } });
    expect(await request({ intentId }, asOwner(), other)).toMatchObject({
      decision: 'denied',
      reasons: [`intent ${intentId} is for card ${payer.cardId}`],
      agentId: other.agentId,
    });
    await world.sql(`update intents set expires_at = $2 where id = $1`, [
      intentId,
      new Date((await businessNow(world)).getTime() - minute),
    ]);
    expect(await request({ intentId })).toMatchObject({ reasons: [`intent ${intentId} is expired`] });
  });
});

describe('the list', () => {
  test('has every filter, newest first', async () => {
    const other = await aPayer(world, { owner: payer.owner, policy: { require_intent: false } });
    const granted = await request();
    const denied = await request({ expectedAmount: 101 });
    const ofOther = await request({}, asOwner(), other);
    const ids = async (query: object) => (await asOwner().listAccessEvents({ query })).data.map(({ id }) => id);
    expect(await ids({})).toEqual([ofOther.id, denied.id, granted.id]);
    expect(await ids({ decision: 'denied' })).toEqual([denied.id]);
    expect(await ids({ cardId: payer.cardId, decision: 'granted' })).toEqual([granted.id]);
    expect(await ids({ agentId: other.agentId })).toEqual([ofOther.id]);
    expect(await ids({ kind: 'card_reveal' })).toEqual([]);
    expect(await ids({ kind: 'card_access', from: denied.createdAt })).toEqual([ofOther.id, denied.id]);
    expect(await ids({ to: denied.createdAt })).toEqual([granted.id]);
    expect((await asAgent(other).listAccessEvents({ query: {} })).data.map(({ id }) => id)).toEqual([ofOther.id]);
    expect((await refusalOf(asAgent(other).listAccessEvents({ query: { agentId: payer.agentId } })))[0]).toBe(403);
    expect((await refusalOf(asAgent(other).getAccessEvent({ params: { id: granted.id } })))[0]).toBe(403);
  });
});

test('an agent asks at most 1,000 times a day', async () => {
  const now = await businessNow(world);
  const insert = (count: number, at: Date) =>
    world.sql(
      `insert into access_events (id, owner_id, agent_id, card_id, kind, decision, reasons, actor, request_id, created_at)
       select $1 || n, $2, $3, $4, 'card_access', 'granted', '[]', 'system', 'test', $5 from generate_series(1, $6::int) n`,
      [newId('accessEvent'), payer.owner.ownerId, payer.agentId, payer.cardId, at, count],
    );
  await insert(1_000, new Date(now.getTime() - day));
  await insert(999, now);
  expect(await request()).toMatchObject({ decision: 'granted' });
  expect(await refusalOf(request())).toEqual([
    400,
    'you have 1000 access requests of this agent today, and 1000 is the limit; go on tomorrow (UTC)',
  ]);
});

test('an access event never changes', async () => {
  const { id } = await request();
  for (const change of [`update access_events set decision = 'denied'`, 'delete from access_events']) {
    await expect(world.sql(`${change} where id = $1`, [id])).rejects.toThrow('append-only');
  }
});

test.each(accessKinds)(
  'the writer records %s in the transaction of its caller, and nothing when that fails',
  async (kind) => {
    const at = await businessNow(world);
    const cause = { causeId: 'test', requestId: 'test', actor: { kind: 'system' }, at } as const;
    const { ownerId } = payer.owner;
    const access = (id: ReturnType<typeof newId<'accessEvent'>>) =>
      ({ id, ownerId, kind, decision: 'granted', agentId: payer.agentId, cardId: payer.cardId }) as const;
    const [kept, lost] = [newId('accessEvent'), newId('accessEvent')];
    await inDatabase(world, async (database) => {
      await database.write((tx) => recordAccess(tx, cause, access(kept)));
      const failing = database.write(async (tx) => {
        await recordAccess(tx, cause, access(lost));
        throw new Error('the operation failed');
      });
      await expect(failing).rejects.toThrow('the operation failed');
    });
    const { data } = await asOwner().listAccessEvents({ query: { kind } });
    expect(data.map(({ id, rule, expiresAt }) => ({ id, rule, expiresAt }))).toEqual([
      { id: kept, rule: null, expiresAt: null },
    ]);
    expect(await eventsOf(world, lost)).toEqual([]);
  },
);

test('a card that does not exist is not found', async () => {
  const cardId = newId('card');
  const asked = asAgent().requestCardAccess({ params: { cardId }, body: {} });
  expect(await refusalOf(asked)).toEqual([404, `no card ${cardId}`]);
});
