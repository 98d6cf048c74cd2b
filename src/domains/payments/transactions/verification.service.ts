/**
 * Marks a transaction with the result of its comparison with a receipt. Besides the memo, the only change of a
 * transaction that has ended.
 * @module
 */
import { LockMode } from '@mikro-orm/core';
import type { Tx } from '../../../db/tx.ts';
import { recordChanges } from '../../../events/record.ts';
import type { Cause } from '../../../platform/cause.ts';
import { TransactionRow } from './transaction.entity.ts';
import { transactionData } from './transaction.wire.ts';

/** What has paid for an intent, or is about to; of one transaction where it is named. Locked. */
export function transactionsPaidFor(
  tx: Tx,
  intentId: string,
  transactionId: string | undefined,
): Promise<TransactionRow[]> {
  return tx.find(
    TransactionRow,
    {
      intentId,
      status: { $in: ['pending', 'completed'] },
      type: { $ne: 'refund' },
      ...(transactionId === undefined ? {} : { id: transactionId as TransactionRow['id'] }),
    },
    { orderBy: { id: 'asc' }, lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
  );
}

/** The same finding again changes nothing. */
export async function markVerified(
  tx: Tx,
  transactions: readonly TransactionRow[],
  mismatches: readonly string[],
  cause: Cause,
): Promise<void> {
  const verified = mismatches.length === 0;
  const mismatch = verified ? null : mismatches.join('; ');
  const changed = transactions.filter((row) => row.verified !== verified || (row.mismatch ?? null) !== mismatch);
  for (const row of changed) Object.assign(row, { verified, verifiedAt: cause.at, mismatch, updatedAt: cause.at });
  await tx.flush();
  await recordChanges(
    tx,
    cause,
    changed.map((row) => ({
      event: 'transaction.updated',
      ownerId: row.ownerId,
      agentId: row.agentId,
      subjectId: row.id,
      data: transactionData(row),
      details: { verified },
    })),
  );
}
