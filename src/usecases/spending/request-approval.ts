/**
 * Requests a person's approval for a charge that was declined only for the lack of one: creates one pending intent for
 * the card and charge, with an event for the owner. The person has a day to decide; after the approval the merchant's
 * next attempt passes for 15 minutes.
 * @module
 */
import { runSql } from '../../db/statement.ts';
import type { Tx } from '../../db/tx.ts';
import type { CardRow } from '../../domains/cards/cards/card.entity.ts';
import { findCard } from '../../domains/cards/cards/card.queries.ts';
import type { ApprovalLinks } from '../../domains/identity/approvals/approval-link.service.ts';
import { lockAgent } from '../../domains/parties/agents/agent.queries.ts';
import { declinedChargeOf } from '../../domains/payments/network/allow-once.rules.ts';
import type { Decision } from '../../domains/payments/network/authorization.rules.ts';
import type { AuthorizationFacts } from '../../domains/payments/network/authorization-facts.ts';
import type { AuthorizationMessage } from '../../domains/payments/network/network.contract.ts';
import type { Received } from '../../domains/payments/network/received-message.ts';
import { insertIntent } from '../../domains/spending/intents/intent.service.ts';
import { recordChanges } from '../../events/record.ts';
import { newId } from '../../kernel/ids.ts';
import { day, later } from '../../kernel/instant.ts';
import { cents, eurosFromCents } from '../../kernel/money.ts';
import { whyAtLimit } from '../../platform/assert-limit.ts';

export const personDecidesMs = day;
const retryPassesMinutes = 15;

export type DeclinedForPerson = Pick<Decision, 'outcome' | 'rule' | 'reason' | 'trace'> & {
  readonly transactionId: string;
};

/** Of the facts of its decision. */
type Charged = {
  readonly card: Pick<AuthorizationFacts['card'], 'id' | 'ownerId' | 'agentId'>;
  readonly policy: Pick<NonNullable<AuthorizationFacts['policy']>, 'version'> | null;
};

export type RequestApproval = (
  tx: Tx,
  received: Received<AuthorizationMessage>,
  charged: Charged,
  declined: DeclinedForPerson,
) => Promise<void>;

/** The authorization is declined and kept already; a charge that is asked about already is not asked about twice. */
export const requestApproval =
  (links: Pick<ApprovalLinks, 'open'>): RequestApproval =>
  async (tx, { message, cause }, { card: charged, policy }, declined) => {
    const { amountCents, merchant } = message;
    const { rule, reason, transactionId } = declined;
    // Charges and declarations of one agent come one after the other: two charges in parallel do not ask twice, and
    // all intents of the agent are counted under one lock.
    await runSql(tx, 'select lock_spending($1)', [charged.agentId]);
    // The network may have approved or collected it since: there is nothing to ask any more.
    const declinedCharges = await runSql(
      tx,
      `select 1 from transactions where id = $1 and status = 'failed' and cleared_cents = 0`,
      [transactionId],
    );
    if (declinedCharges === 0) return;
    const card = await cardOfNow(tx, charged);
    if (card === null) return;
    // Also not where a person has said no, until the day is over that there was for it: merchants try several times.
    const asked = await runSql(
      tx,
      `select 1 from intents where agent_id = $1 and card_id = $2 and status = 'pending_approval'
         and expected_amount_cents = $3 and expected_merchant = $4 and expires_at > $5
       union all
       select 1 from intents where agent_id = $1 and card_id = $2 and status = 'denied' and created_at > $6
         and expected_amount_cents = $3 and declined_charge -> 'merchant' ->> 'id' = $7 and expires_at > $5`,
      [
        ...[card.agentId, card.id, amountCents, merchant.name, cause.at],
        ...[later(cause.at, -personDecidesMs), merchant.id],
      ],
    );
    if (asked > 0) return;
    // At the limit nothing is created; the decline stands.
    const counted = { ownerId: card.ownerId, subject: card.agentId, at: cause.at };
    const whyNot = await whyAtLimit(tx, ['open_intents', 'waiting_intents'], counted, { isLocked: true });
    if (whyNot !== undefined) return;
    const intent = await insertIntent(
      tx,
      {
        id: newId('intent'),
        ownerId: card.ownerId,
        agentId: card.agentId,
        clientIntentId: null,
        purpose: `a charge by ${merchant.name} that waits for a person`,
        expectedAmountCents: cents(amountCents),
        expectedMerchant: merchant.name,
        cardId: card.id,
        expiresAt: later(cause.at, personDecidesMs),
        payWithinMinutes: retryPassesMinutes,
        policyCheck: { allowed: true, requiresApproval: true, reason },
        policyVersion: policy?.version ?? null,
        status: 'pending_approval',
        declinedCharge: declinedChargeOf(transactionId, message, declined),
      },
      cause,
      links,
    );
    const data = {
      id: transactionId,
      transactionId,
      ownerId: card.ownerId,
      agentId: card.agentId,
      status: 'failed',
      intentId: intent.id,
      action: 'review',
      signals: [rule],
      amountEuros: eurosFromCents(cents(amountCents)),
    };
    const { ownerId, agentId } = card;
    await recordChanges(tx, cause, [
      { event: 'risk.review_required', ownerId, agentId, subjectId: transactionId, data },
    ]);
  };

/** A rotation or a close may have come since the decline; the agent is held so that none comes now. */
async function cardOfNow(tx: Tx, { id, ownerId, agentId }: Charged['card']): Promise<CardRow | null> {
  const agent = await lockAgent(tx, ownerId, agentId);
  if (agent === undefined || agent.status === 'closed') return null;
  let card = await findCard(tx, id);
  while (card?.replacedByCardId != null) card = await findCard(tx, card.replacedByCardId);
  return card === null || card.status === 'closed' ? null : card;
}
