/**
 * An operator gives a credit to a wallet: what is in suspense, or what is not booked because the bank gave it a reference
 * that it had used before. Once, and never what gives back an unbooked payment or what is booked elsewhere by now.
 * @module
 */
import { LockMode } from '@mikro-orm/core';
import type { Tx } from '../../../db/tx.ts';
import { recordChanges } from '../../../events/record.ts';
import { assert } from '../../../kernel/assert.ts';
import { DomainError, notFound } from '../../../kernel/errors.ts';
import { type Id, newId } from '../../../kernel/ids.ts';
import { cents } from '../../../kernel/money.ts';
import type { Cause } from '../../../platform/cause.ts';
import { available, wallet as walletSource } from '../ledger/account.rules.ts';
import { leaveSuspense, toSuspense, toWalletFromSuspense } from '../ledger/ledger.rules.ts';
import { balancesAfter, postNew } from '../ledger/ledger.service.ts';
import { lockWalletsForShare } from '../wallets/wallet.service.ts';
import { BankEntryRow } from './bank-entry.entity.ts';
import { isAssignable, operatorOwnerId } from './bank-entry.rules.ts';
import { changesOf } from './bank-entry.service.ts';
import { type BankLine, lockBookedLines } from './bank-line.service.ts';

export type Assignment = {
  readonly id: Id<'bankEntry'>;
  readonly ownerId: Id<'owner'>;
  readonly walletId: Id<'wallet'>;
  readonly reason: string;
};

const unbookedDebit = (paymentKey: string) => ({ paymentKey, direction: 'debit' as const });

/**
 * The money leaves the operator's book, into which an unbooked line comes first, and comes into the owner's.
 * The same wallet again changes nothing.
 */
export async function assignEntry(
  tx: Tx,
  { id, ownerId, walletId, reason }: Assignment,
  cause: Cause,
): Promise<BankEntryRow> {
  const bookedElsewhere = await lockedBooking(tx, id);
  const status = (await lockWalletsForShare(tx, ownerId, [walletId])).get(walletId);
  if (status === undefined) throw notFound('wallet', walletId);
  const row = await tx.findOne(BankEntryRow, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  if (row === null) throw notFound('bank entry', id);
  if (row.status === 'assigned' && row.walletId === walletId) return row;
  if (!isAssignable(row))
    throw new DomainError(
      'invalid_state',
      `bank entry ${id} is ${row.status}: only what is in suspense, or has a reference that was used before, can be assigned`,
    );
  if (bookedElsewhere !== undefined)
    throw new DomainError('invalid_state', `bank entry ${id} cannot be assigned: ${bookedElsewhere}`);
  if (status === 'closed') throw new DomainError('invalid_state', `body.walletId: wallet ${walletId} is closed`);
  const taken = row.paymentKey == null ? undefined : await tx.findOne(BankEntryRow, unbookedDebit(row.paymentKey));
  if (taken != null)
    throw new DomainError(
      'invalid_state',
      `bank entry ${id} gives back what bank entry ${taken.id} took, which is not booked: it cannot be assigned`,
    );
  const { amountCents } = row;
  assert(amountCents != null, 'what is in suspense has an amount');
  const about = { kind: 'sepa_credit', referenceType: 'bank_entry', referenceId: id } as const;
  const of = { ...about, cause: `bank-entry:${id}:assigned` };
  const journalId = newId('journal');
  const operator = { ownerId: operatorOwnerId, amountCents };
  const to = { ownerId, to: walletSource(walletId), amountCents };
  const bookedId = (row.journalId as Id<'journal'> | null | undefined) ?? newId('journal');
  const first = { ...about, id: bookedId, ownerId: operatorOwnerId, cause: `bank-entry:${id}` };
  const posted = await postNew(tx, cause, [
    ...(row.status === 'unbooked' ? [{ ...first, postings: toSuspense(operator) }] : []),
    { ...of, id: newId('journal'), ownerId: operatorOwnerId, postings: leaveSuspense(operator) },
    { ...of, id: journalId, ownerId, postings: toWalletFromSuspense(to) },
  ]);
  Object.assign(row, {
    status: 'assigned',
    journalId: bookedId,
    ownerId,
    walletId,
    assignedJournalId: journalId,
    sealedDetails: null,
    updatedAt: cause.at,
  });
  await tx.flush();
  const wallet = { id: walletId, ownerId, status };
  const result = posted.find((one) => one.journalId === journalId);
  const [balanceCents = cents(0)] = await balancesAfter(tx, [{ account: available(walletSource(walletId)), result }]);
  const [credit] = changesOf({ entryId: id, wallet, fundingId: null, journalId, amountCents, balanceCents });
  assert(credit !== undefined, 'a credit has its event');
  await recordChanges(tx, cause, [{ ...credit, details: { ...credit.details, reason } }]);
  return row;
}

/**
 * Why the money of an unbooked line is not free any more: it came as other money, and what came since may have it. Locks
 * the account, so that no file of the bank books it meanwhile.
 */
async function lockedBooking(tx: Tx, id: Id<'bankEntry'>): Promise<string | undefined> {
  const row = await tx.findOne(BankEntryRow, { id });
  if (row?.status !== 'unbooked' || !isOfAccount(row)) return undefined;
  const found = (await lockBookedLines(tx, [row])).whyNot(row, 'entry');
  return found === undefined || found.isOtherMoney ? undefined : found.why;
}

const isOfAccount = <Row extends { readonly accountIban: unknown; readonly direction: unknown }>(
  row: Row,
): row is Row & BankLine => row.accountIban != null && row.direction != null;
