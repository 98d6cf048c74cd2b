/**
 * Books a refund of the network: a separate transaction, which names the payment that it gives back where that is
 * known, with its journal and events, in the caller's transaction. Never refused; what was spent stays spent.
 * @module
 */
import type { Tx } from '../../../db/tx.ts';
import { recordChanges } from '../../../events/record.ts';
import { newId } from '../../../kernel/ids.ts';
import { cents, subtract, zero } from '../../../kernel/money.ts';
import { type Cause, causedBy } from '../../../platform/cause.ts';
import { recordTransition } from '../../../platform/transitions.ts';
import { refund as refundPostings } from '../../treasury/ledger/ledger.rules.ts';
import { blankTransaction } from './blank-transaction.ts';
import { alertAbout, changeOf } from './booking.changes.ts';
import { creditedBy, post, type Source } from './booking.posting.service.ts';
import { insertEvent } from './booking.row.service.ts';
import { type TransactionFields, TransactionRow } from './transaction.entity.ts';
import { refund } from './transaction.rules.ts';

/** Whose card it is. */
export type CardHolder = Pick<TransactionFields, 'ownerId' | 'agentId' | 'cardId' | 'walletId' | 'fundingSource'>;

export type Refund = {
  readonly source: Source;
  readonly amountCents: number;
  readonly merchant?:
    | { readonly id: string; readonly name: string; readonly mcc: string; readonly country: string }
    | undefined;
  /** The payment that it gives back, locked by the caller; without one, the holder of the card. */
  readonly of: TransactionRow | CardHolder;
};

export async function bookRefund(
  tx: Tx,
  { source, amountCents, merchant, of }: Refund,
  message: Cause,
): Promise<TransactionRow> {
  const original = of instanceof TransactionRow ? of : undefined;
  const cause = causedBy(message, original);
  const row = tx.create(TransactionRow, refundOf(of, { source, amountCents, merchant }, cause));
  await tx.flush();
  await recordTransition(tx, 'transaction', row.id, { from: null, to: row.status }, cause);
  await insertEvent(tx, row, { kind: 'refund', source, amountCents, isFinal: null }, message);
  const beyondCents = original === undefined ? zero : await giveBack(tx, original, amountCents, cause);
  const postings = refundPostings({ ownerId: row.ownerId, to: await creditedBy(tx, row), amountCents });
  await post(tx, row, { kind: 'refund', source, postings }, cause);
  const details = { amountCents, networkId: source.id };
  await recordChanges(tx, cause, [
    changeOf(row, 'transaction.created'),
    changeOf(row, 'transaction.refunded', details),
    ...(original === undefined ? [] : [changeOf(original, 'transaction.updated', { refund: row.id, ...details })]),
    ...(original === undefined || beyondCents === 0
      ? []
      : alertAbout(original, ['refunded_above_collected'], { beyondCents })),
  ]);
  return row;
}

/** Returns by how much more was given back than was collected; 0 while clearings may still come. */
async function giveBack(tx: Tx, original: TransactionRow, amountCents: number, cause: Cause) {
  const { status, refundedCents } = refund(original, amountCents);
  const from = original.status;
  Object.assign(original, { status, refundedCents, updatedAt: cause.at });
  await tx.flush();
  if (status !== from) await recordTransition(tx, 'transaction', original.id, { from, to: status }, cause);
  return status === 'pending' ? zero : cents(Math.max(0, subtract(refundedCents, original.clearedCents)));
}

function refundOf(
  of: TransactionRow | CardHolder,
  { source, amountCents, merchant }: Pick<Refund, 'source' | 'amountCents' | 'merchant'>,
  { at, requestId, runId }: Cause,
): TransactionFields {
  const original = of instanceof TransactionRow ? of : undefined;
  const { ownerId, agentId, cardId, walletId, fundingSource } = of;
  return blankTransaction({
    ...{ ownerId, agentId, cardId, walletId, fundingSource },
    id: newId('transaction'),
    intentId: original?.intentId ?? null,
    adapter: source.adapter,
    rail: original?.rail ?? 'card',
    type: 'refund',
    status: 'completed',
    amountCents: cents(amountCents),
    requestedCents: cents(amountCents),
    merchantId: merchant?.id ?? original?.merchantId ?? null,
    merchant: merchant?.name ?? original?.merchant ?? null,
    merchantMcc: merchant?.mcc ?? original?.merchantMcc ?? null,
    merchantCountry: merchant?.country ?? original?.merchantCountry ?? null,
    merchantAmount: source.merchantAmount ?? null,
    merchantCurrency: source.merchantCurrency ?? null,
    originalTransactionId: original?.id ?? null,
    issuerSettlementId: source.id,
    completedAt: at,
    requestId,
    runId: runId ?? null,
    createdAt: at,
    updatedAt: at,
  });
}
