/**
 * Operations of the simulated network for manual use: purchases, clearings, reversals, refunds, the limit of the
 * stand-in, and the state of its messages.
 * @module
 */
import { Router } from 'express';
import * as z from 'zod';
import { bothOrNeither, namesBothOrNeither } from '../../domains/payments/network/merchant-charge.rules.ts';
import { optionalKey, parsed, Refusal } from '../answer.ts';
import type { CardRow, SandboxCardProcessor } from '../processor/card-processor.ts';
import { findShop } from '../shops/shop-catalog.ts';
import type { Store } from '../store.ts';
import { instant, largestAmountCents, type Merchant, merchantFields, positiveCents, reference } from '../wire.ts';
import type { AuthorizationRow, Authorizations } from './authorization.ts';
import { foreignCharge } from './foreign-charge.ts';
import type { IncrementRow, Increments } from './increments.ts';
import type { MessageRow, Outgoing } from './outgoing.ts';
import type { Settlement } from './settlement.ts';
import { type StandIn, standInRule } from './stand-in.ts';

const SomeMerchant = z.strictObject({
  id: reference.optional(),
  name: merchantFields.name,
  mcc: merchantFields.mcc.default('5734'),
  country: merchantFields.country.default('DE'),
});
const Purchase = z
  .strictObject({
    cardRef: reference.optional(),
    cardId: reference.optional(),
    paymentToken: reference.optional(),
    amountCents: z.number().int().nonnegative().max(largestAmountCents),
    merchant: z.union([z.string(), SomeMerchant], 'must be the name of a sandbox shop, or {name, id?, mcc?, country?}'),
    clear: z.boolean().default(true),
    kind: z.enum(['purchase', 'verification']).default('purchase'),
    partialSupported: z.boolean().default(false),
    recurring: z.boolean().default(false),
    ...foreignCharge,
    expiresAt: instant.optional(),
    simulation: reference.optional(),
  })
  .refine(
    ({ cardRef, cardId, paymentToken }) =>
      [cardRef, cardId, paymentToken].filter((one) => one !== undefined).length === 1,
    'name cardRef, cardId or paymentToken, one of them',
  )
  .refine((body) => (body.amountCents === 0) === (body.kind === 'verification'), {
    path: ['amountCents'],
    message: 'must be 0 for a verification and more than 0 for a purchase',
  })
  .refine(namesBothOrNeither, bothOrNeither);
const Clear = z.strictObject({
  authorizationId: reference,
  amountCents: positiveCents.optional(),
  final: z.boolean().default(true),
});
const Reverse = z.strictObject({ authorizationId: reference, amountCents: positiveCents.optional() });
const Refund = Reverse;
const Increment = z.strictObject({
  authorizationId: reference,
  amountCents: positiveCents,
  partialSupported: z.boolean().default(false),
});
const StandInLimit = z.strictObject({ perCardCents: z.number().int().nonnegative().max(largestAmountCents) });
const MessageFilter = z.strictObject({
  state: z.enum(['queued', 'acknowledged', 'refused', 'withdrawn']).optional(),
});
const messagesListed = 200;

type Options = {
  store: Store;
  processor: SandboxCardProcessor;
  authorizations: Authorizations;
  increments: Increments;
  settlement: Settlement;
  outgoing: Outgoing;
  standIn: StandIn;
};

