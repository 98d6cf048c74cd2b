/**
 * Lets a declined charge pass once: an approved intent for its agent, card, merchant and amount, that lives 15 minutes
 * and that no other payment can use. It takes the place of the intent and of the requests that are open for the charge.
 * Refused where the same charge would be declined nevertheless. A repeat finds the first intent, whatever has become of it.
 * @module
 */
import type { Database } from '../../db/database.ts';
import type { Tx } from '../../db/tx.ts';
import { cardRefOf } from '../../domains/cards/cards/card.queries.ts';
import type { ApprovalLinks } from '../../domains/identity/approvals/approval-link.service.ts';
import {
  decisionOnAllowed,
  declinedChargeOf,
  purposeOf,
  type Refusal,
  requestAgain,
  whyNotAllowed,
} from '../../domains/payments/network/allow-once.rules.ts';
import { decisionFactsOf, loadAuthorizationFacts } from '../../domains/payments/network/authorization-facts.ts';
import { type DeclinedDecision, findDeclined } from '../../domains/payments/network/decision.queries.ts';
import { lockAllowing } from '../../domains/payments/transactions/payment-lock.service.ts';
import { allowedOnceMinutes, type DeclinedCharge } from '../../domains/spending/intents/allow-once.rules.ts';
import type { IntentRow } from '../../domains/spending/intents/intent.entity.ts';
import { intentWorkflowId } from '../../domains/spending/intents/intent.messages.ts';
import { findAllowing } from '../../domains/spending/intents/intent.queries.ts';
import { giveWayTo } from '../../domains/spending/intents/intent.replace.service.ts';
import { type Attestation, insertIntent } from '../../domains/spending/intents/intent.service.ts';
import { refusedBy } from '../../domains/spending/policies/policy.wire.ts';
import type { RiskEngine } from '../../domains/spending/risk/risk.port.ts';
import { type Call, ownOf } from '../../http/caller.ts';
import type { ReachedId } from '../../http/reaches.ts';
import { DomainError, notFound } from '../../kernel/errors.ts';
import type { Id } from '../../kernel/ids.ts';
import { later, minute } from '../../kernel/instant.ts';
import { cents } from '../../kernel/money.ts';
import { assertBelowLimit } from '../../platform/assert-limit.ts';
import type { Cause } from '../../platform/cause.ts';
import type { WorkflowGateway } from '../../temporal/gateway.ts';

type Deps = {
  readonly database: Pick<Database, 'write'>;
  readonly gateway: Pick<WorkflowGateway, 'startSoon'>;
  readonly risk: RiskEngine;
  readonly links: Pick<ApprovalLinks, 'open'>;
};

export type AllowedOnce = { readonly row: Readonly<IntentRow>; readonly isNew: boolean };

export const allowOnce =
  (deps: Deps) =>
  async (transactionId: ReachedId<'transaction'>, call: Call): Promise<AllowedOnce> => {
    const order = { transactionId, ownerId: ownOf(call).ownerId, intentId: call.newId('intent') };
    const allowed = await deps.database.write((tx) => allow(tx, deps, order, call.cause));
    if (allowed.isNew) deps.gateway.startSoon(intentWorkflowId(allowed.row.id));
    return allowed;
  };

type Order = {
  readonly transactionId: ReachedId<'transaction'>;
  readonly ownerId: string;
  /** Of the intent that is made. */
  readonly intentId: Id<'intent'>;
};

async function allow(tx: Tx, deps: Deps, order: Order, cause: Cause): Promise<AllowedOnce> {
  const { transactionId, ownerId, intentId } = order;
  const found = await findDeclined(tx, transactionId, ownerId);
  if (found === null) throw notFound('transaction', transactionId);
  const { agentId, cardId } = found;
  // Whatever changes the transaction, the agent's spending or its rules waits for this grant, or is seen by it.
  if (cardId !== null) await lockAllowing(tx, { agentId, cardId }, cause.at);
  const known = await findAllowing(tx, transactionId);
  // A request that is repeated after its answer was lost has the same id.
  if (known !== null) return { row: known, isNew: known.id === intentId };
  const charge = (await findDeclined(tx, transactionId, ownerId)) ?? found;
  refuse(whyNotAllowed(charge, cause.at));
  const { decision } = charge;
  if (cardId === null || decision === null) throw notFound('decision on transaction', transactionId);
  const declined = declinedChargeOf(transactionId, decision, decision);
  const amountCents = cents(decision.amountCents);
  const { merchant } = declined;
  const open = { transactionId, agentId, cardId, merchantId: merchant.id, amountCents, intentId: decision.intentId };
  const attestation = await giveWayTo(tx, open, cause);
  await refuseHelpless(tx, deps, { cardId, declined, decision, attestation }, cause);
  const counted = { ownerId, subject: agentId, at: cause.at };
  await assertBelowLimit(tx, 'open_intents', counted, { isLocked: true });
  const row = await insertIntent(
    tx,
    {
      ...{ id: intentId, ownerId, agentId, cardId },
      clientIntentId: null,
      purpose: purposeOf(amountCents, declined),
      expectedAmountCents: amountCents,
      expectedMerchant: merchant.name,
      expiresAt: later(cause.at, allowedOnceMinutes * minute),
      policyCheck: { allowed: false, requiresApproval: true, reason: decision.reason },
      policyVersion: decision.policyVersion,
      status: 'approved',
      declinedCharge: declined,
      allowsOnceOf: transactionId,
      attestation,
    },
    cause,
    deps.links,
  );
  return { row, isNew: true };
}

type Allowing = {
  readonly cardId: string;
  readonly declined: DeclinedCharge;
  readonly decision: DeclinedDecision;
  readonly attestation: Attestation;
};

/** A permission that the merchant's next attempt cannot use would only say that all is well. */
async function refuseHelpless(tx: Tx, { risk }: Deps, allowing: Allowing, { at }: Cause): Promise<void> {
  const { cardId, declined, decision, attestation } = allowing;
  const { amountCents, recurring } = decision;
  const cardRef = await cardRefOf(tx, cardId);
  // No network has the empty name, so the query finds no message of a network.
  const loaded = await loadAuthorizationFacts(tx, {
    ...{ adapter: '', id: declined.transactionId, cardRef },
    ...{ tokenHash: null, at },
  });
  if (!('facts' in loaded)) throw notFound('card', cardId);
  const { facts } = loaded;
  const request = requestAgain(declined, { amountCents, recurring });
  const assessed = await risk.assess(tx, { ownerId: facts.agent.ownerId, agentId: facts.agent.id }, request, at);
  const message = { amountCents, partialSupported: false, cardRef };
  const asked = decisionFactsOf(facts, message, request, { at, risk: assessed });
  const again = decisionOnAllowed(asked, declined, { ...attestation, amountCents: cents(amountCents) });
  if (again.outcome === 'declined') {
    refuse({ why: `the charge would be declined nevertheless: ${again.reason}`, by: again });
  }
}

function refuse(refusal: Refusal | undefined): void {
  if (refusal === undefined) return;
  const { why, by } = refusal;
  if (by === undefined) throw new DomainError('invalid_state', why);
  throw new DomainError('policy_denied', why, { refusedBy: refusedBy(by) });
}
