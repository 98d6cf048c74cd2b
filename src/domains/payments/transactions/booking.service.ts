/**
 * Books a message of the network about a transaction: the row, its child record, its intent, the journal and the
 * events, in the caller's transaction. The caller has locked the row and checked that the message is new.
 * @module
 */
import type { Tx } from '../../../db/tx.ts';
import { recordChanges } from '../../../events/record.ts';
import { type Cause, causedBy } from '../../../platform/cause.ts';
import { recordTransition } from '../../../platform/transitions.ts';
import { clearing } from '../../treasury/index.ts';
import { alerts, changeOf, completion, refundAlert } from './booking.changes.ts';
import { type CloseUsedCard, machinePayment, tellOthers } from './booking.others.service.ts';
import { post, restOf, type Source } from './booking.posting.service.ts';
import { insertEvent, saveChanges } from './booking.row.service.ts';
import { fundingSourceOf } from './funding-source.rules.ts';
import { giveBack } from './giving-back.service.ts';
import type { TransactionRow } from './transaction.entity.ts';
import { clear, holdExpiry, reverse, type TransactionChange } from './transaction.rules.ts';

export async function bookClearing(
  tx: Tx,
  row: TransactionRow,
  { source, amountCents, isFinal }: { source: Source; amountCents: number; isFinal: boolean },
  message: Cause,
  closeUsedCard: CloseUsedCard,
): Promise<void> {
  const cause = causedBy(message, row);
  const before = { heldCents: row.heldCents, approvedCents: row.approvedCents };
  const change = clear(row, { amountCents, isFinal });
  await insertEvent(tx, row, { kind: 'clearing', source, amountCents, isFinal }, message);
  if (isNothing(change, row)) return; // Of 0, and there is nothing that it ends.
  row.issuerSettlementId = source.id;
  if (change.next.status === 'pending') row.holdExpiresAt = nextExpiry(row, cause);
  row.authorizedAt ??= cause.at; // A charge that was never approved is spent when it is collected.
  const told = { row, change, cause };
  await saveChanges(tx, [told]);
  await tellOthers(tx, [told], closeUsedCard);

  const drawn = { ownerId: row.ownerId, from: fundingSourceOf(row.fundingSource), restTo: await restOf(tx, row) };
  const postings = clearing({ ...drawn, amountCents, isFinal, heldCents: before.heldCents });
  const owedCents = await post(tx, row, { kind: 'clearing', source, postings }, cause);

  await recordChanges(tx, cause, [
    changeOf(row, 'transaction.settlement', { amountCents, isFinal, networkId: source.id }),
    { ...changeOf(row, 'transaction.settled'), audited: false },
    ...completion(row, change),
    ...(await machinePayment(tx, row, change)),
    ...alerts(row, { change, before, owedCents }),
    ...refundAlert(row, change),
  ]);
}

const isNothing = ({ next }: TransactionChange, row: TransactionRow): boolean =>
  next.status === row.status &&
  next.clearedCents === row.clearedCents &&
  next.heldCents === row.heldCents &&
  next.isFinal === row.isFinal;

/** A transaction that the network did not ask for first: a confirm wrote it, or a clearing. */
export async function recordCreated(tx: Tx, row: TransactionRow, cause: Cause): Promise<void> {
  await recordTransition(tx, 'transaction', row.id, { from: null, to: row.status }, cause);
  await recordChanges(tx, cause, [changeOf(row, 'transaction.created')]);
}

/** `amountCents` undefined: all that is left. */
export async function bookReversal(
  tx: Tx,
  row: TransactionRow,
  { source, amountCents }: { source: Source; amountCents: number | undefined },
  message: Cause,
  closeUsedCard: CloseUsedCard,
): Promise<void> {
  await giveBack(
    tx,
    'reversal',
    [{ row, source, change: reverse(row, amountCents), message, askedCents: amountCents }],
    closeUsedCard,
  );
}

/** A charge without a hold, or one that came after its hold had grown too old, waits for its last clearing as well. */
function nextExpiry({ holdExpiresAt, merchantMcc }: TransactionRow, { at }: Cause): Date {
  return holdExpiresAt != null && holdExpiresAt > at ? holdExpiresAt : holdExpiry({ mcc: merchantMcc ?? '', at });
}
