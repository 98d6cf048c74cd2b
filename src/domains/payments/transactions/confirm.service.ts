/**
 * Transactions that a confirm wrote before any authorization came: nothing is posted, an authorization may link them
 * for a while, and a transaction that is not linked ends as failed.
 * @module
 */
import { LockMode } from '@mikro-orm/core';
import type { Tx } from '../../../db/tx.ts';
import { type Change, recordChanges } from '../../../events/record.ts';
import { later } from '../../../kernel/instant.ts';
import { type Cause, causedBy } from '../../../platform/cause.ts';
import { recordTransition } from '../../../platform/transitions.ts';
import type { IntentRow } from '../../spending/intents/index.ts';
import { blankTransaction } from './blank-transaction.ts';
import { recordCreated } from './booking.service.ts';
import { type TransactionFields, TransactionRow } from './transaction.entity.ts';
import { linkWindowMs } from './transaction.rules.ts';
import { transactionData } from './transaction.wire.ts';

/** Nothing is held and nothing is posted: money moves only on the network's messages. */
export async function insertConfirmed(
  tx: Tx,
  intent: IntentRow,
  id: TransactionRow['id'],
  cause: Cause,
  /** Where more is known of the payment than its intent says. */
  known: Partial<Pick<TransactionFields, 'rail' | 'amountCents' | 'requestedCents' | 'merchant' | 'merchantId'>> = {},
): Promise<TransactionRow> {
  const row = tx.create(
    TransactionRow,
    blankTransaction({
      id,
      ownerId: intent.ownerId,
      agentId: intent.agentId,
      cardId: intent.cardId,
      intentId: intent.id,
      amountCents: intent.expectedAmountCents,
      requestedCents: intent.expectedAmountCents,
      merchant: intent.expectedMerchant ?? null,
      linkUntil: later(cause.at, linkWindowMs),
      confirmedAt: cause.at,
      confirmCause: cause.causeId,
      requestId: cause.requestId,
      runId: cause.runId ?? null,
      createdAt: cause.at,
      updatedAt: cause.at,
      ...known,
    }),
  );
  await tx.flush();
  await recordCreated(tx, row, cause);
  return row;
}

/** The transaction was there before the confirm. */
export async function noteConfirmed(tx: Tx, row: TransactionRow, cause: Cause): Promise<void> {
  row.confirmedAt = cause.at;
  row.confirmCause = cause.causeId;
  row.updatedAt = cause.at;
  await tx.flush();
  await recordChanges(tx, cause, [changeOf(row, 'transaction.updated')]);
}

/** No authorization came in time. The row is locked. */
export async function failUnlinked(tx: Tx, row: TransactionRow, cause: Cause): Promise<void> {
  row.status = 'failed';
  row.linkUntil = null;
  row.declineRule = 'no_authorization_seen';
  row.declineReason = 'the payment was confirmed, and the network asked for no authorization';
  row.updatedAt = cause.at;
  await tx.flush();
  await recordTransition(tx, 'transaction', row.id, { from: 'pending', to: 'failed' }, cause);
  await recordChanges(tx, causedBy(cause, row), [changeOf(row, 'transaction.updated')]);
}

/** The payment is made with the card that took the other's place: an authorization of that one may link it. */
export async function reassignConfirmed(
  tx: Tx,
  cause: Cause,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  const found = await tx.find(
    TransactionRow,
    { cardId: from, status: 'pending', linkUntil: { $ne: null } },
    { orderBy: { id: 'asc' }, lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
  );
  for (const row of found) Object.assign(row, { cardId: to, updatedAt: cause.at });
  await tx.flush();
  await recordChanges(
    tx,
    cause,
    found.map((row) => changeOf(row, 'transaction.updated')),
  );
}

const changeOf = (row: TransactionRow, event: 'transaction.updated'): Change => ({
  event,
  ownerId: row.ownerId,
  agentId: row.agentId,
  subjectId: row.id,
  data: transactionData(row),
});
