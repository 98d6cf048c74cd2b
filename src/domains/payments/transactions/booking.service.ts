/**
 * Books what the network says about a transaction: the row, its child record, the intent it pays for, the journal and
 * the events, in the caller's transaction. The row is locked and the message is new when these are called.
 * @module
 */
import { rows, type Tx } from '../../../db/tx.ts';
import { type Change, recordChanges } from '../../../events/record.ts';
import { unavailable } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import { eurosFromCents, percentOf } from '../../../kernel/money.ts';
import type { Cause } from '../../../platform/cause.ts';
import { recordTransition } from '../../../platform/transitions.ts';
import { applyToIntent, lockIntent } from '../../spending/intents/index.ts';
import {
  agentReturn,
  available,
  clearing,
  held,
  type JournalDraft,
  type JournalKind,
  lockAccounts,
  type Posting,
  postJournals,
  receivable,
  release,
} from '../../treasury/index.ts';
import { purseOf } from './purse.rules.ts';
import type { TransactionRow } from './transaction.entity.ts';
import {
  clear,
  expire,
  holdExpiry,
  overClearingTolerancePercent,
  reverse,
  type TransactionChange,
} from './transaction.rules.ts';
import { completedData, transactionData } from './transaction.wire.ts';

/** The network's message, or the sweeper's own reason; `id` is unique per adapter. */
export type Source = { readonly adapter: string; readonly id: string };
/** Closes a card that was for one payment; from cards. */
export type CloseUsedCard = (tx: Tx, cardId: string, cause: Cause) => Promise<void>;

export async function bookClearing(
  tx: Tx,
  row: TransactionRow,
  { source, amountCents, isFinal }: { source: Source; amountCents: number; isFinal: boolean },
  cause: Cause,
  closeUsedCard: CloseUsedCard,
): Promise<void> {
  const before = { heldCents: row.heldCents, approvedCents: row.approvedCents };
  const change = clear(row, { amountCents, isFinal });
  row.issuerSettlementId = source.id;
  if (change.next.status === 'pending') row.holdExpiresAt = nextExpiry(row, cause);
  row.authorizedAt ??= cause.at; // A charge that was never approved is spent when it is collected.
  await save(tx, row, change, cause);
  await insertEvent(tx, row, { kind: 'clearing', source, amountCents, isFinal }, cause);
  await tellOthers(tx, row, change, cause, closeUsedCard);

  const from = purseOf(row.purse);
  const { ownerId } = row;
  const accounts = [held(from), available(from), receivable(ownerId)];
  const balances = await lockAccounts(tx, cause, ownerId, accounts);
  const availableCents = balances[available(from)] ?? 0;
  const postings = clearing({
    ownerId,
    from,
    amountCents,
    isFinal,
    heldCents: before.heldCents,
    availableCents,
    receivableCents: balances[receivable(ownerId)] ?? 0,
  });
  await post(tx, row, { kind: 'clearing', source, postings }, cause);

  const owedCents = Math.max(0, change.beyondCents - availableCents);
  await recordChanges(tx, cause, [
    changeOf(row, 'transaction.settlement', { amountCents, isFinal, networkId: source.id }),
    { ...changeOf(row, 'transaction.settled'), audited: false },
    ...completion(row, change),
    ...alerts(row, { change, before, owedCents }),
  ]);
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
  cause: Cause,
  closeUsedCard: CloseUsedCard,
): Promise<number> {
  const amountCents = change.releasedCents;
  await save(tx, row, change, cause);
  await insertEvent(tx, row, { kind, source, amountCents, isFinal: null }, cause);
  // It had ended before: the message is kept, and nothing moves.
  if (amountCents === 0 && !change.completes && !change.isFullyReversed) return 0;
  await tellOthers(tx, row, change, cause, closeUsedCard);
  const postings = amountCents === 0 ? [] : release({ ownerId: row.ownerId, from: purseOf(row.purse), amountCents });
  await post(tx, row, { kind: kind === 'expiry' ? 'hold_expiry' : 'reversal', source, postings }, cause);
  const updated = changeOf(row, 'transaction.updated', { [kind]: source.id, releasedCents: amountCents });
  await recordChanges(tx, cause, [updated, ...completion(row, change)]);
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
  kind: 'clearing' | 'reversal' | 'expiry';
  source: Source;
  amountCents: number;
  isFinal: boolean | null;
};

