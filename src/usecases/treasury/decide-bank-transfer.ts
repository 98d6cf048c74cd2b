/**
 * Carries out what people and the deadline decide about a bank transfer, in one transaction: approve, deny, cancel or
 * expire. What the bank may have is not cancelled but recalled. Denying and cancelling work without Temporal.
 * @module
 */
import { type Given, query } from '../../db/db.ts';
import type { Tx } from '../../db/tx.ts';
import { policyOfAgent } from '../../domains/spending/policies/policy.queries.ts';
import { payRefusal } from '../../domains/treasury/beneficiaries/beneficiary.rules.ts';
import {
  type BankTransferStage,
  isFinalStage,
  isRecallable,
  moveTransfer,
} from '../../domains/treasury/sepa/bank-transfer.rules.ts';
import { type BankTransfer, lockBankTransfer } from '../../domains/treasury/transfers/bank-transfer.queries.ts';
import { inStage, saveRecallRequest, seenCauses } from '../../domains/treasury/transfers/bank-transfer.service.ts';
import { DomainError } from '../../kernel/errors.ts';
import { actorInWords, type Cause } from '../../platform/cause.ts';
import { demandsPasskey } from '../spending/refuse-unattested.ts';
import { moveTransfers } from './transfer-intents.ts';

export type TransferDecision =
  | { readonly kind: 'approve' | 'cancel' | 'expire' }
  | { readonly kind: 'deny'; readonly reason?: string | undefined };

type Named = { readonly id: string; readonly ownerId?: string };

export async function decideBankTransfer(
  tx: Tx,
  { id, ownerId }: Named,
  decision: TransferDecision,
  cause: Cause,
  { isOwnStep = false } = {},
): Promise<BankTransfer> {
  const row = await lockBankTransfer(tx, id, ownerId);
  const seen = (await seenCauses(tx, [{ id, cause: cause.causeId }])).size > 0;
  if (decision.kind === 'cancel' && !seen && isRecallable(row.stage)) return recall(tx, row, cause);
  if (!isOpenFor(row, decision.kind, seen, cause.at)) return row;
  if (decision.kind === 'approve') await assertApprovable(tx, row, cause);
  const move = moveTransfer(row.stage, decision.kind, seen);
  if (move.outcome !== 'moved') return row;
  const after = decidedRow(row, move.next, decision, cause);
  await moveTransfers(tx, [{ before: row, after, cause }], { isOwnStep });
  return after;
}

export function decidedRow(
  row: BankTransfer,
  next: BankTransferStage,
  decision: TransferDecision,
  { actor, at }: Cause,
): BankTransfer {
  const reason = decision.kind === 'deny' ? (decision.reason ?? null) : null;
  return inStage(row, next, at, {
    ...{ decidedBy: actorInWords(actor), decidedAt: at, decisionReason: reason },
    ...(decision.kind !== 'approve' && { failureReason: next }),
  });
}

/** False where nothing changes: the cause moved the row before, or it is where the command leads. Throws refusals. */
export function isOpenFor(row: BankTransfer, command: TransferDecision['kind'], seen: boolean, at: Date): boolean {
  const { stage } = row;
  if (seen || stage === ended[command]) return false;
  // An approval keeps its first approver.
  if (command === 'approve' && row.decidedBy !== null && !isFinalStage(stage)) return false;
  const move = moveTransfer(stage, command, false);
  if (move.outcome === 'refused') throw new DomainError('invalid_state', move.why);
  const isOver = stage === 'pending_approval' && row.expiresAt !== null && row.expiresAt <= at;
  if (command === 'expire' && !isOver) throw new DomainError('invalid_state', 'the transfer can still be approved');
  if (command === 'approve' && isOver)
    throw new DomainError('invalid_state', 'the time to approve the transfer is over');
  return true;
}

const ended = { approve: undefined, deny: 'denied', cancel: 'cancelled', expire: 'expired' } as const;

async function recall(tx: Tx, row: BankTransfer, cause: Cause): Promise<BankTransfer> {
  if (row.recallOutcome !== null) return row;
  if (row.closedAt !== null) throw new DomainError('invalid_state', 'the time in which it can be recalled is over');
  return saveRecallRequest(tx, row, cause);
}

export async function assertApprovable(tx: Tx, row: BankTransfer, { actor }: Cause): Promise<void> {
  if (actor.kind === 'signal' && (await needsPasskey(tx, row))) {
    throw new DomainError('invalid_state', "the agent's policy demands a passkey; a signal cannot approve it");
  }
  const payee = await payeeForShare.first(tx, { id: row.beneficiaryId });
  const why = payee === null ? 'is deleted' : payRefusal(payee, row.agentId === null ? 'owner' : 'agent');
  if (why !== undefined) throw new DomainError('invalid_state', `beneficiary ${row.beneficiaryId} ${why}`);
}

/** Of an agent whose policy accepts no other approval. */
export const needsPasskey = async (tx: Tx, { agentId }: Pick<BankTransfer, 'agentId'>): Promise<boolean> =>
  agentId !== null && demandsPasskey(await policyOfAgent(tx, agentId));

export const payeeForShare = query((from, given: Given<{ id: string }>) =>
  from
    .selectFrom('beneficiaries')
    .select(['id', 'name', 'status', 'screeningResult', 'agentsMayPay', 'sealedIban'])
    .where('id', '=', given('id'))
    .where('deletedAt', 'is', null)
    .forShare(),
);
