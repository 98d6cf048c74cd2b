/** Memos of transactions. Amounts and states change only by the network's messages. @module */
import type { Tx } from '../../../db/tx.ts';
import { recordChanges } from '../../../events/record.ts';
import type { ReachedId } from '../../../http/reaches.ts';
import type { Cause } from '../../../platform/cause.ts';
import { changeOf } from './booking.changes.ts';
import type { TransactionRow } from './transaction.entity.ts';
import { lockTransaction } from './transaction.queries.ts';

/** The same note again is no change. Its text is in the record only: neither event nor audit row repeats it. */
type Named = { readonly id: ReachedId<'transaction'>; readonly ownerId: string };

export async function noteOn(
  tx: Tx,
  { id, ownerId }: Named,
  memo: string | null,
  cause: Cause,
): Promise<TransactionRow> {
  const row = await lockTransaction(tx, id, { ownerId });
  if ((row.memo ?? null) === memo) return row;
  Object.assign(row, { memo, updatedAt: cause.at });
  await tx.flush();
  await recordChanges(tx, cause, [changeOf(row, 'transaction.updated', { fields: ['memo'] })]);
  return row;
}
