/**
 * Books a message of the network about a transaction: the row, its child record, its intent, the journal and the
 * events, in the caller's transaction. The caller has locked the row and checked that the message is new.
 * @module
 */
import * as z from 'zod';
import { oneRowOf, runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { type Change, recordChanges } from '../../../events/record.ts';
import { type Cause, causedBy } from '../../../platform/cause.ts';
import { recordTransition } from '../../../platform/transitions.ts';
import {
  applyToIntent,
  type IntentRow,
  lockIntent,
  payWindowAgain,
  settleWindow,
  stateOf,
} from '../../spending/intents/index.ts';
import { whyPastDeadline } from '../../spending/intents/intent.rules.ts';
import { clearing, release } from '../../treasury/index.ts';
import { credentialOfTransaction } from '../mpp-credentials/mpp-credential.queries.ts';
import { completionOf } from '../mpp-credentials/mpp-credential.wire.ts';
import { alerts, changeOf, completion, refundAlert } from './booking.changes.ts';
import { isAgentClosed, post, restOf, type Source } from './booking.posting.service.ts';
import { fundingSourceOf } from './funding-source.rules.ts';
import type { TransactionRow } from './transaction.entity.ts';
import { clear, expire, holdExpiry, reverse, type TransactionChange } from './transaction.rules.ts';

/** Closes a card that was for one payment; from cards. */
export type CloseUsedCard = (tx: Tx, cardId: string, cause: Cause) => Promise<void>;

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
  await save(tx, row, change, cause);
  await tellOthers(tx, row, change, cause, closeUsedCard);

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

/** A completed transaction of an MPP credential completes the machine payment, unless its merchant has before. */
async function machinePayment(tx: Tx, row: TransactionRow, { completes }: TransactionChange): Promise<Change[]> {
  if (!completes || row.rail !== 'mpp') return [];
  const credential = await credentialOfTransaction(tx, row.id);
  return credential === null || credential.verifiedAt != null ? [] : [completionOf(credential)];
}

const isNothing = ({ next }: TransactionChange, row: TransactionRow): boolean =>
  next.status === row.status &&
  next.clearedCents === row.clearedCents &&
  next.heldCents === row.heldCents &&
  next.isFinal === row.isFinal;

/** An authorization has come for what was collected before: the intent that it is for is paid for, by this row. */
export async function bookCollected(tx: Tx, row: TransactionRow, cause: Cause): Promise<void> {
  const completes = row.isFinal && row.heldCents === 0;
  await tellIntent(tx, row, { completes, isFullyReversed: false }, { ...cause, causeId: `${cause.causeId}:collected` });
}

/** A transaction that the network did not ask for first: a confirm wrote it, or a clearing. */
export async function recordCreated(tx: Tx, row: TransactionRow, cause: Cause): Promise<void> {
  await recordTransition(tx, 'transaction', row.id, { from: null, to: row.status }, cause);
  await recordChanges(tx, cause, [changeOf(row, 'transaction.created')]);
}

/** `amountCents` undefined: all that is left. Returns what was given back. */
export async function bookReversal(
  tx: Tx,
  row: TransactionRow,
  { source, amountCents }: { source: Source; amountCents: number | undefined },
  cause: Cause,
  closeUsedCard: CloseUsedCard,
): Promise<number> {
  return giveBack(tx, row, { kind: 'reversal', source, change: reverse(row, amountCents) }, cause, closeUsedCard);
}

/** It may grow old again, when a clearing came after it had and was not the last one. */
export async function bookExpiry(
  tx: Tx,
  row: TransactionRow,
  cause: Cause,
  closeUsedCard: CloseUsedCard,
): Promise<number> {
  const source = { adapter: 'sweeper', id: `expiry/${row.id}/${row.version}` };
  return giveBack(tx, row, { kind: 'expiry', source, change: expire(row) }, cause, closeUsedCard);
}

/** A charge without a hold, or one that came after its hold had grown too old, waits for its last clearing as well. */
function nextExpiry({ holdExpiresAt, merchantMcc }: TransactionRow, { at }: Cause): Date {
  return holdExpiresAt != null && holdExpiresAt > at ? holdExpiresAt : holdExpiry({ mcc: merchantMcc ?? '', at });
}

type GivingBack = { kind: 'reversal' | 'expiry'; source: Source; change: TransactionChange };

async function giveBack(
  tx: Tx,
  row: TransactionRow,
  { kind, source, change }: GivingBack,
  message: Cause,
  closeUsedCard: CloseUsedCard,
): Promise<number> {
  const cause = causedBy(message, row);
  const amountCents = change.releasedCents;
  await save(tx, row, change, cause);
  await insertEvent(tx, row, { kind, source, amountCents, isFinal: null }, message);
  // It had ended before: the message is kept, and nothing moves.
  if (amountCents === 0 && !change.completes && !change.isFullyReversed) return 0;
  await tellOthers(tx, row, change, cause, closeUsedCard);
  const drawn = { ownerId: row.ownerId, from: fundingSourceOf(row.fundingSource), restTo: await restOf(tx, row) };
  const postings = amountCents === 0 ? [] : release({ ...drawn, amountCents });
  await post(tx, row, { kind: kind === 'expiry' ? 'hold_expiry' : 'reversal', source, postings }, cause);
  const updated = changeOf(row, 'transaction.updated', { [kind]: source.id, releasedCents: amountCents });
  await recordChanges(tx, cause, [
    updated,
    ...completion(row, change),
    ...(await machinePayment(tx, row, change)),
    ...refundAlert(row, change),
  ]);
  return amountCents;
}

async function save(tx: Tx, row: TransactionRow, change: TransactionChange, cause: Cause): Promise<void> {
  const { status, type, amountCents, heldCents, clearedCents, reversedCents, isFinal } = change.next;
  const from = row.status;
  Object.assign(row, {
    status,
    type,
    amountCents,
    heldCents,
    clearedCents,
    reversedCents,
    isFinal,
    updatedAt: cause.at,
  });
  if (change.completes) row.completedAt = cause.at;
  await tx.flush();
  if (status !== from) await recordTransition(tx, 'transaction', row.id, { from, to: status }, cause);
}

type EventRecord = {
  kind: 'increment' | 'clearing' | 'reversal' | 'refund' | 'advice' | 'expiry';
  source: Source;
  amountCents: number;
  isFinal: boolean | null;
};

export async function insertEvent(
  tx: Tx,
  row: TransactionRow,
  event: EventRecord,
  { at, requestId }: Cause,
): Promise<void> {
  await runSql(
    tx,
    `insert into transaction_events (transaction_id, kind, adapter, network_id, amount_cents, is_final, at, request_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [row.id, event.kind, event.source.adapter, event.source.id, event.amountCents, event.isFinal, at, requestId],
  );
}

async function tellOthers(
  tx: Tx,
  row: TransactionRow,
  change: TransactionChange,
  cause: Cause,
  closeUsedCard: CloseUsedCard,
): Promise<void> {
  await tellIntent(tx, row, change, cause);
  if (change.completes && row.cardId != null) await closeUsedCard(tx, row.cardId, cause);
}

type Ending = Pick<TransactionChange, 'completes' | 'isFullyReversed'>;

/**
 * The intent of a payment: completed with it, open again once nothing of it is left, and matched again where money is
 * collected after that. A final intent stays. Of a recurring one it is the window, also when the intent has ended.
 */
async function tellIntent(tx: Tx, row: TransactionRow, ending: Ending, cause: Cause): Promise<void> {
  const isCollected = row.clearedCents > 0;
  const intentId = row.intentId ?? (isCollected ? await intentMeant(tx, row.id) : null);
  if (intentId == null || !(isCollected || ending.isFullyReversed)) return;
  const intent = await lockIntent(tx, intentId);
  if (intent.recurring != null) return tellWindow(tx, row, intent, ending, cause);
  if (intent.status !== 'approved') return;
  if (isCollected) await matchIfFree(tx, row, intent, cause);
  if (intent.matchedTransactionId !== row.id) return;
  await paysFor(tx, row, intent.id);
  if (ending.completes) await applyToIntent(tx, intent.id, { kind: 'complete', transactionId: row.id }, cause);
  if (!ending.isFullyReversed) return;
  await applyToIntent(tx, intent.id, { kind: 'unmatch' }, cause);
  const over = intent.allowsOnceOf == null ? ((await isAgentClosed(tx, row)) ? 'agent-closed' : undefined) : 'used';
  if (over === undefined) return;
  // What the agent's close left to the payment, or what let one charge pass: nothing else pays for it.
  await applyToIntent(tx, intent.id, { kind: 'cancel' }, { ...cause, causeId: `${cause.causeId}/${over}` });
}

/**
 * The network approved what was declined: the intent that the charge was for is paid for by it, so that nothing else
 * pays for it before the clearing. For a caller that has locked no ledger account yet.
 */
export async function matchMeant(tx: Tx, row: TransactionRow, cause: Cause): Promise<void> {
  const intentId = row.intentId ?? (await intentMeant(tx, row.id));
  if (intentId == null) return;
  const intent = await lockIntent(tx, intentId);
  if (intent.recurring != null) return payWindowOf(tx, row, intent, cause);
  if (intent.status !== 'approved') return;
  await matchIfFree(tx, row, intent, cause);
  if (intent.matchedTransactionId === row.id) await paysFor(tx, row, intent.id);
}

/** One that something else pays for, or that is past its deadline, stays. The intent is approved and locked. */
async function matchIfFree(tx: Tx, row: TransactionRow, intent: IntentRow, cause: Cause): Promise<void> {
  const isFree = intent.matchedTransactionId == null && intent.transferId == null;
  if (!isFree || whyPastDeadline(stateOf(intent), cause.at) !== undefined) return;
  await applyToIntent(tx, intent.id, { kind: 'match', transactionId: row.id }, matchedBy(cause));
}

async function payWindowOf(tx: Tx, row: TransactionRow, intent: IntentRow, cause: Cause): Promise<void> {
  const charge = { id: row.id, at: row.authorizedAt ?? cause.at };
  if (await payWindowAgain(tx, intent.id, charge, cause)) await paysFor(tx, row, intent.id);
}

async function tellWindow(
  tx: Tx,
  row: TransactionRow,
  intent: IntentRow,
  { completes, isFullyReversed }: Ending,
  cause: Cause,
): Promise<void> {
  if (row.clearedCents > 0) await payWindowOf(tx, row, intent, cause);
  if (completes) await settleWindow(tx, intent.id, row.id, 'complete', cause);
  else if (isFullyReversed) await settleWindow(tx, intent.id, row.id, 'reopen', cause);
}

/** A separate transition, before the completion that may follow from the same message. */
const matchedBy = (cause: Cause): Cause => ({ ...cause, causeId: `${cause.causeId}:match` });

/** A declined charge belongs to no intent until it is collected, or approved by the network, nevertheless. */
async function paysFor(tx: Tx, row: TransactionRow, intentId: string): Promise<void> {
  if (row.intentId === intentId) return;
  row.intentId = intentId;
  await tx.flush();
}

const meant = z.object({ intentId: z.string().nullable() });

/** The intent that a declined charge was for. Where its owner has allowed it once, that is the permission. */
const intentMeant = async (tx: Tx, transactionId: string): Promise<string | null> =>
  (await oneRowOf(tx, meant, 'select intent_meant($1) as "intentId"', [transactionId])).intentId;
