/** The rows of a booking: the transaction itself and what the network said of it. Many at once. @module */
import { runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import type { Cause } from '../../../platform/cause.ts';
import { recordMoves } from '../../../platform/transitions.ts';
import type { Source } from './booking.posting.service.ts';
import type { TransactionRow } from './transaction.entity.ts';
import type { TransactionChange } from './transaction.rules.ts';

type Changed = { readonly row: TransactionRow; readonly change: TransactionChange; readonly cause: Cause };

export async function saveChanges(tx: Tx, changed: readonly Changed[]): Promise<void> {
  const moves = changed.map(({ row, change, cause }) => {
    const { status, type, amountCents, heldCents, clearedCents, reversedCents, isFinal } = change.next;
    const from = row.status;
    Object.assign(row, { status, type, amountCents, heldCents, clearedCents, reversedCents, isFinal });
    row.updatedAt = cause.at;
    if (change.completes) row.completedAt = cause.at;
    return { rowId: row.id, from, to: status, cause };
  });
  await tx.flush();
  await recordMoves(
    tx,
    'transaction',
    moves.filter(({ from, to }) => from !== to),
  );
}

type EventRecord = {
  readonly kind: 'increment' | 'clearing' | 'reversal' | 'refund' | 'advice' | 'expiry';
  readonly source: Source;
  readonly amountCents: number;
  readonly isFinal: boolean | null;
};
type OfTransaction = EventRecord & { readonly row: TransactionRow; readonly message: Cause };

export const insertEvent = (tx: Tx, row: TransactionRow, event: EventRecord, message: Cause): Promise<void> =>
  insertEvents(tx, [{ ...event, row, message }]);

export async function insertEvents(tx: Tx, events: readonly OfTransaction[]): Promise<void> {
  if (events.length === 0) return;
  await runSql(
    tx,
    `insert into transaction_events (transaction_id, kind, adapter, network_id, amount_cents, is_final, at, request_id,
       merchant_amount, merchant_currency)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::boolean[],
       $7::timestamptz[], $8::text[], $9::numeric[], $10::text[])`,
    [
      events.map(({ row }) => row.id),
      events.map(({ kind }) => kind),
      events.map(({ source }) => source.adapter),
      events.map(({ source }) => source.id),
      events.map(({ amountCents }) => amountCents),
      events.map(({ isFinal }) => isFinal),
      events.map(({ message }) => message.at),
      events.map(({ message }) => message.requestId),
      events.map(({ source }) => source.merchantAmount ?? null),
      events.map(({ source }) => source.merchantCurrency ?? null),
    ],
  );
}
