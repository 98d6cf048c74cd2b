/**
 * Renaming a card, its own limits and what it may still spend, over real HTTP with Temporal out of reach: none of it
 * needs Temporal. The effect of a limit on payments is tested by network authorizations.
 * @module
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { cardsArea } from '../../../src/domains/cards/cards/card.contract.ts';
import { policiesArea } from '../../../src/domains/spending/policies/policy.contract.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { day, minute } from '../../../src/kernel/instant.ts';
import { eventNamesOf, eventsOf } from '../../support/events.ts';
import { aPayer, networkOf, type Payer } from '../../support/payments-world.ts';
import { refusal } from '../../support/refusals.ts';
import { eventually, startWorld, type World } from '../../support/world.ts';

let world: World;
let network: ReturnType<typeof networkOf>;
let payer: Payer;
beforeAll(async () => {
  world = await startWorld({ env: { TEMPORAL_ADDRESS: '127.0.0.1:9' } });
  network = networkOf(world);
});
afterAll(async () => {
  await world.close();
});
beforeEach(async () => {
  payer = await aPayer(world);
});

const cards = (by: Payer = payer) => by.owner.client(cardsArea);
const one = () => ({ params: { cardId: payer.cardId } });
const rename = (body: { name?: string; displayName?: string | null }) => cards().updateCard({ ...one(), body });
type Limits = {
  maxAmountPerTransaction?: number | null;
  dailyLimitEuros?: number | null;
  monthlyLimitEuros?: number | null;
};
const limit = (body: Limits) => cards().updateCardLimits({ ...one(), body });
const policyOf = () => cards().getCardPolicy(one());
const sendRaw = (method: string, path: string, body: unknown) =>
  payer.owner.send({ method, path, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
const rule = async (over: Record<string, unknown> = {}) => (await network.authorize(payer, over)).body.rule;

/** Another card of the same agent, straight into the table. */
async function aSecondCard(name: string, status = 'active'): Promise<`ca_${string}`> {
  const cardId = newId('card');
  await world.sql(
    `insert into cards (id, owner_id, agent_id, card_ref, synced_state, last4, brand, expiry_month, expiry_year, status, usage,
       is_primary, name, is_provisioning, origin, created_at, updated_at, closed_at)
     select $2, owner_id, agent_id, 'ref_' || $2, 'active', '1881', brand, 1, 2031, $4, 'multi', false, $3, false, origin,
       created_at, updated_at, case when $4 = 'closed' then created_at end
     from cards where id = $1`,
    [payer.cardId, cardId, name, status],
  );
  return cardId;
}

describe('renaming', () => {
  // spec: event:card.details_changed
  test('changes only the named fields, and fires one event that names them without their values', async () => {
    expect(await rename({ displayName: 'Travel' })).toMatchObject({ name: 'default', displayName: 'Travel' });
    expect(await rename({ name: 'travel' })).toMatchObject({ name: 'travel', displayName: 'Travel' });
    expect(await rename({ displayName: null })).toMatchObject({ name: 'travel', displayName: null });
    const events = await eventsOf(world, payer.cardId);
    expect(events.map(({ name, data }) => [name, data.changed])).toEqual([
      ['card.details_changed', ['displayName']],
      ['card.details_changed', ['name']],
      ['card.details_changed', ['displayName']],
    ]);
    expect(JSON.stringify(events)).not.toMatch(/travel/i);
    expect(events[0]?.data).not.toHaveProperty('cardRef');
    const audits = await world.sql('select actor, details from audit where subject_id = $1 order by id', [
      payer.cardId,
    ]);
    expect(audits[1]).toEqual({ actor: expect.stringMatching(/^key:key_/), details: { fields: ['name'] } });
  });

  test('values that are already stored are no change', async () => {
    expect(await rename({ name: 'default', displayName: null })).toMatchObject({ name: 'default' });
    expect(await eventsOf(world, payer.cardId)).toEqual([]);
  });

  test('a name is one card’s among the open cards of its agent', async () => {
    await aSecondCard('travel');
    await aSecondCard('old', 'closed');
    const sister = await aPayer(world, { owner: payer.owner, card: { name: 'sister' } });
    await expect(rename({ name: 'travel' })).rejects.toEqual(refusal(400, /a card of that name/));
    expect(await rename({ name: 'old' })).toMatchObject({ name: 'old' });
    expect(await rename({ name: 'sister' })).toMatchObject({ name: 'sister' });
    expect(sister.agentId).not.toBe(payer.agentId);
  });

  test('of ten cards renamed to one name at once one gets it', async () => {
    const ids = [payer.cardId, ...(await Promise.all(Array.from({ length: 9 }, (_, i) => aSecondCard(`card ${i}`))))];
    const asked = ids.map((cardId) => cards().updateCard({ params: { cardId }, body: { name: 'the one' } }));
    const answers = await Promise.allSettled(asked);
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const answer of answers) if (answer.status === 'rejected') expect(answer.reason).toEqual(refusal(400));
  });

  test.each([
    [{}],
    [{ name: null }],
    [{ name: '' }],
    [{ name: 'x'.repeat(61) }],
    [{ displayName: 'x'.repeat(121) }],
    [{ usage: 'single' }],
  ])('%j is refused', async (body) => {
    expect((await sendRaw('PATCH', `/cards/${payer.cardId}`, body)).status).toBe(400);
    expect(await eventsOf(world, payer.cardId)).toEqual([]);
  });
});

