/**
 * Gives back what is held for payments, or a part of it: reversals, and holds that have grown too old. Many at once, in as
 * many statements as one takes. The caller has locked the payments.
 * @module
 */
import type { Tx } from '../../../db/tx.ts';
import { type Change, recordChangesOfCauses } from '../../../events/record.ts';
import { subtract } from '../../../kernel/money.ts';
import { type Cause, causedBy } from '../../../platform/cause.ts';
import { release } from '../../treasury/index.ts';
import { changeOf, completion, refundAlert } from './booking.changes.ts';
import { type CloseUsedCard, machinePayment, type Told, tellOthers } from './booking.others.service.ts';
import { postAll, restsOf, type Source } from './booking.posting.service.ts';
import { insertEvents, saveChanges } from './booking.row.service.ts';
import { fundingSourceOf } from './funding-source.rules.ts';
import type { TransactionRow } from './transaction.entity.ts';
import { expire, type TransactionChange } from './transaction.rules.ts';

type Given = {
  readonly row: TransactionRow;
  readonly source: Source;
  readonly change: TransactionChange;
  readonly message: Cause;
  /** What a reversal names; undefined: all that is left. */
  readonly askedCents?: number | undefined;
};
type Ended = Given & Told;

const journalOf = { reversal: 'reversal', expiry: 'hold_expiry' } as const;

/** Of different payments. */
export async function giveBack(
  tx: Tx,
  kind: 'reversal' | 'expiry',
  all: readonly Given[],
  closeUsedCard: CloseUsedCard,
): Promise<void> {
  const given = all.map((one): Ended => ({ ...one, cause: causedBy(one.message, one.row) }));
  const records = given.map((one) => {
    const { row, source, message } = one;
    return { row, message, kind, source, amountCents: amountIn(kind, one), isFinal: null };
  });
  // What had ended before: the message is kept, and nothing changes.
  const moved = given.filter(({ row, change }) => change.next !== row);
  await saveChanges(tx, moved);
  await insertEvents(tx, records);
  await tellOthers(tx, moved, closeUsedCard);
  const rests = await restsOf(
    tx,
    moved.map(({ row }) => row),
  );
  const journals = moved.flatMap(({ row, source, change: { releasedCents: amountCents }, cause }) => {
    const drawn = { ownerId: row.ownerId, from: fundingSourceOf(row.fundingSource), restTo: rests.get(row) };
    const postings = amountCents === 0 ? [] : release({ ...drawn, amountCents });
    return [{ row, kind: journalOf[kind], source, postings, cause }];
  });
  await postAll(tx, journals);
  const changes: { cause: Cause; changes: Change[] }[] = [];
  for (const one of moved) changes.push({ cause: one.cause, changes: await changesOf(tx, kind, one) });
  await recordChangesOfCauses(tx, changes);
}

/**
 * In the payment's event: what is given back, or what the network does not collect any more, also where it was not held. Of
 * a payment that was not approved here what the reversal names, because an advice or a late authorization may still
 * approve it.
 */
function amountIn(kind: 'reversal' | 'expiry', { row, change, askedCents = 0 }: Given): number {
  if (kind === 'expiry') return change.releasedCents;
  return row.approvedCents === 0 ? askedCents : subtract(change.next.reversedCents, row.reversedCents);
}

const changesOf = async (tx: Tx, kind: string, { row, source, change }: Ended): Promise<Change[]> => [
  changeOf(row, 'transaction.updated', { [kind]: source.id, releasedCents: change.releasedCents }),
  ...completion(row, change),
  ...(await machinePayment(tx, row, change)),
  ...refundAlert(row, change),
];

type Aged = { readonly row: TransactionRow; readonly cause: Cause };

/** A payment may grow old again, when a clearing came after it had and was not the last one. */
export async function bookExpiries(tx: Tx, aged: readonly Aged[], closeUsedCard: CloseUsedCard): Promise<void> {
  const given = aged.map(({ row, cause }) => {
    const source = { adapter: 'sweeper', id: `expiry/${row.id}/${row.version}` };
    return { row, source, change: expire(row), message: cause };
  });
  await giveBack(tx, 'expiry', given, closeUsedCard);
}
