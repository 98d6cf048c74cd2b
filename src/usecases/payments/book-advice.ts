/**
 * Books what the network approved in Bursar's place while no answer came. Never refused, also above the limits, and with
 * an alert for the owner. An authorization that has not come is decided by its advice, and gets that answer when it
 * comes; one that was declined, or approved for less, is held now, and pays for the intent that it was for.
 * @module
 */
import { sql } from 'kysely';
import { type Given, query } from '../../db/db.ts';
import type { Tx } from '../../db/tx.ts';
import { adviseDecision, standInRule } from '../../domains/payments/network/advice.rules.ts';
import type { BookingAnswer } from '../../domains/payments/network/network.contract.ts';
import type { ReceivedAdvice as Advice } from '../../domains/payments/network/network.routes.ts';
import {
  claimMessage,
  isAuthorizationAnswered,
  keepMessage,
  keepMisfit,
  misfitRefusal,
} from '../../domains/payments/network/network-message.service.ts';
import type { Misfit } from '../../domains/payments/network/received-message.ts';
import { alertAbout, approvedByNetwork, changeOf } from '../../domains/payments/transactions/booking.changes.ts';
import { matchMeant } from '../../domains/payments/transactions/booking.others.service.ts';
import { post, sourceOf } from '../../domains/payments/transactions/booking.posting.service.ts';
import { insertEvent } from '../../domains/payments/transactions/booking.row.service.ts';
import { fundingSourceOf } from '../../domains/payments/transactions/funding-source.rules.ts';
import { lockPayment } from '../../domains/payments/transactions/payment-lock.service.ts';
import type { TransactionRow } from '../../domains/payments/transactions/transaction.entity.ts';
import {
  findByAuthorization,
  lockTransaction,
  reversalsOf,
} from '../../domains/payments/transactions/transaction.queries.ts';
import { advise, holdExpiry, isReversedWhole } from '../../domains/payments/transactions/transaction.rules.ts';
import { available, held } from '../../domains/treasury/ledger/account.rules.ts';
import { authorization as holdPostings } from '../../domains/treasury/ledger/ledger.rules.ts';
import { lockAccounts } from '../../domains/treasury/ledger/ledger.service.ts';
import { type Change, recordChanges } from '../../events/record.ts';
import { second } from '../../kernel/instant.ts';
import { add, cents, subtract } from '../../kernel/money.ts';
import { type Cause, causedBy } from '../../platform/cause.ts';
import { recordTransition } from '../../platform/transitions.ts';
import { type AuthorizeCardDeps, authorizeUnderLock, decideUnderLocks } from './authorize-card.ts';

type Booked = { readonly answer: BookingAnswer; readonly isUnknownCard?: boolean } | { readonly misfit: Misfit };

/** `mostWaitMs`: how long a statement may wait for a lock. */
export const bookAdvice =
  ({ mostWaitMs = second, ...deps }: AuthorizeCardDeps & { readonly mostWaitMs?: number }) =>
  async (received: Advice): Promise<BookingAnswer> => {
    const booked = await decideUnderLocks(deps.database, mostWaitMs, (tx) => book(tx, deps, received));
    const { adapter, message } = received;
    const { id: adviceId, authorizationId, approvedCents } = message;
    if ('misfit' in booked) {
      const { misfit } = booked;
      deps.log.error({ adapter, adviceId, authorizationId, reason: misfit }, 'an advice is kept and not booked');
      throw misfitRefusal(message, misfit);
    }
    if (booked.isUnknownCard === true) {
      deps.log.error({ adapter, adviceId, authorizationId, approvedCents }, 'the network approved an unknown card');
    }
    return booked.answer;
  };

async function book(tx: Tx, deps: AuthorizeCardDeps, received: Advice): Promise<Booked> {
  const { known, misfit } = await claimMessage(tx, 'advice', received);
  if (known !== undefined) return { answer: known };
  if (misfit !== undefined) {
    await keepMisfit(tx, 'advice', received, misfit);
    return { misfit };
  }
  const { adapter, message } = received;
  const isAnswered = await isAuthorizationAnswered(tx, adapter, message.authorizationId);
  const transactionId = isAnswered ? await bookOnAnswered(tx, received) : await decide(tx, deps, received);
  const answer = { transactionId };
  const isUnknownCard = transactionId === null;
  const kept = { kind: 'advice', transactionId, answer } as const;
  await keepMessage(tx, received, isUnknownCard ? { ...kept, unsettled: 'unknown_card' } : kept);
  return { answer, isUnknownCard };
}

