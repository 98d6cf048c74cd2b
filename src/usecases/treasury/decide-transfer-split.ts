/**
 * Carries out what a person decides about a split, in one transaction: approve or deny every line that waits, or cancel
 * every line that the bank cannot have. Denying and cancelling work without Temporal.
 * @module
 */
import type { Tx } from '../../db/tx.ts';
import { moveTransfer } from '../../domains/treasury/sepa/bank-transfer.rules.ts';
import {
  type BankTransfer,
  isBankTransfer,
  lockBankTransfers,
} from '../../domains/treasury/transfers/bank-transfer.queries.ts';
import type { TransferStep } from '../../domains/treasury/transfers/bank-transfer.service.ts';
import { findAnySplit, type SplitView } from '../../domains/treasury/transfers/transfer.queries.ts';
import {
  approvalEnds,
  isMovedBy,
  type SplitCommand,
  splitOpenness,
  splitStage,
  whyNot,
} from '../../domains/treasury/transfers/transfer-split.rules.ts';
import { lockSplits, saveSplitDecision } from '../../domains/treasury/transfers/transfer-split.service.ts';
import { DomainError, notFound } from '../../kernel/errors.ts';
import { actorInWords, type Cause } from '../../platform/cause.ts';
import { hasMoved, recordTransition } from '../../platform/transitions.ts';
import { assertApprovable, decidedRow } from './decide-bank-transfer.ts';
import { moveTransfers } from './transfer-intents.ts';

export type SplitOrder =
  | { readonly kind: 'approve' | 'cancel' }
  | { readonly kind: 'deny'; readonly reason?: string | undefined };

type Named = { readonly id: string; readonly ownerId?: string };

export async function decideTransferSplit(
  tx: Tx,
  { id, ownerId }: Named,
  order: SplitOrder,
  cause: Cause,
): Promise<void> {
  const found = await findAnySplit(tx, id);
  if (found === null || (ownerId !== undefined && found.ownerId !== ownerId)) throw notFound('transfer split', id);
  // All lines before the split: whoever moves one of them holds its lock when it comes to the split.
  const rows = await lockBankTransfers(tx, bankLinesOf(found));
  const [split] = await lockSplits(tx, [id]);
  if (split === undefined) throw notFound('transfer split', id);
  const seen = await hasMoved(tx, splitNoun, id, cause.causeId);
  if (!isSplitOpenFor(split, order.kind, seen, cause.at)) return;
  if (order.kind === 'approve') {
    for (const row of byPayee(rows.filter(isMovedBy.approve))) await assertApprovable(tx, row, cause);
  }
  const decision = decisions[order.kind];
  if (decision !== null) {
    const reason = order.kind === 'deny' ? (order.reason ?? null) : null;
    await saveSplitDecision(tx, cause, id, { decision, by: actorInWords(cause.actor), reason });
  }
  await recordTransition(tx, splitNoun, id, { from: split.status, to: order.kind }, cause);
  await moveTransfers(tx, stepsOf(rows, order, cause));
}

export const splitNoun = 'transfer_split';
const decisions = { approve: 'approved', deny: 'denied', cancel: null } as const;

/** In the order in which a new split locks its payees. */
const byPayee = (rows: readonly BankTransfer[]): BankTransfer[] =>
  [...rows].sort((one, other) => (one.beneficiaryId < other.beneficiaryId ? -1 : 1));

const bankLinesOf = ({ transfers }: SplitView): string[] => transfers.filter(isBankTransfer).map(({ id }) => id);

const stepsOf = (rows: readonly BankTransfer[], order: SplitOrder, cause: Cause): TransferStep[] =>
  rows.filter(isMovedBy[order.kind]).flatMap((before) => {
    const move = moveTransfer(before.stage, order.kind, false);
    return move.outcome === 'moved' ? [{ before, after: decidedRow(before, move.next, order, cause), cause }] : [];
  });

/** False where nothing changes: the cause decided the split before, or it is decided so. Throws refusals. */
export function isSplitOpenFor(split: SplitView, command: SplitCommand, seen: boolean, at: Date): boolean {
  if (seen) return false;
  const openness = splitOpenness({ ...split, lines: split.transfers }, command);
  if (openness === 'already') return false;
  if (openness === 'refused') {
    throw new DomainError('invalid_state', whyNot(splitStage(split.transfers), command));
  }
  const ends = approvalEnds(split.transfers);
  if (command === 'approve' && ends !== null && ends <= at) {
    throw new DomainError('invalid_state', 'the time to approve a line of the split is over');
  }
  return true;
}
