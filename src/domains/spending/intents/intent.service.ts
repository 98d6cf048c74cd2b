/**
 * Intent writes: lock the row, decide by the rules, save, record transition, event and workflow run, all in the
 * caller's transaction. The only way an intent changes. The caller has checked the permission.
 * @module
 */
import type { Tx } from '../../../db/tx.ts';
import type { EventsLike } from '../../../events/catalog.ts';
import { recordChanges } from '../../../events/record.ts';
import type { ReachedId } from '../../../http/reaches.ts';
import { DomainError } from '../../../kernel/errors.ts';
import { later, minute } from '../../../kernel/instant.ts';
import type { Cents } from '../../../kernel/money.ts';
import { actorInWords, type Cause } from '../../../platform/cause.ts';
import { recordTransition } from '../../../platform/transitions.ts';
import {
  closeWorkflowRun,
  openWorkflowRun,
  setWorkflowRunDue,
  wakeWorkflowRun,
} from '../../../platform/workflow-runs.ts';
import type { ApprovalLinks } from '../../identity/approvals/index.ts';
import type { DeclinedCharge } from './allow-once.rules.ts';
import { IntentRow, type PayingTransferId, type PolicyCheck } from './intent.entity.ts';
import { type LockedIntent, lockIntentFor } from './intent.lock.service.ts';
import { intentWorkflow, intentWorkflowId } from './intent.messages.ts';
import { releasePayer } from './intent.reopen.service.ts';
import { type IntentCommandKind, type IntentStatus, isFinalIntent, moveIntent } from './intent.rules.ts';
import { refuseExpired, refusePastDeadline, stateOf } from './intent.state.service.ts';
import { intentEventData } from './intent.wire.ts';
import { anchor, dueAt } from './windows/current-window.ts';
import type { Recurring } from './windows/recurrence.rules.ts';
import { missOpenWindows } from './windows/window.end.service.ts';

/** What a person or the agent asks for to end an intent. The audit keeps the reason of a cancellation. */
type Revocation = { readonly kind: 'deny' | 'cancel'; readonly reason?: string | undefined };

export type IntentCommand =
  | { readonly kind: 'approve' | 'expire' | 'unmatch' }
  | Revocation
  | { readonly kind: 'match'; readonly transactionId: string }
  /** Null: a transfer paid for it. */
  | { readonly kind: 'complete'; readonly transactionId: string | null }
  | { readonly kind: 'match'; readonly transferId: PayingTransferId }
  | { readonly kind: 'fail'; readonly reason: string };

export type NewIntent = {
  readonly id: `int_${string}`;
  readonly ownerId: string;
  readonly agentId: string;
  readonly clientIntentId: string | null;
  readonly purpose: string;
  readonly expectedAmountCents: Cents;
  readonly expectedMerchant: string | null;
  readonly cardId: string;
  /** Until when a person may decide, or the agent may pay. */
  readonly expiresAt: Date;
  /** Counted from a person's approval; without it the first deadline stands. */
  readonly payWithinMinutes?: number;
  /** Charged again and again, until its deadline. */
  readonly recurring?: Recurring | null;
  readonly policyCheck: PolicyCheck;
  readonly policyVersion: number | null;
  readonly status: Extract<IntentStatus, 'approved' | 'pending_approval' | 'denied'>;
  /** The charge that it was made from: a person is asked about it, or has allowed it. */
  readonly declinedCharge?: DeclinedCharge;
  /** An owner allows that charge once, and so approves the intent in person. */
  readonly allowsOnceOf?: string;
  /** Of the intent whose place it takes. */
  readonly attestation?: Attestation;
};

export type Attestation = { readonly attestedAt: Date | null; readonly attestedBy: string | null };

/** Inserts an evaluated intent with its events, with a link if it waits for a person, and with a workflow run unless it is final. */
export async function insertIntent(
  tx: Tx,
  fresh: NewIntent,
  cause: Cause,
  links: Pick<ApprovalLinks, 'open'>,
): Promise<IntentRow> {
  const isApproved = fresh.status === 'approved';
  const { attestation, ...given } = fresh;
  const row = tx.create(IntentRow, {
    ...given,
    ...attestation,
    payWithinMinutes: fresh.payWithinMinutes ?? null,
    recurring: fresh.recurring ?? null,
    declinedCharge: fresh.declinedCharge ?? null,
    allowsOnceOf: fresh.allowsOnceOf ?? null,
    isAutoApproved: isApproved && fresh.allowsOnceOf === undefined,
    approvedBy: isApproved ? (fresh.allowsOnceOf === undefined ? 'policy' : actorInWords(cause.actor)) : null,
    approvedAt: isApproved ? cause.at : null,
    deniedReason: fresh.status === 'denied' ? fresh.policyCheck.reason : null,
    completedAt: null,
    matchedTransactionId: null,
    transferId: null,
    openPaymentId: null,
    openPaymentAt: null,
    transactionId: null,
    verified: false,
    requestId: cause.requestId,
    runId: cause.runId ?? null,
    version: 1,
    createdAt: cause.at,
    updatedAt: cause.at,
  });
  if (isApproved) anchor(row, cause.at);
  await tx.flush();
  await recordTransition(tx, 'intent', row.id, { from: null, to: row.status }, cause);
  if (row.status === 'pending_approval') await links.open(tx, row.id, cause.at);
  const decision = decisionEvent[fresh.status];
  await recordChanges(tx, cause, [
    changeOf(row, 'intent.created', {
      decision: row.status,
      rule: row.policyCheck.reason,
      ...(row.declinedCharge == null ? {} : { declinedTransactionId: row.declinedCharge.transactionId }),
      ...(row.allowsOnceOf == null ? {} : { allowsOnceOf: row.allowsOnceOf }),
    }),
    ...(decision === undefined ? [] : [{ ...changeOf(row, decision), audited: false }]),
  ]);
  if (!isFinalIntent(row.status)) await openWorkflowRun(tx, workflowRunOf(row, cause.at));
  return row;
}

