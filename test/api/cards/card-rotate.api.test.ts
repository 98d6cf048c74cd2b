/**
 * Goal: a card gets a new number without losing anything and without giving anything twice. Method: real rotations
 * through the worker, the dev server, the simulated processor and network; then the worker's step alone, with whatever
 * may happen to the old card while the new one is made.
 * @module
 */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { cardActivities } from '../../../activities/cards/card.activities.ts';
import type { Tx } from '../../../src/db/tx.ts';
import { cardControlsArea } from '../../../src/domains/cards/card-controls/card-control.contract.ts';
import { cardsArea } from '../../../src/domains/cards/cards/card.contract.ts';
import { storeIssuedCard } from '../../../src/domains/cards/cards/card.issue.service.ts';
import type { CardProcessor } from '../../../src/domains/cards/cards/card.port.ts';
import { prepareRotation } from '../../../src/domains/cards/cards/card.rotate.service.ts';
import {
  applyToCard,
  closeCardsOf,
  freezeCardsOf,
  unfreezeCardsOf,
} from '../../../src/domains/cards/cards/card.service.ts';
import { type Id, newId, uuidv7 } from '../../../src/kernel/ids.ts';
import { type Infrastructure, openInfrastructure } from '../../../src/main/infrastructure.ts';
import { entities, workflows } from '../../../src/main/modules/index.ts';
import type { Cause } from '../../../src/platform/cause.ts';
import { reassignPayments } from '../../../src/usecases/cards/rotate-card.ts';
import { eventNamesOf, eventsOf } from '../../support/events.ts';
import { aCustomer } from '../../support/factories/parties.ts';
import { clientsOf } from '../../support/factories/records.ts';
import { someoneWaits } from '../../support/lock-waits.ts';
import { anIntent, aPayer, brokenInvariants, expireIn, networkOf, type Payer } from '../../support/payments-world.ts';
import { reached } from '../../support/reached.ts';
import { refusal } from '../../support/refusals.ts';
import { eventually, startWorld, type World } from '../../support/world.ts';

let world: World;
let network: ReturnType<typeof networkOf>;
let infrastructure: Infrastructure;
let payer: Payer;
beforeAll(async () => {
  world = await startWorld({ worker: true });
  network = networkOf(world);
  infrastructure = await openInfrastructure(world.config, { name: 'rotate-test', entities, workflows });
});
afterAll(async () => {
  expect(await brokenInvariants(world)).toEqual([]);
  await infrastructure.close();
  await world.close();
});
beforeEach(async () => {
  payer = await aPayer(world);
  await aCustomer(world, payer.owner.ownerId);
});

const cards = () => payer.owner.client(cardsArea);
const rotate = (cardId: string = payer.cardId, key: string = uuidv7()) =>
  cards().rotateCard({ params: { cardId: cardId as Id<'card'> }, headers: { 'Idempotency-Key': key } });
const rowOf = async (cardId: string) =>
  (await world.sql<Record<string, unknown>>('select * from cards where id = $1', [cardId]))[0];
/** The same payer with the card that took the other's place. */
const withCard = ({ id, cardRef }: { id: string; cardRef?: string | undefined }): Payer => ({
  ...payer,
  cardId: id as Payer['cardId'],
  cardRef: cardRef ?? '',
});
const causeOf = (): Cause => ({ causeId: uuidv7(), requestId: uuidv7(), actor: { kind: 'system' }, at: new Date() });

