/**
 * The transaction of a decided authorization: a new one, one that a confirm wrote, or one that was booked from earlier
 * clearings. Builds the row; writes nothing.
 * @module
 */
import { newId } from '../../../kernel/ids.ts';
import { add, cents } from '../../../kernel/money.ts';
import type { Cause } from '../../../platform/cause.ts';
import { blankTransaction } from '../transactions/blank-transaction.ts';
import type { TransactionFields } from '../transactions/transaction.entity.ts';
import { holdExpiry } from '../transactions/transaction.rules.ts';
import type { Decision } from './authorization.rules.ts';
import { type AuthorizationFacts, isTokenSpent, type OrphanTransaction } from './authorization-facts.ts';
import type { AuthorizationMessage } from './network.contract.ts';
import type { Received } from './received-message.ts';

export function transactionOf(
  { adapter, message, cause }: Received<AuthorizationMessage>,
  facts: AuthorizationFacts,
  decision: Decision,
  linked: TransactionFields | undefined,
): TransactionFields {
  const { card, agent, fundingSource, token, simulation } = facts;
  const { outcome, approvedCents, holdCents, rule, reason } = decision;
  const isDeclined = outcome === 'declined';
  const isVerification = message.kind === 'verification';
  return blankTransaction({
    id: linked?.id ?? newId('transaction'),
    ownerId: card.ownerId,
    agentId: card.agentId,
    cardId: card.id,
    // A declined charge belongs to no intent, unless it was made for that one.
    intentId: isDeclined ? (token?.intentId ?? simulation?.intentId ?? null) : intentPaidFor(facts, decision),
    walletId: agent.walletId,
    adapter,
    authorizationId: message.id,
    fundingSource,
    rail: railOf(facts),
    status: isDeclined ? 'failed' : isVerification ? 'completed' : 'pending',
    amountCents: isDeclined ? cents(message.amountCents) : approvedCents,
    requestedCents: cents(message.amountCents),
    approvedCents,
    heldCents: holdCents,
    merchantId: message.merchant.id,
    merchant: message.merchant.name,
    merchantMcc: message.merchant.mcc,
    merchantCountry: message.merchant.country,
    merchantAmount: message.merchantAmount ?? null,
    merchantCurrency: message.merchantCurrency ?? null,
    isVerification,
    isRecurring: message.recurring,
    declineRule: isDeclined ? rule : null,
    declineReason: isDeclined ? reason : null,
    holdExpiresAt: isDeclined || isVerification ? null : expiryOf(message, cause),
    confirmedAt: linked?.confirmedAt ?? null,
    confirmCause: linked?.confirmCause ?? null,
    authorizedAt: isDeclined ? null : cause.at,
    completedAt: isVerification && !isDeclined ? cause.at : null,
    requestId: cause.requestId,
    runId: cause.runId ?? null,
    version: (linked?.version ?? 0) + 1,
    createdAt: linked?.createdAt ?? cause.at,
    updatedAt: cause.at,
  });
}

/** What was collected stays on the row; the rest is held, if it is, from now on. */
export function orphanTransactionOf(
  { message, cause }: Received<AuthorizationMessage>,
  orphan: OrphanTransaction,
  facts: AuthorizationFacts,
  decision: Decision,
): TransactionFields {
  const { outcome, approvedCents, holdCents, rule, reason } = decision;
  const { cardRef: _cardRef, isReversed: _isReversed, ...row } = orphan;
  const isDeclined = outcome === 'declined';
  const isHeld = holdCents > 0;
  return {
    ...row,
    intentId: row.intentId ?? (isDeclined ? null : intentPaidFor(facts, decision)),
    rail: facts.token?.kind === 'credential' ? 'mpp' : row.rail,
    status: isHeld ? 'pending' : row.status,
    amountCents: isHeld ? add(row.clearedCents, holdCents) : row.amountCents,
    requestedCents: cents(message.amountCents),
    approvedCents,
    heldCents: holdCents,
    merchantId: message.merchant.id,
    merchant: message.merchant.name,
    merchantMcc: message.merchant.mcc,
    merchantCountry: message.merchant.country,
    merchantAmount: message.merchantAmount ?? null,
    merchantCurrency: message.merchantCurrency ?? null,
    isRecurring: message.recurring,
    declineRule: isDeclined ? rule : null,
    declineReason: isDeclined ? reason : null,
    holdExpiresAt: isHeld ? expiryOf(message, cause) : (row.holdExpiresAt ?? null),
    // Spending counts on the day of the authorization.
    authorizedAt: isDeclined ? (row.authorizedAt ?? null) : cause.at,
    requestId: cause.requestId,
    runId: cause.runId ?? null,
    version: row.version + 1,
    updatedAt: cause.at,
  };
}

function railOf({ token, simulation }: AuthorizationFacts): TransactionFields['rail'] {
  if (token?.kind === 'credential') return 'mpp';
  return simulation === undefined ? 'card' : 'simulate';
}

/**
 * Where all of it was collected before, no rule was asked: also where the amount does not fit the intent of the payment
 * token, that intent is paid for, so that nothing pays for it a second time.
 */
function intentPaidFor(facts: AuthorizationFacts, { candidate }: Decision): string | null {
  if (candidate !== undefined) return candidate.id;
  if (isTokenSpent(facts)) return null;
  return facts.intents.find(({ id }) => id === facts.token?.intentId)?.id ?? null;
}

const expiryOf = ({ merchant, expiresAt }: AuthorizationMessage, { at }: Cause): Date =>
  holdExpiry({ mcc: merchant.mcc, at, networkExpiresAt: expiresAt === undefined ? undefined : new Date(expiresAt) });
