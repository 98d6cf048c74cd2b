/**
 * Decides whether more may be held for a payment that was approved, and holds it. Rare, so always under the locks of the
 * payment, which makes it correct in any order with the other messages. A declined increment leaves the hold as it was,
 * and asks no person: the payment keeps its intent, which a later approval does not change.
 * @module
 */
import type { Database } from '../../db/database.ts';
import type { Tx } from '../../db/tx.ts';
import type { Candidate, DecisionFacts } from '../../domains/payments/network/authorization.rules.ts';
import { incrementDecided } from '../../domains/payments/network/authorization-events.ts';
import { decisionFactsOf, loadAuthorizationFacts } from '../../domains/payments/network/authorization-facts.ts';
import { decideIncrement, wholeBefore } from '../../domains/payments/network/increment.rules.ts';
import {
  keepIncrementDecision,
  lockForIncrement,
  type PaymentSoFar,
  paymentSoFar,
} from '../../domains/payments/network/increment.service.ts';
import {
  type AuthorizationAnswer,
  authorizationAnswer,
  type IncrementMessage,
} from '../../domains/payments/network/network.contract.ts';
import {
  claimAnswered,
  isAuthorizationAnswered,
  isCardKnown,
  keepMessage,
} from '../../domains/payments/network/network-message.service.ts';
import type { Misfit, Received } from '../../domains/payments/network/received-message.ts';
import { post, type Source, sourceOf } from '../../domains/payments/transactions/booking.posting.service.ts';
import { insertEvent } from '../../domains/payments/transactions/booking.row.service.ts';
import { fundingSourceOf } from '../../domains/payments/transactions/funding-source.rules.ts';
import type { TransactionRow } from '../../domains/payments/transactions/transaction.entity.ts';
import { findByAuthorization } from '../../domains/payments/transactions/transaction.queries.ts';
import { holdExpiry, increase } from '../../domains/payments/transactions/transaction.rules.ts';
import { lockIntent } from '../../domains/spending/intents/intent.lock.service.ts';
import { matchableIntent } from '../../domains/spending/intents/matchable-intent.rules.ts';
import { windowOfTransaction } from '../../domains/spending/intents/windows/window.queries.ts';
import type { RequestFacts } from '../../domains/spending/policies/policy.rules.ts';
import type { RiskEngine } from '../../domains/spending/risk/risk.port.ts';
import { available, held } from '../../domains/treasury/ledger/account.rules.ts';
import { authorization as holdPostings } from '../../domains/treasury/ledger/ledger.rules.ts';
import { lockAccounts } from '../../domains/treasury/ledger/ledger.service.ts';
import { recordChanges } from '../../events/record.ts';
import { second } from '../../kernel/instant.ts';
import { cents } from '../../kernel/money.ts';
import { causedBy } from '../../platform/cause.ts';
import { decideUnderLocks } from './authorize-card.ts';

/** `mostWaitMs`: how long a statement may wait for a lock. An approval that comes later reaches no terminal. */
export type IncrementDeps = {
  readonly database: Database;
  readonly risk: RiskEngine;
  readonly mostWaitMs?: number;
};
type Increment = Received<IncrementMessage>;

export const incrementAuthorization =
  ({ database, risk, mostWaitMs = second }: IncrementDeps) =>
  (received: Increment): Promise<AuthorizationAnswer> =>
    decideUnderLocks(database, mostWaitMs, (tx) => increment(tx, risk, received));

async function increment(tx: Tx, risk: RiskEngine, received: Increment): Promise<AuthorizationAnswer> {
  const { adapter, message } = received;
  const { known, misfit } = await claimAnswered(tx, 'increment', received, authorizationAnswer.strip());
  if (known !== undefined) return known;
  if (misfit !== undefined) return decline(tx, received, misfits[misfit]);
  if (!(await isCardKnown(tx, message.cardRef))) return decline(tx, received, unknownCard);
  // One whose clearings were booked before it came has not been asked for yet either.
  const isAnswered = await isAuthorizationAnswered(tx, adapter, message.authorizationId);
  const found = isAnswered ? await findByAuthorization(tx, adapter, message.authorizationId) : null;
  if (found === null) return decline(tx, received, noAuthorization);
  return decide(tx, risk, received, await lockForIncrement(tx, found.id));
}

