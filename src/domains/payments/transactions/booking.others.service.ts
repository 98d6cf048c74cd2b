/**
 * What a booking changes besides its transaction: the intent that it pays for, the window of a recurring one, the card, a
 * machine payment. Many at once, for payments that the caller has locked.
 * @module
 */
import * as z from 'zod';
import { oneRowOf, rowsOf } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import type { Change } from '../../../events/record.ts';
import type { Cause } from '../../../platform/cause.ts';
import {
  applyToIntent,
  type IntentRow,
  lockIntents,
  payWindowAgain,
  reopenIntents,
  settleWindow,
  stateOf,
} from '../../spending/intents/index.ts';
import { whyPastDeadline } from '../../spending/intents/intent.rules.ts';
import { credentialOfTransaction } from '../mpp-credentials/mpp-credential.queries.ts';
import { completionOf } from '../mpp-credentials/mpp-credential.wire.ts';
import { closedAgents } from './booking.posting.service.ts';
import type { TransactionRow } from './transaction.entity.ts';
import type { TransactionChange } from './transaction.rules.ts';

/** Closes a card that was for one payment; from cards. */
export type CloseUsedCard = (tx: Tx, cardId: string, cause: Cause) => Promise<void>;

type Ending = Pick<TransactionChange, 'isFullyReversed'>;
export type Told<Of = TransactionChange> = {
  readonly row: TransactionRow;
  readonly change: Of;
  readonly cause: Cause;
};

export async function tellOthers(tx: Tx, told: readonly Told[], closeUsedCard: CloseUsedCard): Promise<void> {
  await tellIntents(tx, told);
  for (const { row, change, cause } of told) {
    if (change.completes && row.cardId != null) await closeUsedCard(tx, row.cardId, cause);
  }
}

/** A completed transaction of an MPP credential completes the machine payment, unless its merchant has before. */
export async function machinePayment(tx: Tx, row: TransactionRow, { completes }: TransactionChange): Promise<Change[]> {
  if (!completes || row.rail !== 'mpp') return [];
  const credential = await credentialOfTransaction(tx, row.id);
  return credential === null || credential.verifiedAt != null ? [] : [completionOf(credential)];
}

/** An authorization has come for what was collected before: the intent that it is for is paid for, by this row. */
export async function bookCollected(tx: Tx, row: TransactionRow, cause: Cause): Promise<void> {
  const own = { ...cause, causeId: `${cause.causeId}:collected` };
  await tellIntents(tx, [{ row, change: { isFullyReversed: false }, cause: own }]);
}

/**
 * The intent of a payment: completed with it, open again once nothing of it is left, and matched again where money is
 * collected after that. A final intent stays. Of a recurring one it is the window, also when the intent has ended.
 */
async function tellIntents(tx: Tx, told: readonly Told<Ending>[]): Promise<void> {
  const meant: (Told<Ending> & { intentId: string })[] = [];
  await cancelRequests(
    tx,
    told.filter(({ row }) => row.clearedCents > 0),
  );
  for (const one of told) {
    const isCollected = one.row.clearedCents > 0;
    const intentId = one.row.intentId ?? (isCollected ? await intentMeant(tx, one.row.id) : null);
    if (intentId != null && (isCollected || one.change.isFullyReversed)) meant.push({ ...one, intentId });
  }
  const intents = await lockIntents(
    tx,
    meant.map(({ intentId }) => intentId),
  );
  const of = (one: (typeof meant)[number]) => ({ ...one, intent: intents.get(one.intentId) as IntentRow });
  // First what is open again, because another one of these may have been collected for it.
  const [reversed, others] = [meant.filter(isReversed), meant.filter((one) => !isReversed(one))];
  await reopen(tx, await tellEach(tx, reversed.map(of)));
  await tellEach(tx, others.map(of));
}

const isReversed = ({ change }: Told<Ending>): boolean => change.isFullyReversed;

