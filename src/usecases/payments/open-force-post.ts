/**
 * Opens the payment of a force post: the network has collected and never asked. Its clearings are booked on it next, and the
 * authorization finds it if it comes after all.
 * @module
 */
import type { Tx } from '../../db/tx.ts';
import type { AuthorizationAnswer, ClearingMessage } from '../../domains/payments/network/network.contract.ts';
import { storeMissingAuthorization } from '../../domains/payments/network/network-message.service.ts';
import { blankTransaction } from '../../domains/payments/transactions/blank-transaction.ts';
import { recordCreated } from '../../domains/payments/transactions/booking.service.ts';
import { lockPayment, lockSpending } from '../../domains/payments/transactions/payment-lock.service.ts';
import type { CardHolder } from '../../domains/payments/transactions/refund.service.ts';
import { TransactionRow } from '../../domains/payments/transactions/transaction.entity.ts';
import { newId } from '../../kernel/ids.ts';
import type { Cause } from '../../platform/cause.ts';

export type ForcePost = {
  readonly adapter: string;
  readonly authorizationId: string;
  /** Of its clearings; only the same one fits later messages. */
  readonly cardRef: string;
  readonly holder: CardHolder;
  readonly merchant: ClearingMessage['merchant'];
};

/** Locked. `cause` is that of the opening alone. */
export async function openForcePost(
  tx: Tx,
  { adapter, authorizationId, cardRef, holder, merchant }: ForcePost,
  cause: Cause,
): Promise<TransactionRow> {
  await lockSpending(tx, holder.agentId);
  const { at, requestId } = cause;
  const row = tx.create(
    TransactionRow,
    blankTransaction({
      ...holder,
      id: newId('transaction'),
      adapter,
      authorizationId,
      merchantId: merchant?.id ?? null,
      merchant: merchant?.name ?? null,
      merchantMcc: merchant?.mcc ?? null,
      merchantCountry: merchant?.country ?? null,
      requestId,
      createdAt: at,
      updatedAt: at,
    }),
  );
  await tx.flush();
  await recordCreated(tx, row, cause);
  const answer: AuthorizationAnswer = {
    decision: 'approved',
    approvedCents: 0,
    transactionId: row.id,
    rule: 'cleared_before',
    reason: 'the network collected without asking',
  };
  await storeMissingAuthorization(tx, { adapter, authorizationId, cardRef }, { transactionId: row.id, answer, at });
  return lockPayment(tx, row.id);
}