export function networkRoutes(options: Options): Router {
  const { store, processor, authorizations, increments, settlement, outgoing, standIn } = options;
  const routes = Router();

  routes.post('/purchases', async (request, response) => {
    const key = optionalKey(request.get('Idempotency-Key'));
    const { cardRef, cardId, paymentToken, merchant, clear, ...order } = parsed(Purchase, request.body);
    const card = cardBy(processor, { cardRef, cardId, paymentToken });
    // Bursar decides whether the token pays. Without one the order has no such member.
    const token = paymentToken === undefined ? {} : { token: paymentToken };
    const placed = { ...order, ...token, cardRef: card.card_ref, merchant: merchantOf(merchant) };
    const id = store.inTransaction(() => authorizations.place(placed, { clears: clear, key }));
    const decided = await authorizations.decide(id);
    const sending = outgoing.deliver(id);
    if (decided.rule !== standInRule) await sending; // A stand-in's reversal may take as long as Bursar is away.
    const clearing = outgoing.ofAuthorization(id).find((message) => message.kind === 'clearings');
    response.json({ ...outcomeOf(decided), ...(clearing === undefined ? {} : { clearingId: clearing.id }) });
  });

  routes.post('/increment', async (request, response) => {
    const { authorizationId, ...order } = parsed(Increment, request.body);
    response.json(incrementView(await increments.increment(authorizationId, order)));
  });

  routes.post('/clear', async (request, response) => {
    const { authorizationId, ...order } = parsed(Clear, request.body);
    await increments.settle(authorizationId);
    const clearingId = settlement.clear(authorizationId, order);
    await outgoing.deliver(authorizationId);
    response.json({ clearingId, ...deliveryOf(outgoing.find(clearingId)) });
  });

  routes.post('/reverse', async (request, response) => {
    const { authorizationId, amountCents } = parsed(Reverse, request.body);
    await increments.settle(authorizationId);
    const reversalId = settlement.reverse(authorizationId, amountCents);
    await outgoing.deliver(authorizationId);
    response.json({ reversalId, ...deliveryOf(outgoing.find(reversalId)) });
  });

  routes.post('/refund', async (request, response) => {
    const { authorizationId, ...order } = parsed(Refund, request.body);
    const refundId = settlement.refund(authorizationId, order);
    await outgoing.deliver(authorizationId);
    response.json({ refundId, ...deliveryOf(outgoing.find(refundId)) });
  });

  routes.put('/stand-in', (request, response) => {
    standIn.setLimit(parsed(StandInLimit, request.body).perCardCents);
    response.json({ perCardCents: standIn.limit() });
  });

  routes.get('/authorizations/:id', (request, response) => {
    const { id } = request.params;
    const messages = outgoing.ofAuthorization(id).map(messageView);
    response.json({ ...outcomeOf(authorizations.find(id)), messages });
  });

  routes.get('/messages', (request, response) => {
    const { state } = parsed(MessageFilter, request.query);
    response.json({ messages: outgoing.latest(state, messagesListed).map(messageView) });
  });
  return routes;
}

type NamedCard = { cardRef?: string | undefined; cardId?: string | undefined; paymentToken?: string | undefined };

function cardBy(processor: SandboxCardProcessor, { cardRef, cardId = '', paymentToken }: NamedCard): CardRow {
  if (paymentToken !== undefined) return processor.cardOfToken(paymentToken);
  return cardRef === undefined ? processor.cardByCardId(cardId) : processor.cardOf(cardRef);
}

function merchantOf(named: string | z.infer<typeof SomeMerchant>): Merchant {
  if (typeof named !== 'string') return { ...named, id: named.id ?? `m_${slug(named.name)}` };
  const shop = findShop(named);
  if (shop === undefined)
    throw new Refusal(400, `merchant: no sandbox shop ${named.slice(0, 64)}; name one or describe it`);
  return shop.merchant;
}

const slug = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '')
    .slice(0, 64) || 'merchant';

const outcomeOf = (row: AuthorizationRow) => ({
  authorizationId: row.id,
  decision: row.state,
  approvedCents: row.approved_cents,
  ...(row.transaction_id === null ? {} : { transactionId: row.transaction_id }),
  ...(row.rule === null ? {} : { rule: row.rule }),
  ...(row.reason === null ? {} : { reason: row.reason }),
});

/** What Bursar has not answered is declined to the merchant. */
const incrementView = ({
  id,
  authorization_id: authorizationId,
  state,
  approved_cents: approvedCents,
  rule,
  reason,
}: IncrementRow) => ({
  incrementId: id,
  authorizationId,
  decision: state === 'sent' ? 'declined' : state,
  approvedCents,
  ...(state === 'sent' ? { rule: standInRule } : {}),
  ...(rule === null ? {} : { rule }),
  ...(reason === null ? {} : { reason }),
});

const deliveryOf = (message: MessageRow | undefined) => ({
  state: message?.state,
  ...(message?.last_status == null ? {} : { status: message.last_status }),
});

const messageView = (message: MessageRow) => ({
  id: message.id,
  kind: message.kind,
  authorizationId: message.authorization_id,
  state: message.state,
  attempts: message.attempts,
  ...(message.due_at_ms === null ? {} : { dueAt: new Date(message.due_at_ms).toISOString() }),
  ...(message.last_status === null ? {} : { lastStatus: message.last_status }),
  ...(message.last_answer === null ? {} : { lastAnswer: message.last_answer }),
});