/** The authorization has not come: the advice stands for it. */
async function decide(tx: Tx, deps: AuthorizeCardDeps, received: Advice): Promise<string | null> {
  const { message, adapter, cause, authorization } = received;
  const { approvedCents } = message;
  const { transactionId, rule } = await authorizeUnderLock(tx, deps, authorization, (decision, facts) =>
    adviseDecision(decision, facts, approvedCents),
  );
  if (transactionId === null) return null;
  const row = await lockTransaction(tx, transactionId);
  const source = sourceOf(adapter, { ...message.authorization, id: message.id });
  await insertEvent(tx, row, { kind: 'advice', source, amountCents: approvedCents, isFinal: null }, cause);
  const signals = [
    'approved_by_network',
    ...(rule === standInRule ? ['refused_by_rules'] : []),
    ...beyondRequest(message),
  ];
  await recordChanges(tx, causedBy(cause, row), alertAbout(row, signals, uncovered(row, approvedCents)));
  return row.id;
}

/** Bursar answered it, and the answer did not arrive; null: the card was not known. */
async function bookOnAnswered(tx: Tx, { message, adapter, cause: own, authorization }: Advice): Promise<string | null> {
  const found = await findByAuthorization(tx, adapter, message.authorizationId);
  if (found === null) return null;
  const row = await lockPayment(tx, found.id);
  const cause = causedBy(own, row);
  const source = sourceOf(adapter, { ...message.authorization, id: message.id });
  await insertEvent(tx, row, { kind: 'advice', source, amountCents: message.approvedCents, isFinal: null }, own);
  // The advice is about the authorization; what was approved on top of it stays.
  const approvedCents = add(message.approvedCents, await incrementedCents(tx, row.id));
  const reversals = row.approvedCents === 0 ? await reversalsOf(tx, row.id) : undefined;
  // Reversed before it was held: nothing of it is left to hold.
  if (reversals !== undefined && isReversedWhole(reversals, approvedCents)) return row.id;
  const reversedCents = cents(reversals?.cents ?? row.reversedCents);
  const before = row.status;
  const state = { ...row, reversedCents };
  // What is missing does not depend on the money.
  if (advise(state, { approvedCents, availableCents: 0 }) === state) return row.id;
  if (before === 'failed') await matchMeant(tx, row, cause);
  const from = fundingSourceOf(row.fundingSource);
  const balances = await lockAccounts(tx, cause, row.ownerId, [available(from), held(from)]);
  const next = advise(state, { approvedCents, availableCents: balances[available(from)] ?? 0 });
  const holdCents = subtract(next.heldCents, row.heldCents);
  const { status, amountCents, heldCents } = next;
  Object.assign(row, { status, amountCents, heldCents, reversedCents, updatedAt: cause.at });
  row.approvedCents = next.approvedCents;
  row.authorizedAt ??= cause.at;
  row.holdExpiresAt = expiryOf(row, authorization, cause);
  await tx.flush();
  if (status !== before) await recordTransition(tx, 'transaction', row.id, { from: before, to: status }, cause);
  const postings = holdCents === 0 ? [] : holdPostings({ ownerId: row.ownerId, from, amountCents: holdCents });
  // In the journal's words a hold; its cause is the advice.
  await post(tx, row, { kind: 'authorization', by: 'advice', source, postings }, cause);
  const details = { advice: source.id, approvedCents };
  const told: Change =
    before === 'failed' ? approvedByNetwork(row, details) : changeOf(row, 'transaction.updated', details);
  const signals = ['approved_by_network', 'refused_by_rules', ...beyondRequest(message)];
  const alert = alertAbout(row, signals, uncovered(row, approvedCents));
  await recordChanges(tx, cause, [told, ...alert]);
  return row.id;
}

/** The network approved more than it says that the merchant asked for. */
const beyondRequest = ({ approvedCents, authorization }: Advice['message']): string[] =>
  approvedCents > authorization.amountCents ? ['approved_above_request'] : [];

/** What neither was held nor has been collected or given back: there is no money for it. */
const uncovered = ({ heldCents, clearedCents, reversedCents }: TransactionRow, approvedCents: number) => ({
  beyondCents: cents(Math.max(0, approvedCents - heldCents - clearedCents - reversedCents)),
});

const increments = query((from, given: Given<{ transactionId: string }>) =>
  from
    .selectFrom('transaction_events')
    .select(sql<number>`coalesce(sum(amount_cents), 0)::float8`.as('cents'))
    .where('transactionId', '=', given('transactionId'))
    .where('kind', '=', sql.lit('increment')),
);

const incrementedCents = async (tx: Tx, transactionId: string): Promise<number> =>
  (await increments.first(tx, { transactionId }))?.cents ?? 0;

function expiryOf(
  row: TransactionRow,
  { message: { merchant, expiresAt } }: Advice['authorization'],
  { at }: Cause,
): Date {
  const networkExpiresAt = expiresAt === undefined ? undefined : new Date(expiresAt);
  const expiry = holdExpiry({ mcc: merchant.mcc, at, networkExpiresAt });
  return row.holdExpiresAt != null && row.holdExpiresAt > expiry ? row.holdExpiresAt : expiry;
}