describe('through the worker', () => {
  // spec: does:Cards:rotate
  // spec: state:Card:rotated
  // spec: event:card.rotated
  test('the new card takes over name, limits, primacy and usage; the old card closes', async () => {
    await cards().updateCard({ params: { cardId: payer.cardId }, body: { name: 'travel', displayName: 'Travel' } });
    const limits = { maxAmountPerTransaction: 20, dailyLimitEuros: 50, monthlyLimitEuros: 500 };
    const old = await cards().updateCardLimits({ params: { cardId: payer.cardId }, body: limits });
    const { card, previousCardId } = await rotate();
    expect(previousCardId).toBe(payer.cardId);
    expect(card).toEqual({
      ...old,
      id: expect.not.stringMatching(`^${old.id}$`),
      cardRef: expect.stringMatching(/^pc_/),
      last4: expect.stringMatching(/^\d{4}$/),
      expiryMonth: expect.any(Number),
      expiryYear: new Date().getUTCFullYear() + 3,
      createdAt: expect.any(String),
    });
    expect(await cards().getCard({ params: { cardId: payer.cardId } })).toMatchObject({
      status: 'closed',
      isPrimary: false,
      name: 'travel',
    });
    expect((await eventNamesOf(world, payer.cardId)).slice(-1)).toEqual(['card.closed']);
    expect(await eventNamesOf(world, card.id)).toEqual(['card.issued', 'card.activated', 'card.rotated']);
    const told = (await eventsOf(world, card.id)).at(-1)?.data;
    expect(told).toMatchObject({ id: card.id, agentId: payer.agentId, status: 'active', previousCardId });
    expect(told).not.toHaveProperty('cardRef');
    const [audit] = await world.sql(
      `select actor, details from audit where action = 'card.rotated' and subject_id = $1`,
      [card.id],
    );
    expect(audit).toEqual({ actor: expect.stringMatching(/^key:/), details: { previousCardId } });
    // The processor closes a number that it issued itself.
    await rotate(card.id);
    await eventually(
      () => rowOf(card.id),
      (row) => row?.synced_state === 'closed',
    );
  });

  test('payments go on with the new number only', async () => {
    const { card } = await rotate();
    expect((await network.authorize(payer)).body).toMatchObject({ decision: 'declined', rule: 'card_status' });
    expect((await network.authorize(withCard(card))).body.decision).toBe('approved');
  });

  test('a hold of the old card is collected from it, and the wallet balance is right', async () => {
    const held = network.authorizationOf(payer);
    const { body } = await network.send<{ transactionId: string }>('authorizations', held);
    await rotate();
    expect((await network.clear(payer, { authorizationId: held.id })).status).toBe(200);
    const [row] = await world.sql('select card_id, status, cleared_cents from transactions where id = $1', [
      body.transactionId,
    ]);
    expect(row).toMatchObject({ card_id: payer.cardId, status: 'completed', cleared_cents: '1250' });
  });

  test('earlier spending still counts against the limits of the new card', async () => {
    await cards().updateCardLimits({ params: { cardId: payer.cardId }, body: { dailyLimitEuros: 30 } });
    await network.authorize(payer);
    const first = await rotate();
    await network.authorize(withCard(first.card));
    const { card } = await rotate(first.card.id);
    expect(await cards().getCardPolicy({ params: { cardId: card.id as Id<'card'> } })).toMatchObject({
      spendStats: { dailySpent: 25, monthlySpent: 25, dailyRemaining: 5 },
    });
    expect((await network.authorize(withCard(card), { amountCents: 501 })).body.rule).toBe('card_daily_limit');
    expect((await network.authorize(withCard(card), { amountCents: 500 })).body.decision).toBe('approved');
  });

  test('what the old card blocks, the new one blocks', async () => {
    const controls = payer.owner.client(cardControlsArea);
    await controls.replaceCardControls({
      params: { cardId: payer.cardId as Id<'card'> },
      body: { blockedCountries: ['DE'] },
    });
    const { card } = await rotate();
    expect((await network.authorize(withCard(card))).body.rule).toBe('card_country_blocklist');
    expect(await controls.getCardControls({ params: { cardId: card.id as Id<'card'> } })).toMatchObject({
      cardId: card.id,
      blockedCountries: ['DE'],
      updatedAt: expect.any(String),
    });
  });

  test('open intents are for the new card; one that is being paid for comes back to it', async () => {
    await world.sql('update policies set require_intent = true where id = $1', [payer.policyId]);
    const open = await anIntent(world, payer);
    const pending = await anIntent(world, payer, { status: 'pending_approval' });
    const matched = await anIntent(world, payer, { amountCents: 700 });
    const message = network.authorizationOf(payer, { amountCents: 700 });
    await network.send('authorizations', message);
    const { card } = await rotate();
    const cardsOf = await world.sql('select card_id from intents where id = any($1)', [[open, pending, matched]]);
    expect(cardsOf).toEqual(Array.from({ length: 3 }, () => ({ card_id: card.id })));
    expect((await network.authorize(withCard(card))).body.decision).toBe('approved');
    await network.reverse(payer, { authorizationId: message.id });
    expect((await network.authorize(withCard(card), { amountCents: 700 })).body.decision).toBe('approved');
  });

  test('a checkout under way with the old number is declined, and its intent is open for the new one', async () => {
    await world.sql('update policies set require_intent = true where id = $1', [payer.policyId]);
    const intentId = await anIntent(world, payer);
    const token = `spt_${uuidv7()}`;
    await world.sql(
      `insert into checkouts (id, owner_id, agent_id, intent_id, card_id, target_url, status, amount_cents, ceiling_cents,
         token_hash, request_id, created_at, updated_at)
       values ($1, $2, $3, $4, $5, 'https://shop.example/x', 'paying', 1250, 1250, $6, 'req', now(), now())`,
      [
        ...[newId('checkout'), payer.owner.ownerId, payer.agentId, intentId, payer.cardId],
        createHash('sha256').update(token).digest('hex'),
      ],
    );
    const { card } = await rotate();
    expect((await network.authorize(payer, { token })).body).toMatchObject({
      decision: 'declined',
      rule: 'checkout_intent',
    });
    expect(await world.sql('select status from checkouts where intent_id = $1', [intentId])).toEqual([
      { status: 'declined' },
    ]);
    expect(await world.sql('select status, card_id from intents where id = $1', [intentId])).toEqual([
      { status: 'approved', card_id: card.id },
    ]);
    expect((await network.authorize(withCard(card))).body.decision).toBe('approved');
  });

  const byAgent = () => cards().rotatePrimaryCard({ params: { agentId: payer.agentId } });
  const rotations: readonly [string, () => Promise<{ card: { id: string } }>][] = [
    ['by its id', () => rotate()],
    ['by its agent', byAgent],
  ];

  test.each(rotations)(
    'a payment confirmed with the old number is found by a charge of the new one: %s',
    async (_by, change) => {
      await world.sql('update policies set require_intent = true where id = $1', [payer.policyId]);
      const intentId = await anIntent(world, payer);
      const headers = { 'Idempotency-Key': uuidv7() };
      const confirmed = await clientsOf(payer.owner).checkout.confirmCheckout({ body: { intentId }, headers });
      const { card } = await change();
      const { body } = await network.authorize(withCard(card));
      expect(body).toMatchObject({ decision: 'approved', transactionId: confirmed.transactionId });
      expect((await eventNamesOf(world, confirmed.transactionId)).slice(0, 2)).toEqual([
        'transaction.created',
        'transaction.updated',
      ]);
    },
  );

  test.each(rotations)(
    'a frozen card stays frozen with the same freezer; its number is new: %s',
    async (_by, change) => {
      await cards().freezeCard({ params: { cardId: payer.cardId } });
      const { card } = await change();
      expect(card).toMatchObject({ status: 'frozen', frozenBy: 'card' });
      expect(await eventNamesOf(world, card.id)).toEqual(['card.issued', 'card.frozen', 'card.rotated']);
      expect((await network.authorize(withCard(card))).body.rule).toBe('card_status');
      await eventually(
        () => rowOf(card.id),
        (row) => row?.synced_state === 'frozen',
      );
      await cards().unfreezeCard({ params: { cardId: card.id as Id<'card'> } });
      expect((await network.authorize(withCard(card))).body.decision).toBe('approved');
    },
  );

  test('an agent that is frozen may have its number changed, and thaws with it', async () => {
    const { agents } = clientsOf(payer.owner);
    await agents.freezeAgent({ params: { id: payer.agentId } });
    const { card } = await rotate();
    expect(card).toMatchObject({ status: 'frozen', frozenBy: 'agent' });
    await agents.unfreezeAgent({ params: { id: payer.agentId } });
    expect((await network.authorize(withCard(card))).body.decision).toBe('approved');
  });

  test('by the agent it is its primary card, and a repeat does not take the next one', async () => {
    const key = uuidv7();
    const ask = () =>
      cards().rotatePrimaryCard({ params: { agentId: payer.agentId }, headers: { 'Idempotency-Key': key } });
    const first = await ask();
    expect(first).toMatchObject({ previousCardId: payer.cardId, card: { isPrimary: true } });
    await world.sql(`update idempotency set status = null, body = null, lease_until = null where key = $1`, [key]);
    expect(await ask()).toEqual(first);
    const second = await cards().rotatePrimaryCard({ params: { agentId: payer.agentId } });
    expect(second.previousCardId).toBe(first.card.id);
    expect(await clientsOf(payer.owner).agents.getAgent({ params: { id: payer.agentId } })).toMatchObject({
      cardId: second.card.id,
    });
  });

  test('eight concurrent requests create one card, with one key and with eight keys', async () => {
    const key = uuidv7();
    const same = await Promise.allSettled(Array.from({ length: 8 }, () => rotate(payer.cardId, key)));
    const ids = same.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value.card.id] : []));
    expect(new Set(ids).size).toBe(1);
    const next = ids[0] ?? '';
    const different = await Promise.allSettled(Array.from({ length: 8 }, () => rotate(next)));
    expect(different.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const answer of different)
      if (answer.status === 'rejected')
        expect(answer.reason).toEqual(refusal(400, /being rotated|has taken its place/));
    expect(await world.sql(`select 1 from cards where agent_id = $1`, [payer.agentId])).toHaveLength(3);
  });

  test('a card that was rotated names the one in its place', async () => {
    const { card } = await rotate();
    await expect(rotate()).rejects.toEqual(refusal(400, new RegExp(`card ${card.id} has taken its place`)));
  });

  test('at the plan’s ceiling it is possible: the card is none more', async () => {
    await world.sql(`update customers set plan = 'free' where owner_id = $1`, [payer.owner.ownerId]);
    expect(await rotate()).toMatchObject({ previousCardId: payer.cardId });
    const wish = { params: { agentId: payer.agentId }, body: { usage: 'multi', purpose: 'more' } } as const;
    await expect(cards().issueAgentCard(wish)).rejects.toEqual(refusal(403, /free plan allows 1 card/));
  });

  test('a charge and a rotation at once: the charge is the old card’s or declined', async () => {
    const [answers, { card }] = await Promise.all([
      Promise.all(Array.from({ length: 6 }, () => network.authorize(payer, { amountCents: 100 }))),
      rotate(),
    ]);
    for (const { body } of answers) expect(['within_rules', 'card_status']).toContain(body.rule);
    const spent = answers.filter(({ body }) => body.decision === 'approved').length;
    expect(await cards().getCardPolicy({ params: { cardId: card.id as Id<'card'> } })).toMatchObject({
      spendStats: { dailySpent: spent },
    });
  });
});