const decisionEvent: Partial<Record<IntentStatus, IntentEvent>> = {
  approved: 'intent.approved',
  denied: 'intent.denied',
};

/** Where the caller stands: its own workflow needs no wake. */
export type ApplyOptions = { readonly isOwnWorkflow?: boolean };

/** Moves one intent. `already` and `moved` return the row; `refused` throws `invalid_state`. */
export async function applyToIntent(
  tx: Tx,
  id: string,
  command: IntentCommand,
  cause: Cause,
  options: ApplyOptions = {},
): Promise<IntentRow> {
  return applyToLockedIntent(tx, await lockIntentFor(tx, id, cause), command, cause, options);
}

/** Refused from the deadline on, whether or not the workflow has marked the intent expired. */
export async function revokeIntent(
  tx: Tx,
  { id, ownerId }: { readonly id: ReachedId<'intent'>; readonly ownerId: string },
  command: Revocation,
  cause: Cause,
): Promise<IntentRow> {
  const locked = await lockIntentFor(tx, id, cause, { ownerId });
  refuseExpired(locked.row, command.kind, cause.at);
  return applyToLockedIntent(tx, locked, command, cause);
}

/** The same, for who looks at it under its lock before. */
export async function applyToLockedIntent(
  tx: Tx,
  { row, seen }: LockedIntent,
  command: IntentCommand,
  cause: Cause,
  options: ApplyOptions = {},
): Promise<IntentRow> {
  const move = moveIntent(stateOf(row), command.kind, seen);
  if (move.outcome === 'refused') throw new DomainError('invalid_state', move.why);
  if (move.outcome === 'already') return row;
  if (command.kind === 'approve') refusePastDeadline(row, cause.at);
  const from = row.status;
  row.status = move.next;
  row.updatedAt = cause.at;
  write[command.kind](row, command, cause);
  await tx.flush();
  await recordTransition(tx, 'intent', row.id, { from, to: row.status }, cause);
  const event = eventOf[command.kind];
  const moved = event === undefined ? [] : [changeOf(row, event, detailsOf(command))];
  const missed = isFinalIntent(row.status) ? await missOpenWindows(tx, [row], cause) : [];
  await recordChanges(tx, cause, [...moved, ...missed]);
  await followUp(tx, row, options);
  return row;
}

type Write = (row: IntentRow, command: IntentCommand, cause: Cause) => void;

const write: Record<IntentCommandKind, Write> = {
  approve: (row, _command, { at, actor }) => {
    row.approvedBy = actorInWords(actor);
    row.approvedAt = at;
    if (row.payWithinMinutes != null) row.expiresAt = later(at, row.payWithinMinutes * minute);
    anchor(row, at);
  },
  deny: (row, command) => {
    row.deniedReason = command.kind === 'deny' ? (command.reason ?? null) : null;
  },
  cancel: () => undefined,
  expire: () => undefined,
  match: (row, command) => {
    row.matchedTransactionId = 'transactionId' in command ? command.transactionId : null;
    row.transactionId = row.matchedTransactionId;
    row.transferId = 'transferId' in command ? command.transferId : null;
  },
  unmatch: releasePayer,
  complete: (row, command, { at }) => {
    row.transactionId = 'transactionId' in command ? command.transactionId : row.transactionId;
    row.completedAt = at;
  },
  fail: (row, command) => {
    row.deniedReason = 'reason' in command ? (command.reason ?? null) : null;
  },
};

const eventOf = {
  approve: 'intent.approved',
  deny: 'intent.denied',
  cancel: 'intent.cancelled',
  expire: 'intent.expired',
  match: 'intent.matched',
  unmatch: undefined, // The reversal's own event tells it.
  complete: 'intent.completed',
  fail: 'intent.failed',
} as const satisfies Record<IntentCommandKind, IntentEvent | undefined>;

const detailsOf = (command: IntentCommand): Record<string, unknown> => ({ ...command });

type IntentEvent = EventsLike<'intent.created'>;

export function changeOf(row: IntentRow, event: IntentEvent, details: Record<string, unknown> = {}) {
  const { id, ownerId, agentId } = row;
  return { event, ownerId, agentId, subjectId: id, data: intentEventData(row), details };
}

async function followUp(tx: Tx, row: IntentRow, { isOwnWorkflow = false }: ApplyOptions): Promise<void> {
  const id = intentWorkflowId(row.id);
  const due = dueAt(row);
  if (isFinalIntent(row.status)) await closeWorkflowRun(tx, id, { isOwnStep: isOwnWorkflow });
  else await (isOwnWorkflow ? setWorkflowRunDue(tx, id, due) : wakeWorkflowRun(tx, id, due));
}

const workflowRunOf = (row: IntentRow, at: Date) => ({
  id: intentWorkflowId(row.id),
  workflow: intentWorkflow,
  subjectId: row.id,
  ownerId: row.ownerId,
  agentId: row.agentId,
  stage: row.status,
  amountCents: row.expectedAmountCents,
  dueAt: dueAt(row),
  at,
});