describe('limits', () => {
  // spec: event:card.limits_changed
  test('are set and cleared separately, each with an event', async () => {
    const set = await limit({ maxAmountPerTransaction: 20.5, dailyLimitEuros: 0 });
    expect(set).toMatchObject({
      maxTransactionEuros: 20.5,
      spendLimitEuros: 20.5,
      dailyLimitEuros: 0,
      monthlyLimitEuros: null,
    });
    expect(await limit({ dailyLimitEuros: null, monthlyLimitEuros: 100 })).toMatchObject({
      maxTransactionEuros: 20.5,
      dailyLimitEuros: null,
      monthlyLimitEuros: 100,
    });
    expect(await limit({ monthlyLimitEuros: 100 })).toMatchObject({ monthlyLimitEuros: 100 });
    const events = await eventsOf(world, payer.cardId);
    expect(events.map(({ name, data }) => [name, data.dailyLimitEuros, data.monthlyLimitEuros])).toEqual([
      ['card.limits_changed', 0, null],
      ['card.limits_changed', null, 100],
    ]);
  });

  test.each([
    [{}],
    [{ maxAmountPerTransaction: -1 }],
    [{ dailyLimitEuros: 1.005 }],
    [{ monthlyLimitEuros: '10' }],
    [{ maxTransactionEuros: 10 }],
  ])('%j is refused', async (body) => {
    expect((await sendRaw('PUT', `/cards/${payer.cardId}/limits`, body)).status).toBe(400);
    expect(await eventsOf(world, payer.cardId)).toEqual([]);
  });

  test('the narrower of card and policy decides each payment, from the next one on', async () => {
    payer = await aPayer(world, { policy: { max_transaction_cents: 3_000, daily_limit_cents: 6_000 } });
    expect(await rule({ amountCents: 3_001 })).toBe('max_transaction');
    await limit({ maxAmountPerTransaction: 20 });
    expect(await rule({ amountCents: 2_001 })).toBe('card_max_transaction');
    await limit({ maxAmountPerTransaction: 40, dailyLimitEuros: 50 });
    expect(await rule({ amountCents: 3_001 })).toBe('max_transaction');
    expect(await rule({ amountCents: 3_000 })).toBe('within_rules');
    expect(await rule({ amountCents: 2_001 })).toBe('card_daily_limit');
    await limit({ dailyLimitEuros: 70 });
    expect(await rule({ amountCents: 3_000 })).toBe('within_rules');
    expect(await rule({ amountCents: 1 })).toBe('daily_limit');
  });

  test('limits that are lowered during charges are never exceeded', async () => {
    const charges = Array.from({ length: 8 }, () => network.authorize(payer, { amountCents: 1_000 }));
    const [answers] = await Promise.all([Promise.all(charges), limit({ dailyLimitEuros: 30 })]);
    const approved = answers.filter(({ body }) => body.decision === 'approved').length;
    const late = await Promise.all(Array.from({ length: 4 }, () => network.authorize(payer, { amountCents: 1_000 })));
    const more = late.filter(({ body }) => body.decision === 'approved').length;
    expect(more).toBe(Math.max(0, 3 - approved));
  });
});

describe('a closed card', () => {
  test('changes no more', async () => {
    await cards().closeCard(one());
    await expect(rename({ displayName: 'Travel' })).rejects.toEqual(refusal(400, /is closed/));
    await expect(limit({ dailyLimitEuros: 1 })).rejects.toEqual(refusal(400, /is closed/));
    await expect(cards().rotateCard(one())).rejects.toEqual(refusal(400, /closed is final/));
    await expect(cards().rotatePrimaryCard({ params: { agentId: payer.agentId } })).rejects.toEqual(refusal(400));
    expect(await eventNamesOf(world, payer.cardId)).toEqual(['card.closed']);
  });
});