describe('a card for one payment', () => {
  beforeEach(() => world.sql(`update cards set usage = 'single' where id = $1`, [payer.cardId]));

  test('unused it pays once with its new number, which then closes', async () => {
    const { card } = await rotate();
    const message = network.authorizationOf(withCard(card));
    expect((await network.send('authorizations', message)).body).toMatchObject({ decision: 'approved' });
    await network.clear(withCard(card), { authorizationId: message.id });
    expect(await rowOf(card.id)).toMatchObject({ status: 'closed', usage: 'single' });
    await expect(rotate(card.id)).rejects.toEqual(refusal(400, /closed is final/));
  });

  test('with its payment under way it has no second one: the new card closes with the clearing', async () => {
    const message = network.authorizationOf(payer);
    await network.send('authorizations', message);
    const { card } = await rotate();
    expect((await network.authorize(withCard(card))).body.rule).toBe('single_use');
    await network.clear(payer, { authorizationId: message.id });
    expect(await rowOf(card.id)).toMatchObject({ status: 'closed' });
    expect((await eventNamesOf(world, card.id)).at(-1)).toBe('card.closed');
  });

  test('after its payment was reversed, the new card pays', async () => {
    const message = network.authorizationOf(payer);
    await network.send('authorizations', message);
    const { card } = await rotate();
    await network.reverse(payer, { authorizationId: message.id });
    expect((await network.authorize(withCard(card))).body.decision).toBe('approved');
  });
});

