/**
 * Goal: in whatever order the network and the owner speak, the money is right, every payment ends and no intent is
 * left half paid. Method: all orders of all messages and the owner's cancel, with and without a payment token, where
 * an intent is asked for and where none is; then everything grows old.
 * @module
 */
import { createHash, randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { intentsArea } from '../../../src/domains/spending/intents/intent.contract.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { type Network, usePayments } from '../../support/payments-suite.ts';
import {
  type Authorized,
  anIntent,
  aPayer,
  balancesOf,
  expireIn,
  type NetworkAnswer,
  type Payer,
} from '../../support/payments-world.ts';
import { eventually, type World } from '../../support/world.ts';

let world: World;
let network: Network;
usePayments((started) => {
  ({ world, network } = started);
});

const steps = ['authorization', 'clearing', 'reversal', 'cancel'] as const;
type Step = (typeof steps)[number];
type Case = { requireIntent: boolean; withToken: boolean; collectedCents: number };
type Story = {
  order: readonly Step[];
  payer: Payer;
  intentId: string;
  checkoutId: string | undefined;
  decision: string;
  cancelStatus: number;
};

describe.each<Case>(
  [true, false].flatMap((requireIntent) =>
    [true, false].flatMap((withToken) =>
      [400, 1_250].map((collectedCents) => ({ requireIntent, withToken, collectedCents })),
    ),
  ),
)('intent asked for: $requireIntent, token: $withToken, a clearing of $collectedCents, not the last one', (given) => {
  test('ends right in all orders', async () => {
    const stories = await Promise.all(permutations([...steps]).map((order) => told(order, given)));
    await expireIn(world, inDays(1.5)); // Clearings whose authorization never came.
    await expireIn(world, inDays(9));
    await Promise.all(stories.map((story) => expectRight(story, given)));
  });
});

async function told(order: readonly Step[], { requireIntent, withToken, collectedCents }: Case): Promise<Story> {
  const payer = await aPayer(world, { fundsCents: 5_000, policy: { require_intent: requireIntent } });
  const intentId = await anIntent(world, payer, { ttlMs: 60 * 86_400_000 });
  const checkout = withToken ? await aCheckout(payer, intentId) : undefined;
  const message = network.authorizationOf(payer, checkout === undefined ? {} : { token: checkout.token });
  const authorizationId = message.id;
  const clearing = { id: randomUUID(), authorizationId, amountCents: collectedCents, final: false };
  const reversal = { id: randomUUID(), authorizationId };
  const story = { order, payer, intentId, checkoutId: checkout?.id, decision: '', cancelStatus: 0 };
  const say = {
    authorization: async () => {
      const { body } = await delivered(() => network.send<Authorized>('authorizations', message));
      story.decision = body.decision;
    },
    clearing: () => delivered(() => network.clear(payer, clearing)),
    reversal: () => delivered(() => network.reverse(payer, reversal)),
    cancel: async () => {
      const request = { params: { id: intentId }, headers: { 'Idempotency-Key': randomUUID() } };
      const intents = payer.owner.client(intentsArea);
      const cancel = () =>
        intents.cancelIntent(request).then(
          () => 200,
          ({ status }: { status: number }) => status,
        );
      // 409: an earlier try with this key, which was answered 503, still counts as under way.
      story.cancelStatus = await eventually(cancel, (status) => status !== 503 && status !== 409);
    },
  };
  for (const step of order) await say[step]();
  // Whatever the network says twice changes nothing.
  const before = { order, ...(await balancesOf(world, payer)) };
  await Promise.all([say.authorization(), say.clearing(), say.reversal()]);
  expect({ order, ...(await balancesOf(world, payer)) }).toEqual(before);
  return story;
}

/** As a network does: a message that is answered 503 may not have been taken, and is sent again before the next one. */
async function delivered<Body>(send: () => Promise<NetworkAnswer<Body>>): Promise<NetworkAnswer<Body>> {
  const answer = await eventually(send, ({ status }) => status !== 503);
  expect(answer).toMatchObject({ status: 200 });
  return answer;
}

async function expectRight(story: Story, { requireIntent, withToken, collectedCents }: Case): Promise<void> {
  const { order, payer, intentId, checkoutId, decision, cancelStatus } = story;
  const isBefore = (first: Step, second: Step) => order.indexOf(first) < order.indexOf(second);
  const seen = {
    order,
    money: await balancesOf(world, payer),
    transactions: await world.sql(
      'select status, cleared_cents::int as cleared from transactions where agent_id = $1',
      [payer.agentId],
    ),
    waiting: await world.sql('select id from network_messages where is_waiting and card_ref = $1', [payer.cardRef]),
  };
  expect(seen).toEqual({
    order,
    money: { available: 5_000 - collectedCents, held: 0, receivable: 0 },
    transactions: [{ status: 'completed', cleared: collectedCents }],
    waiting: [],
  });

  // Without its intent the rest is refused; what was collected stays booked.
  const isAllCollected = isBefore('clearing', 'authorization') && collectedCents >= 1_250;
  const isDeclined =
    isBefore('reversal', 'authorization') ||
    (isBefore('cancel', 'authorization') && !isAllCollected && (requireIntent || withToken));
  expect({ order, decision }).toEqual({ order, decision: isDeclined ? 'declined' : 'approved' });
  const [intent] = await world.sql<{ status: string; matched: string | null }>(
    'select status, matched_transaction_id as matched from intents where id = $1',
    [intentId],
  );
  expect({ order, cancelStatus, isCancelled: intent?.status === 'cancelled' }).toEqual({
    order,
    cancelStatus: intent?.status === 'cancelled' ? 200 : 400,
    isCancelled: cancelStatus === 200,
  });
  // Still open, for another payment: then this one has let go of it.
  if (intent?.status === 'approved') expect({ order, matched: intent.matched }).toEqual({ order, matched: null });
  if (checkoutId === undefined) return;
  const [checkout] = await world.sql<{ status: string }>('select status from checkouts where id = $1', [checkoutId]);
  expect({ order, checkout: checkout?.status }).toEqual({ order, checkout: isDeclined ? 'declined' : 'paid' });
}

async function aCheckout(payer: Payer, intentId: string): Promise<{ id: string; token: string }> {
  const [id, token] = [newId('checkout'), `spt_${randomUUID()}`];
  const hash = createHash('sha256').update(token).digest('hex');
  await world.sql(
    `insert into checkouts (id, owner_id, agent_id, intent_id, card_id, target_url, status, amount_cents, ceiling_cents,
       token_hash, request_id, created_at, updated_at)
     values ($1, $2, $3, $4, $5, 'https://shop.example/x', 'paying', 1250, 1250, $6, 'req', now(), now())`,
    [id, payer.owner.ownerId, payer.agentId, intentId, payer.cardId, hash],
  );
  return { id, token };
}

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);

function permutations<T>(items: T[]): T[][] {
  if (items.length <= 1) return [items];
  return items.flatMap((item, index) =>
    permutations([...items.slice(0, index), ...items.slice(index + 1)]).map((rest) => [item, ...rest]),
  );
}