/** Returns the intents that are to be opened again. */
async function tellEach(
  tx: Tx,
  told: readonly (Told<Ending> & { readonly intent: IntentRow })[],
): Promise<readonly Reopened[]> {
  const reopened: Reopened[] = [];
  for (const { intent, row, change, cause } of told) {
    if (intent.recurring != null) await tellWindow(tx, row, intent, change, cause);
    else if (await paysNow(tx, row, intent, cause)) {
      if (hasLastClearing(row)) await applyToIntent(tx, intent.id, { kind: 'complete', transactionId: row.id }, cause);
      if (change.isFullyReversed) reopened.push({ row: intent, cause });
    }
  }
  return reopened;
}

/** Also where money is collected after it, which then completes what it is matched with. */
const hasLastClearing = ({ isFinal, clearedCents }: TransactionRow): boolean => isFinal && clearedCents > 0;

type Reopened = { readonly row: IntentRow; readonly cause: Cause };

/** What the agent's close left to the payment, or what let one charge pass, is over: nothing else pays for it. */
async function reopen(tx: Tx, reopened: readonly Reopened[]): Promise<void> {
  if (reopened.length === 0) return;
  await reopenIntents(tx, reopened);
  const closed = await closedAgents(
    tx,
    reopened.map(({ row }) => row.agentId),
  );
  for (const { row, cause } of reopened) {
    const over = row.allowsOnceOf == null ? (closed.has(row.agentId) ? 'agent-closed' : undefined) : 'used';
    const own = { ...cause, causeId: `${cause.causeId}/${over}` };
    if (over !== undefined) await applyToIntent(tx, row.id, { kind: 'cancel' }, own);
  }
}

/** False where the intent has ended, or something else pays for it. */
async function paysNow(tx: Tx, row: TransactionRow, intent: IntentRow, cause: Cause): Promise<boolean> {
  if (intent.status !== 'approved') return false;
  if (row.clearedCents > 0) await matchIfFree(tx, row, intent, cause);
  if (intent.matchedTransactionId !== row.id) return false;
  await paysFor(tx, row, intent.id);
  return true;
}

/**
 * The network approved what was declined: the intent that the charge was for is paid for by it, so that nothing else
 * pays for it before the clearing. For a caller that has locked no ledger account yet.
 */
export async function matchMeant(tx: Tx, row: TransactionRow, cause: Cause): Promise<void> {
  await cancelRequests(tx, [{ row, cause }]);
  const intentId = row.intentId ?? (await intentMeant(tx, row.id));
  if (intentId == null) return;
  const intent = (await lockIntents(tx, [intentId])).get(intentId) as IntentRow;
  if (intent.recurring != null) return payWindowOf(tx, row, intent, cause);
  if (intent.status !== 'approved') return;
  await matchIfFree(tx, row, intent, cause);
  if (intent.matchedTransactionId === row.id) await paysFor(tx, row, intent.id);
}

const openRequest = z.object({ transactionId: z.string(), intentId: z.string() });

/**
 * No person is asked any more about a declined charge that the network has approved or collected: an approval would let it
 * be paid twice. The caller has locked the requests.
 */
async function cancelRequests(tx: Tx, told: readonly Pick<Told, 'row' | 'cause'>[]): Promise<void> {
  const declined = new Map<string, Cause>(
    told.flatMap(({ row, cause }) =>
      row.intentId == null && row.approvedCents === 0 ? [[row.id, cause] as const] : [],
    ),
  );
  if (declined.size === 0) return;
  const open = await rowsOf(
    tx,
    openRequest,
    `select transaction_id as "transactionId", intent_id as "intentId"
     from approval_requests_about($1::text[], 'pending_approval')`,
    [[...declined.keys()]],
  );
  // Two of these charges may be two attempts at one purchase.
  for (const [intentId, { transactionId }] of new Map(open.map((one) => [one.intentId, one]))) {
    const cause = declined.get(transactionId) as Cause;
    const reason = `the network approved or collected transaction ${transactionId}, the charge that this request is about`;
    const ended = { ...cause, causeId: `${cause.causeId}/not-asked` };
    await applyToIntent(tx, intentId, { kind: 'cancel', reason }, ended);
  }
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
  { isFullyReversed }: Ending,
  cause: Cause,
): Promise<void> {
  if (row.clearedCents > 0) await payWindowOf(tx, row, intent, cause);
  if (hasLastClearing(row)) await settleWindow(tx, intent.id, row.id, 'complete', cause);
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