test('the count of charges includes those of the old card', async () => {
  await world.sql('update policies set max_usage_count = 2 where id = $1', [payer.policyId]);
  const message = network.authorizationOf(payer);
  await network.send('authorizations', message);
  const { card } = await rotate();
  await network.authorize(withCard(card));
  expect((await network.authorize(withCard(card))).body.rule).toBe('usage_count');
  await network.clear(payer, { authorizationId: message.id });
  expect(await rowOf(card.id)).toMatchObject({ status: 'frozen', frozen_by: 'policy' });
  await expireIn(world, new Date());
});

describe('while the new card is made', () => {
  const processor: CardProcessor = {
    issueCard: async ({ idempotencyKey }) => ({
      ...{ cardRef: `p_${idempotencyKey}`, last4: '0005', brand: 'visa', expiryMonth: 2, expiryYear: 2030 },
    }),
    setCardState: async () => ({ outcome: 'set' }),
    mintPaymentToken: async () => ({ outcome: 'refused', reason: 'unknown_card' }),
  };
  const steps = () =>
    cardActivities({
      database: infrastructure.database,
      clock: infrastructure.clock,
      processor,
      onActivated: async (tx, cause, { agentId, cardId: to, previousCardId: from }) => {
        if (from !== undefined) await reassignPayments(tx, cause, { agentId, from, to });
      },
    });
  const write = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => infrastructure.database.write(work);

  /** Reserved, with a process that no worker will pick up. */
  async function aRotation(): Promise<Id<'card'>> {
    const next = newId('card');
    await infrastructure.database.write(async (tx) => {
      await prepareRotation(tx, causeOf(), {
        newId: next,
        cardId: reached(payer.cardId),
        ownerId: payer.owner.ownerId,
      });
      await tx.execute(`delete from workflow_runs where subject_id = '${next}'`);
    });
    return next;
  }

  test('the old card still pays, and the new one is not visible', async () => {
    const next = await aRotation();
    expect((await network.authorize(payer)).body.decision).toBe('approved');
    await expect(cards().getCard({ params: { cardId: next } })).rejects.toEqual(refusal(404));
    await expect(rotate(next)).rejects.toEqual(refusal(404));
    await expect(rotate()).rejects.toEqual(refusal(400, /being rotated/));
    expect(await cards().listAgentCards({ params: { agentId: payer.agentId } })).toHaveLength(1);
  });

  test('the step repeated, in parallel too, is one card and one story', async () => {
    const next = await aRotation();
    await Promise.all(Array.from({ length: 4 }, () => steps().issueCard(next)));
    await steps().issueCard(next);
    expect(await eventNamesOf(world, next)).toEqual(['card.issued', 'card.activated', 'card.rotated']);
    expect(await eventNamesOf(world, payer.cardId)).toEqual(['card.closed']);
  });

  test('after a worker died behind the processor’s answer, the same card is completed', async () => {
    const next = await aRotation();
    const issued: string[] = [];
    const dying = cardActivities({
      database: { ...infrastructure.database, write: () => Promise.reject(new Error('died')) },
      clock: infrastructure.clock,
      processor: {
        ...processor,
        issueCard: (order) => {
          issued.push(order.idempotencyKey);
          return processor.issueCard(order);
        },
      },
      onActivated: async () => undefined,
    });
    await expect(dying.issueCard(next)).rejects.toThrow('died');
    expect(await rowOf(payer.cardId)).toMatchObject({ status: 'active' });
    await steps().issueCard(next);
    expect(issued).toEqual([next]);
    expect(await rowOf(next)).toMatchObject({ card_ref: `p_${next}`, status: 'active' });
  });

  test('changed, it is changed for the new card as well', async () => {
    const next = await aRotation();
    await cards().updateCard({ params: { cardId: payer.cardId }, body: { name: 'late', displayName: 'Late' } });
    await cards().updateCardLimits({ params: { cardId: payer.cardId }, body: { dailyLimitEuros: 7 } });
    await cards().freezeCard({ params: { cardId: payer.cardId } });
    await steps().issueCard(next);
    expect(await rowOf(next)).toMatchObject({
      ...{ name: 'late', display_name: 'Late', daily_limit_cents: '700', status: 'frozen', frozen_by: 'card' },
    });
  });

  test('closed, no new number appears, and the processor closes it', async () => {
    const next = await aRotation();
    await cards().closeCard({ params: { cardId: payer.cardId } });
    await steps().issueCard(next);
    expect(await steps().nextCardStep(next)).toMatchObject({ kind: 'sync', view: { status: 'closed' } });
    expect(await steps().syncCard(next)).toMatchObject({ syncedState: 'closed' });
    expect(await steps().nextCardStep(next)).toMatchObject({ kind: 'final' });
    expect(await eventNamesOf(world, next)).toEqual([]);
    await expect(cards().getCard({ params: { cardId: next } })).rejects.toEqual(refusal(404));
  });

  test('closed with its agent, or frozen and thawed with it, the new one is as the old one', async () => {
    const thawed = await aRotation();
    for (const move of [freezeCardsOf, unfreezeCardsOf]) await write((tx) => move(tx, causeOf(), payer.agentId));
    await steps().issueCard(thawed);
    expect(await rowOf(thawed)).toMatchObject({ status: 'active', frozen_by: null });
    payer = withCard({ id: thawed, cardRef: `p_${thawed}` });
    const closed = await aRotation();
    await write((tx) => closeCardsOf(tx, causeOf(), payer.agentId));
    await steps().issueCard(closed);
    expect(await rowOf(closed)).toMatchObject({ status: 'closed', is_provisioning: true });
  });

  test('a single-use card that has paid cannot be rotated', async () => {
    await world.sql(`update cards set usage = 'single' where id = $1`, [payer.cardId]);
    const message = network.authorizationOf(payer);
    await network.send('authorizations', message);
    const next = await aRotation();
    await network.clear(payer, { authorizationId: message.id });
    await steps().issueCard(next);
    expect(await rowOf(next)).toMatchObject({ status: 'closed', is_provisioning: true });
  });

  test('a command on the primary card waits for a take-over, and moves the card that is primary then', async () => {
    const next = await aRotation();
    const issued = { cardRef: `ref_${next}`, last4: '0005', brand: 'visa', expiryMonth: 2, expiryYear: 2030 };
    let frozen: Promise<unknown> = Promise.resolve();
    await write(async (tx) => {
      await storeIssuedCard(tx, next, issued, new Date(), async () => undefined);
      frozen = cards().freezePrimaryCard({ params: { agentId: payer.agentId } });
      frozen.catch(() => undefined); // Looked at once the take-over is done.
      await someoneWaits(world);
    });
    expect(await frozen).toEqual({ cardId: next, status: 'frozen', last4: '0005' });
    expect(await rowOf(payer.cardId)).toMatchObject({ status: 'closed', replaced_by_card_id: next });
  });

  test('closing and taking over at once: the old card is closed, and the new one follows or does not', async () => {
    for (let round = 0; round < 5; round++) {
      payer = await aPayer(world, { owner: payer.owner });
      const next = await aRotation();
      await Promise.all([
        steps().issueCard(next),
        write((tx) => applyToCard(tx, payer.cardId, { kind: 'close' }, causeOf())),
      ]);
      expect(await rowOf(payer.cardId)).toMatchObject({ status: 'closed' });
      const isWanted = (await rowOf(payer.cardId))?.replaced_by_card_id === next;
      expect(await rowOf(next)).toMatchObject({ status: isWanted ? 'active' : 'closed', is_provisioning: !isWanted });
    }
  });
});

