/**
 * Decides whether a card may be used now, by the rules of a payment, and records the decision. It holds no money and
 * locks no row: the network's authorization decides the charge, whatever was granted here.
 * @module
 */
import type { Database } from '../../db/database.ts';
import type { Tx } from '../../db/tx.ts';
import type { AccessRequest } from '../../domains/oversight/access-events/access-event.contract.ts';
import { findAccessEvent } from '../../domains/oversight/access-events/access-event.queries.ts';
import type { AccessEventDeps } from '../../domains/oversight/access-events/access-event.routes.ts';
import { accessAnswerOf } from '../../domains/oversight/access-events/access-event.rules.ts';
import type { IntentRow } from '../../domains/spending/intents/intent.entity.ts';
import { findIntent } from '../../domains/spending/intents/intent.queries.ts';
import { statusAsOf, whyUnpayable } from '../../domains/spending/intents/intent.rules.ts';
import { stateOf } from '../../domains/spending/intents/intent.state.service.ts';
import { matchableIntent } from '../../domains/spending/intents/matchable-intent.rules.ts';
import { windowOfNow } from '../../domains/spending/intents/windows/window.now.service.ts';
import { agentStanding, policyOfAgent } from '../../domains/spending/policies/policy.queries.ts';
import type { IntentFacts, SpendingDecision } from '../../domains/spending/policies/policy.rules.ts';
import type { RiskEngine } from '../../domains/spending/risk/risk.port.ts';
import { recordAccess } from '../../events/access.ts';
import { notFound } from '../../kernel/errors.ts';
import { type Cents, zero } from '../../kernel/money.ts';
import { assertBelowLimit } from '../../platform/assert-limit.ts';
import { findCardOf } from '../cards/card-facts.ts';
import { evaluatePlan } from '../spending/evaluate-plan.ts';

type Deps = { readonly database: Database; readonly risk: RiskEngine };

/** A repeat with the same Idempotency-Key finds the first decision. */
export const requestCardAccess =
  ({ database, risk }: Deps): AccessEventDeps['request'] =>
  (card, body, call) => {
    const id = call.newId('accessEvent');
    const { cause } = call;
    return database.write(async (tx) => {
      const known = await findAccessEvent(tx, id);
      if (known !== null) return known;
      const { id: cardId, ownerId, agentId } = card;
      await assertBelowLimit(tx, 'access_requests', { ownerId, subject: agentId, at: cause.at });
      const requested = await requestedOf(tx, cardId, body, cause.at);
      const decision = await evaluate(tx, { risk }, { cardId, agentId, ...requested }, cause.at);
      const { intentId = null, purpose, reason } = body;
      const { expectedAmountCents } = requested;
      const described = { intentId, purpose, reason, expectedAmountCents };
      return recordAccess(tx, cause, {
        ...{ id, ownerId, agentId, cardId, kind: 'card_access' },
        ...described,
        ...accessAnswerOf(decision, cause.at),
      });
    });
  };

type Requested = {
  readonly expectedAmountCents: Cents | undefined;
  readonly merchant: string | undefined;
  readonly intent: IntentFacts | undefined;
  readonly isRecurring: boolean;
};

/** What the intent says where the request does not. */
async function requestedOf(
  tx: Tx,
  cardId: string,
  { intentId, expectedAmountCents }: AccessRequest,
  at: Date,
): Promise<Requested> {
  const row = intentId === undefined ? null : await findIntent(tx, intentId);
  if (row === null) return { expectedAmountCents, merchant: undefined, intent: undefined, isRecurring: false };
  const intent = await intentFactsOf(tx, row, cardId, at);
  return {
    expectedAmountCents: expectedAmountCents ?? row.expectedAmountCents,
    merchant: intent.expectedMerchant ?? undefined,
    intent,
    isRecurring: row.recurring != null,
  };
}

/** The intent as a charge of this card would find it. */
async function intentFactsOf(tx: Tx, row: Readonly<IntentRow>, cardId: string, at: Date): Promise<IntentFacts> {
  const state = stateOf(row);
  const taken = await windowOfNow(tx, row, at);
  const matchable = matchableIntent(row, taken === null ? [] : [taken], at);
  const otherCard = row.cardId === cardId ? undefined : `intent ${row.id} is for card ${row.cardId}`;
  return {
    ...matchable,
    status: statusAsOf(state, at),
    autoApproved: row.isAutoApproved,
    attestedAt: row.attestedAt ?? null,
    closedBecause: otherCard ?? matchable.closedBecause ?? whyUnpayable(state, at),
  };
}

type Subject = Requested & { readonly cardId: string; readonly agentId: string };

async function evaluate(tx: Tx, deps: Pick<Deps, 'risk'>, subject: Subject, at: Date): Promise<SpendingDecision> {
  const { cardId, agentId, expectedAmountCents: amountCents = zero, merchant, intent, isRecurring } = subject;
  const agent = await agentStanding(tx, agentId);
  if (agent === null) throw notFound('agent', agentId);
  return evaluatePlan(deps)(tx, {
    agent,
    card: await findCardOf(tx, agentId, { cardId }),
    policy: await policyOfAgent(tx, agentId),
    request: { amountCents, merchant: merchant === undefined ? undefined : { name: merchant }, recurring: isRecurring },
    phase: 'access',
    intent,
    at,
  });
}