async function decide(
  tx: Tx,
  risk: RiskEngine,
  received: Increment,
  row: TransactionRow,
): Promise<AuthorizationAnswer> {
  const { adapter, message, cause: own } = received;
  const cause = causedBy(own, row);
  const { at } = cause;
  // No network has the empty name, so the query finds no message of a network.
  const question = { adapter: '', id: row.id, cardRef: message.cardRef, tokenHash: null, at };
  const loaded = await loadAuthorizationFacts(tx, question);
  if (!('facts' in loaded)) return decline(tx, received, unknownCard);
  const soFar = await paymentSoFar(tx, row.id, at);
  const candidates = await intentOf(tx, row, at);
  const from = fundingSourceOf(row.fundingSource);
  const { ownerId, agentId } = row;
  const request = requestOf(row, soFar);
  const amountCents = wholeBefore(row) + message.amountCents;
  const assessed = await risk.assess(tx, { ownerId, agentId }, { ...request, amountCents }, at);
  const balances = await lockAccounts(tx, cause, ownerId, [available(from), held(from)]);
  const availableCents = balances[available(from)] ?? 0;
  const ofCard = decisionFactsOf(loaded.facts, { ...message, cardRef: message.cardRef }, request, {
    at,
    risk: assessed,
  });
  const card: DecisionFacts = {
    ...ofCard,
    spending: { ...ofCard.spending, counters: soFar.counters },
    candidates,
    token: tokenOf(row, soFar),
    availableCents,
  };
  const decision = decideIncrement({ payment: row, amountCents: message.amountCents, card });
  const { outcome, approvedCents, rule, reason } = decision;
  const answer: AuthorizationAnswer = { decision: outcome, approvedCents, transactionId: row.id, rule, reason };
  await keepMessage(tx, received, { kind: 'increment', transactionId: row.id, answer });
  const { facts } = loaded;
  await keepIncrementDecision(tx, { row, message, facts, counters: soFar.counters, availableCents, decision }, cause);
  const source = sourceOf(adapter, message);
  await insertEvent(tx, row, { kind: 'increment', source, amountCents: approvedCents, isFinal: null }, own);
  if (approvedCents > 0) await hold(tx, row, { approvedCents, message, source }, received);
  const asked = { networkId: message.id, askedCents: cents(message.amountCents) };
  await recordChanges(tx, cause, [incrementDecided(row, decision, asked)]);
  return answer;
}

type Granted = {
  readonly approvedCents: number;
  readonly message: IncrementMessage;
  readonly source: Source;
};

async function hold(
  tx: Tx,
  row: TransactionRow,
  { approvedCents: amountCents, message: { expiresAt }, source }: Granted,
  { cause: own }: Increment,
): Promise<void> {
  const cause = causedBy(own, row);
  const next = increase(row, amountCents);
  const networkExpiresAt = expiresAt === undefined ? undefined : new Date(expiresAt);
  const expiry = holdExpiry({ mcc: row.merchantMcc ?? '', at: cause.at, networkExpiresAt });
  const { heldCents, approvedCents } = next;
  Object.assign(row, { amountCents: next.amountCents, approvedCents, heldCents, updatedAt: cause.at });
  // More for a payment never makes its hold end earlier.
  if (row.holdExpiresAt == null || row.holdExpiresAt < expiry) row.holdExpiresAt = expiry;
  await tx.flush();
  const from = fundingSourceOf(row.fundingSource);
  const postings = holdPostings({ ownerId: row.ownerId, from, amountCents });
  await post(tx, row, { kind: 'increment', source, postings }, cause);
}

/**
 * The payment's intent, which is locked: it stands while it pays for this payment, whose merchant was compared then. After a
 * reversal it may pay for another one, and does not when more is collected of this one.
 */
async function intentOf(tx: Tx, { id, intentId }: TransactionRow, at: Date): Promise<Candidate[]> {
  if (intentId == null) return [];
  const intent = await lockIntent(tx, intentId);
  const paysForIt =
    intent.recurring == null
      ? intent.matchedTransactionId === id
      : (await windowOfTransaction(tx, intentId, id)) !== null;
  return [
    {
      ...matchableIntent(intent, [], at),
      expectedMerchant: null,
      expectedMcc: undefined,
      expectedCountry: undefined,
      closedBecause: paysForIt ? undefined : `intent ${intentId} does not pay for transaction ${id} any more`,
      isAutoApproved: intent.isAutoApproved,
      attestedAt: intent.attestedAt ?? null,
      // What an owner allows once is that amount, and nothing on top; the rules are not lifted for an increment.
      ...(intent.allowsOnceOf == null ? {} : { tolerancePercent: 0 }),
    },
  ];
}

function requestOf(row: TransactionRow, { token }: PaymentSoFar): RequestFacts {
  const merchant = { id: row.merchantId ?? '', name: row.merchant ?? '' };
  return {
    amountCents: 0, // The rule puts the whole new amount here.
    merchant: token?.host == null ? merchant : { ...merchant, domain: token.host },
    mcc: row.merchantMcc ?? null,
    country: row.merchantCountry ?? null,
    kind: 'purchase',
    recurring: row.isRecurring,
  };
}

/** A payment token is good for its ceiling, whichever message asks. */
function tokenOf({ intentId }: TransactionRow, { token }: PaymentSoFar): DecisionFacts['token'] {
  if (token === null || intentId == null) return null;
  return { intentId, isUsed: false, ceilingCents: token.ceilingCents };
}

type Why = { readonly rule: string; readonly reason: string };

const misfits: Readonly<Record<Misfit, Why>> = {
  other_card: { rule: 'other_card', reason: 'the authorization is of another card' },
  other_currency: { rule: 'other_currency', reason: 'cards here are charged in EUR' },
};
const unknownCard: Why = { rule: 'unknown_card', reason: 'the card is not known here' };
const noAuthorization: Why = {
  rule: 'no_authorization',
  reason: 'the network has not asked for the authorization that this increment is of',
};

/** There is no payment that it could be a part of, so only the message is kept. */
async function decline(tx: Tx, received: Increment, { rule, reason }: Why): Promise<AuthorizationAnswer> {
  const answer: AuthorizationAnswer = { decision: 'declined', approvedCents: 0, transactionId: null, rule, reason };
  await keepMessage(tx, received, { kind: 'increment', transactionId: null, answer });
  return answer;
}