test('with Temporal away it is 503, the old card still pays, and the same key completes the rotation', async () => {
  const away = await startWorld({ env: { TEMPORAL_ADDRESS: '127.0.0.1:9' } });
  try {
    const stranded = await aPayer(away);
    const client = stranded.owner.client(cardsArea);
    const order = { params: { cardId: stranded.cardId }, headers: { 'Idempotency-Key': uuidv7() } };
    for (let attempt = 0; attempt < 2; attempt++) {
      const answer = await client.rotateCard(order).catch((error: unknown) => error);
      expect(answer).toEqual(refusal(503, /same Idempotency-Key/));
      expect((answer as { headers: Headers }).headers.get('Retry-After')).toMatch(/^\d+$/);
    }
    expect((await networkOf(away).authorize(stranded)).body.decision).toBe('approved');
    const reserved = await away.sql<{ id: string }>('select id from cards where replaces_card_id = $1', [
      stranded.cardId,
    ]);
    expect(reserved).toHaveLength(1);
    // What the worker does when it is back.
    const id = reserved[0]?.id ?? '';
    const open = await openInfrastructure(away.config, { name: 'back', entities, workflows });
    const issueCard: CardProcessor['issueCard'] = async () => ({
      ...{ cardRef: 'p_back', last4: '0005', brand: 'visa', expiryMonth: 2, expiryYear: 2030 },
    });
    const processor = { issueCard } as CardProcessor;
    const { database, clock } = open;
    await cardActivities({ database, clock, processor, onActivated: async () => undefined }).issueCard(id);
    await open.close();
    expect(await client.rotateCard(order)).toMatchObject({ card: { id }, previousCardId: stranded.cardId });
    await client.closeCard({ params: { cardId: id as Id<'card'> } });
  } finally {
    await away.close();
  }
});