describe('the policy view', () => {
  test('returns the narrower limits, the spent amounts and the remaining ones', async () => {
    payer = await aPayer(world, {
      policy: {
        max_transaction_cents: 5_000,
        daily_limit_cents: 10_000,
        auto_approve_limit_cents: 5_000,
        lock_to_first_merchant: true,
      },
      card: { daily_limit_cents: 4_000, monthly_limit_cents: 20_000 },
    });
    expect(await policyOf()).toEqual({
      cardId: payer.cardId,
      status: 'active',
      usage: 'multi',
      isExpired: false,
      expiresAt: null,
      cooldownActive: false,
      spendStats: { dailySpent: 0, monthlySpent: 0, dailyRemaining: 40, monthlyRemaining: 200 },
      effectivePolicy: {
        maxTransactionEuros: 50,
        dailyLimitEuros: 40,
        monthlyLimitEuros: 200,
        autoApproveLimitEuros: 50,
        lockToFirstMerchant: true,
        cooldownMinutes: null,
      },
      merchantLock: null,
    });
    await network.authorize(payer, { amountCents: 1_250 });
    expect(await policyOf()).toMatchObject({ merchantLock: { merchant: 'Sandbox Shop', names: ['Sandbox Shop'] } });
    const other = await aSecondCard('other');
    const [row] = await world.sql<{ card_ref: string }>('select card_ref from cards where id = $1', [other]);
    await network.authorize({ ...payer, cardRef: row?.card_ref ?? '' }, { amountCents: 4_500 });
    await network.authorize({ ...payer, cardRef: row?.card_ref ?? '' }, { amountCents: 2_250 });
    // 80.00 of the agent's 100.00, 12.50 of the card's 40.00: the agent's 20.00 are less.
    expect((await policyOf()).spendStats).toEqual({
      dailySpent: 12.5,
      monthlySpent: 12.5,
      dailyRemaining: 20,
      monthlyRemaining: 187.5,
    });
    expect(await rule({ amountCents: 2_001 })).toBe('daily_limit');
    expect(await rule({ amountCents: 2_000 })).toBe('within_rules');
    expect((await policyOf()).spendStats).toMatchObject({ dailySpent: 32.5, dailyRemaining: 0 });
  });

  test('returns null without limits, the cooldown, and the expiry of its policy', async () => {
    await payer.owner.client(policiesArea).updateAgentPolicy({
      params: { agentId: payer.agentId },
      body: { cooldownMinutes: 30, expiresAfterMinutes: 60 },
    });
    const before = await policyOf();
    expect(before).toMatchObject({
      isExpired: false,
      expiresAt: expect.stringMatching(/Z$/),
      cooldownActive: false,
      spendStats: { dailyRemaining: null, monthlyRemaining: null },
      effectivePolicy: { maxTransactionEuros: null, dailyLimitEuros: null, cooldownMinutes: 30 },
    });
    await network.authorize(payer);
    expect(await policyOf()).toMatchObject({ cooldownActive: true });
    expect(await rule()).toBe('cooldown');
    await world.advance(31 * minute);
    expect(await policyOf()).toMatchObject({ cooldownActive: false, isExpired: false });
    await world.advance(30 * minute);
    expect(await policyOf()).toMatchObject({ isExpired: true, expiresAt: before.expiresAt });
    expect(await rule()).toBe('policy_expiry');
    await world.advance(32 * day);
    expect((await policyOf()).spendStats).toMatchObject({ dailySpent: 0, monthlySpent: 0 });
  });

  test('without a policy nothing can be spent, whatever the limits of the card are', async () => {
    await world.sql('update policies set removed_at = now() where agent_id = $1', [payer.agentId]);
    expect(await policyOf()).toMatchObject({
      expiresAt: null,
      spendStats: { dailyRemaining: 0, monthlyRemaining: 0 },
      effectivePolicy: { lockToFirstMerchant: false, autoApproveLimitEuros: null },
    });
  });

  test('is read by the agent itself, with cards.read', async () => {
    const asAgent = world.as(payer.token).client(cardsArea);
    expect(await asAgent.getCardPolicy(one())).toMatchObject({ cardId: payer.cardId });
    await world.sql(`update agent_tokens set scopes = '{intents.read}' where agent_id = $1`, [payer.agentId]);
    // Credentials are kept in memory for a moment; the change is announced.
    const told = await eventually(
      () => asAgent.getCardPolicy(one()).catch((error: unknown) => error),
      (answer) => (answer as { status?: unknown }).status === 403,
    );
    expect(told).toEqual(refusal(403, /cards\.read/));
  });
});

test('an agent token cannot change the cards of its agent', async () => {
  const asAgent = world.as(payer.token).client(cardsArea);
  await expect(asAgent.updateCard({ ...one(), body: { name: 'mine' } })).rejects.toEqual(refusal(403));
  await expect(asAgent.updateCardLimits({ ...one(), body: { dailyLimitEuros: null } })).rejects.toEqual(refusal(403));
  await expect(asAgent.rotateCard(one())).rejects.toEqual(refusal(403));
  await expect(asAgent.rotatePrimaryCard({ params: { agentId: payer.agentId } })).rejects.toEqual(refusal(403));
});