async function insertEvent(tx: Tx, row: TransactionRow, event: EventRecord, { at }: Cause): Promise<void> {
  await rows(
    tx,
    `insert into transaction_events (transaction_id, kind, adapter, network_id, amount_cents, is_final, at)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [row.id, event.kind, event.source.adapter, event.source.id, event.amountCents, event.isFinal, at],
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

/** Completed at the final clearing, open again once nothing of the authorization is left; a final intent stays. */
async function tellIntent(tx: Tx, row: TransactionRow, change: TransactionChange, cause: Cause): Promise<void> {
  if (row.intentId == null || !(change.completes || change.isFullyReversed)) return;
  const intent = await lockIntent(tx, row.intentId);
  if (intent.status !== 'approved' || intent.matchedTransactionId !== row.id) return;
  const command = change.completes
    ? ({ kind: 'complete', transactionId: row.id } as const)
    : ({ kind: 'unmatch' } as const);
  await applyToIntent(tx, intent.id, command, cause);
  if (command.kind !== 'unmatch' || !(await isAgentClosed(tx, row))) return;
  // What the agent's close left to the payment: nothing pays for it any more.
  await applyToIntent(tx, intent.id, { kind: 'cancel' }, { ...cause, causeId: `${cause.causeId}/agent-closed` });
}

/** Whoever books holds the agent as it is (lock_payment). */
async function isAgentClosed(tx: Tx, { agentId }: TransactionRow): Promise<boolean> {
  return (await rows(tx, `select 1 from agents where id = $1 and status = 'closed'`, [agentId])).length > 0;
}

type Journal = { kind: JournalKind; source: Source; postings: readonly Posting[] };

async function post(tx: Tx, row: TransactionRow, { kind, source, postings }: Journal, cause: Cause): Promise<void> {
  if (postings.length === 0) return;
  const draft = (part: string, of: JournalKind, lines: readonly Posting[]): JournalDraft => ({
    id: newId('journal'),
    ownerId: row.ownerId,
    agentId: row.agentId,
    kind: of,
    referenceType: 'transaction',
    referenceId: row.id,
    cause: `${part}:${source.adapter}:${source.id}`,
    postings: lines,
  });
  const returned = await toOwnerOfClosedAgent(tx, row, postings);
  await postJournals(tx, cause, [
    draft(kind, kind, postings),
    ...(returned.length === 0 ? [] : [draft('agent_return', 'agent_return', returned)]),
  ]);
}

/** A closed agent keeps no budget: what comes back to it goes on to the owner's default wallet. */
async function toOwnerOfClosedAgent(
  tx: Tx,
  row: TransactionRow,
  postings: readonly Posting[],
): Promise<readonly Posting[]> {
  const purse = purseOf(row.purse);
  const amountCents = postings.find(({ account }) => account === available(purse))?.amountCents ?? 0;
  if (purse.kind !== 'agent' || amountCents <= 0) return [];
  if (!(await isAgentClosed(tx, row))) return [];
  const walletId = await defaultWalletOf(tx, row.ownerId);
  return agentReturn({ walletId, agentId: row.agentId, amountCents });
}

/**
 * Its own wallet may be closed by now; the default one cannot be while it is held here. A switch of the default that
 * commits while we wait leaves the statement without a row; the next one sees the new default.
 */
async function defaultWalletOf(tx: Tx, ownerId: string): Promise<string> {
  for (let look = 0; look < 3; look++) {
    const [found] = await rows<{ id: string }>(
      tx,
      'select id from wallets where owner_id = $1 and is_default for share',
      [ownerId],
    );
    if (found !== undefined) return found.id;
  }
  throw unavailable('the default wallet is being changed');
}

const completion = (row: TransactionRow, { completes }: TransactionChange): Change[] =>
  completes ? [{ ...changeOf(row, 'transaction.completed'), data: completedData(row) }] : [];

type Circumstances = {
  change: TransactionChange;
  before: { heldCents: number; approvedCents: number };
  owedCents: number;
};

/** What an owner should look at: a charge without a live hold, far above it, or more than there was money for. */
function alerts(row: TransactionRow, { change, before, owedCents }: Circumstances): Change[] {
  const usualCents = percentOf(before.approvedCents, overClearingTolerancePercent);
  const signals = [
    ...(before.heldCents === 0 && change.beyondCents > 0 ? ['cleared_without_hold'] : []),
    ...(before.heldCents > 0 && change.beyondCents > usualCents ? ['cleared_above_tolerance'] : []),
    ...(owedCents > 0 ? ['receivable'] : []),
  ];
  if (signals.length === 0) return [];
  const figures = { beyondEuros: eurosFromCents(change.beyondCents), receivableEuros: eurosFromCents(owedCents) };
  const data = {
    id: row.id,
    agentId: row.agentId,
    transactionId: row.id,
    status: row.status,
    action: 'alert',
    signals,
    ...figures,
  };
  return [{ ...changeOf(row, 'risk.alert_created'), data, details: { signals } }];
}

type TransactionEvent = Extract<Change['event'], `transaction.${string}` | 'risk.alert_created'>;

const changeOf = (row: TransactionRow, event: TransactionEvent, details: Record<string, unknown> = {}): Change => ({
  event,
  ownerId: row.ownerId,
  agentId: row.agentId,
  subjectId: row.id,
  data: transactionData(row),
  details,
});
