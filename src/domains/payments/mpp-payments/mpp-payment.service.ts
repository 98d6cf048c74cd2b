/**
 * Writes of machine payments: lock the row, decide by the rules, save, and record transition, event and workflow run,
 * all in the caller's transaction. The only way a payment changes, but for the charge that the network's authorization
 * writes beside it.
 * @module
 */
import { LockMode } from '@mikro-orm/core';
import { runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { type Change, recordChanges } from '../../../events/record.ts';
import { notFound } from '../../../kernel/errors.ts';
import type { Id } from '../../../kernel/ids.ts';
import { assertBelowLimit } from '../../../platform/assert-limit.ts';
import type { Cause } from '../../../platform/cause.ts';
import { hasMoved, recordTransition } from '../../../platform/transitions.ts';
import {
  closeWorkflowRun,
  openWorkflowRun,
  setWorkflowRunDue,
  wakeWorkflowRun,
} from '../../../platform/workflow-runs.ts';
import {
  applyToIntent,
  type IntentRow,
  keepForPayment,
  releaseFromPayment,
  tellOfOpenPayment,
} from '../../spending/intents/index.ts';
import type { Receipt } from '../mpp/credential.wire.ts';
import { followUnusedCredential, revokeCredentialsOf } from '../mpp-credentials/mpp-credential.service.ts';
import { isAgentClosed } from '../transactions/booking.posting.service.ts';
import { MppBodyRow, MppPaymentRow } from './mpp-payment.entity.ts';
import { mppPaymentWorkflow, mppPaymentWorkflowId } from './mpp-payment.messages.ts';
import {
  bodyLivesMs,
  isFinalMppPayment,
  type MppPaymentCommand,
  type MppPaymentStatus,
  moveMppPayment,
  mppPaymentDueAt,
  openMppPaymentStatuses,
} from './mpp-payment.rules.ts';
import { progressOf } from './mpp-payment.state.ts';
import { mppPaymentData } from './mpp-payment.wire.ts';

export type NewMppPayment = {
  readonly id: MppPaymentRow['id'];
  readonly credentialId: Id<'mppCredential'>;
  readonly intent: IntentRow;
  readonly url: string;
};

/** The intent is locked, and has no open payment. It is kept for this one until it has ended. */
export async function openMppPayment(
  tx: Tx,
  { id, credentialId, intent, url }: NewMppPayment,
  cause: Cause,
): Promise<MppPaymentRow> {
  const counted = { ownerId: intent.ownerId, subject: intent.id, at: cause.at };
  await assertBelowLimit(tx, 'mpp_payments', counted, { isLocked: true }); // By the intent's row.
  const row = tx.create(MppPaymentRow, {
    id,
    ownerId: intent.ownerId,
    agentId: intent.agentId,
    intentId: intent.id,
    cardId: intent.cardId,
    url,
    payeeUrl: null,
    status: 'requested',
    sealedChallenge: null,
    amountCents: null,
    currency: null,
    credentialId,
    sendCause: null,
    sendUntil: null,
    sentAt: null,
    presentedAt: null,
    chargeOutcome: null,
    chargeSource: null,
    chargeCode: null,
    chargeReason: null,
    transactionId: null,
    merchantStatus: null,
    sealedReceipt: null,
    outcomeCode: null,
    outcomeReason: null,
    requestId: cause.requestId,
    runId: cause.runId ?? null,
    actor: cause.actor,
    createdAt: cause.at,
    updatedAt: cause.at,
  });
  await keepForPayment(tx, intent, id, cause);
  await recordTransition(tx, 'mpp_payment', id, { from: null, to: row.status }, cause);
  await recordChanges(tx, cause, [changeOf(row, 'mpp.payment.created')]);
  await openWorkflowRun(tx, {
    id: mppPaymentWorkflowId(id),
    workflow: mppPaymentWorkflow,
    subjectId: id,
    ownerId: row.ownerId,
    agentId: row.agentId,
    stage: row.status,
    // The challenge is not read yet, so the amount is that of the intent.
    amountCents: intent.expectedAmountCents,
    dueAt: cause.at,
    at: cause.at,
  });
  return row;
}

/** For a step that does not end the payment. */
export async function lockMppPayment(tx: Tx, id: string): Promise<MppPaymentRow> {
  const options = { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true } as const;
  const row = await tx.findOne(MppPaymentRow, { id: id as MppPaymentRow['id'] }, options);
  if (row === null) throw notFound('mpp payment', id);
  return row;
}

/**
 * For a step that may end the payment and release its intent: agent, intent and credential first, in the order of the
 * network's authorization.
 */
export async function lockMppPaymentWithIntent(tx: Tx, { id }: Pick<MppPaymentRow, 'id'>): Promise<MppPaymentRow> {
  await runSql(tx, 'select lock_mpp_payment($1)', [id]);
  return lockMppPayment(tx, id);
}

type Read = 'payeeUrl' | 'sealedChallenge' | 'amountCents' | 'currency';
type Sent = 'sendCause' | 'sendUntil' | 'presentedAt';
type Answered = 'merchantStatus' | 'sealedReceipt';
type Ended = 'chargeOutcome' | 'chargeSource' | 'transactionId' | 'outcomeCode' | 'outcomeReason';
export type MppPaymentChange = Partial<Pick<MppPaymentRow, Read | Sent | Answered | Ended>>;

/** What a caller hears about; the steps on the way there are only in `transitions`. */
const eventsOf: Readonly<Record<MppPaymentCommand, readonly EventName[]>> = {
  challenge: [],
  allow: [],
  mint: [],
  present: [],
  accept: ['mpp.payment.updated'],
  lose: ['mpp.payment.updated'],
  pay: ['mpp.payment.updated'],
  decline: ['mpp.payment.updated'],
  refuse: ['mpp.payment.updated'],
  withhold: ['mpp.payment.updated'],
  giveUp: ['mpp.payment.unresolved'],
};

type EventName = 'mpp.payment.created' | 'mpp.payment.updated' | 'mpp.payment.unresolved' | 'mpp.payment.resolved';

type ChangeOptions = {
  /** Real time; `cause.at` is business time. */
  readonly real: Date;
  /** Instead of the event of the command. */
  readonly event?: EventName;
  /** The change is not the workflow's own step, so its run is woken. */
  readonly wakes?: true;
  /** For the audit row. */
  readonly note?: string;
};

/** In these states the challenge may still be answered; in all others it is not kept. */
const answersChallenge: readonly MppPaymentStatus[] = ['challenged', 'allowed', 'minted', 'presenting'];

/** From these on there is a credential, which the charge may use. */
const hasCredential: readonly MppPaymentStatus[] = ['allowed', 'minted', 'presenting'];

/**
 * These lead from one state to the next within one step of the run. No state comes back, so no cause can have moved the
 * row there before; no caller hears of them; and the run has to act when it had to act before.
 */
const leadsOn: readonly MppPaymentCommand[] = ['challenge', 'allow', 'mint'];

/** A command that the row does not take any more changes nothing: the row says how it went. */
export async function changeMppPayment(
  tx: Tx,
  row: MppPaymentRow,
  command: MppPaymentCommand,
  change: MppPaymentChange,
  cause: Cause,
  { real, event, wakes, note }: ChangeOptions,
): Promise<MppPaymentRow> {
  const from = row.status;
  const isSeen = !leadsOn.includes(command) && (await hasMoved(tx, 'mpp_payment', row.id, cause.causeId));
  const move = moveMppPayment(from, command, isSeen);
  if (move.outcome !== 'moved') return row;
  Object.assign(row, change, { status: move.next, updatedAt: cause.at });
  if (!answersChallenge.includes(row.status)) row.sealedChallenge = null;
  await recordTransition(tx, 'mpp_payment', row.id, { from, to: move.next }, cause);
  if (leadsOn.includes(command)) return row; // Written with what follows, or at the commit.
  await tx.flush();
  const events = event === undefined ? eventsOf[command] : [event];
  await recordChanges(
    tx,
    cause,
    events.map((name) => changeOf(row, name, note)),
  );
  await followMppPayment(tx, row, { cause, real, wakes });
  await followIntent(tx, row, from, cause);
  const isLeft = hasCredential.includes(from) && !hasCredential.includes(row.status);
  if (isLeft && command !== 'pay') await followUnusedCredential(tx, row.credentialId, cause, real);
  return row;
}

const isOpen = (status: MppPaymentStatus): boolean => openMppPaymentStatuses.includes(status);

/** The intent stands until its payment has ended. */
async function followIntent(tx: Tx, row: MppPaymentRow, from: MppPaymentStatus, cause: Cause): Promise<void> {
  if (row.status === 'accepted' || row.status === 'unknown') await tellOfOpenPayment(tx, row);
  if (!isOpen(from) || isOpen(row.status)) return;
  const isUnpaid = await releaseFromPayment(tx, row, cause);
  if (!isUnpaid || !(await isAgentClosed(tx, row))) return;
  // What the agent's close left to the payment: nothing pays for it any more.
  const closed = { ...cause, causeId: `${cause.causeId}/agent-closed` };
  await applyToIntent(tx, row.intentId, { kind: 'cancel' }, closed);
  await revokeCredentialsOf(tx, [row.intentId], closed);
}

/** Closes or moves the workflow run with the row. */
async function followMppPayment(
  tx: Tx,
  row: MppPaymentRow,
  { cause, real, wakes = false }: { readonly cause: Cause; readonly real: Date; readonly wakes?: boolean | undefined },
): Promise<void> {
  const workflowId = mppPaymentWorkflowId(row.id);
  const progress = progressOf(row);
  const dueAt = mppPaymentDueAt(progress, { business: cause.at, real });
  if (isFinalMppPayment(progress)) await closeWorkflowRun(tx, workflowId, { isOwnStep: !wakes });
  else if (wakes) await wakeWorkflowRun(tx, workflowId, dueAt);
  else await setWorkflowRunDue(tx, workflowId, dueAt);
}

/**
 * Committed before the credential leaves, so that no other step sends it. The row is locked. The run is due as it was
 * before, at most as much later as the credential was sent before its time was over.
 */
export async function markSent(tx: Tx, row: MppPaymentRow, now: { cause: Cause; real: Date }): Promise<void> {
  row.sentAt = now.real;
  row.updatedAt = now.cause.at;
  await tx.flush();
}

export type MerchantAnswer = {
  readonly merchantStatus: number;
  readonly sealedReceipt: string | null;
  readonly sealedBody: string;
};

/** As it is sealed. `receipt`: null for one that could not be decoded. */
export type KeptReceipt = { readonly raw: string; readonly receipt: Receipt | null };

/** Kept with the row, whatever its state is, and written at the latest by the commit. The first answer stays. */
export function keepMerchantAnswer(
  tx: Tx,
  row: MppPaymentRow,
  { merchantStatus, sealedReceipt, sealedBody }: MerchantAnswer,
  now: { cause: Cause; real: Date },
): void {
  if (row.merchantStatus != null) return;
  Object.assign(row, { merchantStatus, sealedReceipt, updatedAt: now.cause.at });
  const keptUntil = new Date(now.real.getTime() + bodyLivesMs);
  tx.create(MppBodyRow, { paymentId: row.id, sealedBody, keptUntil });
}

/** The contexts under which the vault seals what a merchant sent. */
export const challengeContext = (id: string): string => `mpp-payment/${id}/challenge`;
export const receiptContext = (id: string): string => `mpp-payment/${id}/receipt`;
export const bodyContext = (id: string): string => `mpp-payment/${id}/body`;

const changeOf = (row: MppPaymentRow, event: EventName, note?: string): Change => ({
  event,
  ownerId: row.ownerId,
  agentId: row.agentId,
  subjectId: row.id,
  data: mppPaymentData(row),
  details: {
    status: row.status,
    intentId: row.intentId,
    transactionId: row.transactionId ?? null,
    ...(note === undefined ? {} : { note }),
  },
});
