/**
 * Changes of machine payments: decide by the rules, and write the row with transition, event and workflow run. The only
 * way a payment changes, but for the charge that the network's authorization writes beside it.
 * @module
 */
import { runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import type { Change } from '../../../events/record.ts';
import type { Id } from '../../../kernel/ids.ts';
import { assertBelowLimit } from '../../../platform/assert-limit.ts';
import type { Cause } from '../../../platform/cause.ts';
import type { WorkflowRun } from '../../../platform/workflow-runs.ts';
import { applyToIntent, type IntentRow, releaseFromPayment, tellOfOpenPayment } from '../../spending/intents/index.ts';
import { intentWorkflowId } from '../../spending/intents/intent.messages.ts';
import type { Receipt } from '../mpp/credential.wire.ts';
import { followUnusedCredential, revokeCredentialsOf } from '../mpp-credentials/mpp-credential.service.ts';
import { isAgentClosed } from '../transactions/booking.posting.service.ts';
import type { MppPaymentRow } from './mpp-payment.entity.ts';
import { mppPaymentWorkflow, mppPaymentWorkflowId } from './mpp-payment.messages.ts';
import { payResult } from './mpp-payment.outcome.rules.ts';
import { lockedMppPayment } from './mpp-payment.queries.ts';
import {
  bodyLivesMs,
  isFinalMppPayment,
  type MppPaymentCommand,
  type MppPaymentStatus,
  moveMppPayment,
  mppPaymentDueAt,
  openMppPaymentStatuses,
} from './mpp-payment.rules.ts';
import { outcomeOf, progressOf } from './mpp-payment.state.ts';
import { mppPaymentData } from './mpp-payment.wire.ts';
import { insertMppPayment, type KeptBody, quietWrite, type RunWrite, writeMppPayment } from './mpp-payment.write.ts';

type Row = Readonly<MppPaymentRow>;

/** A tool of an MCP server; `sealedArguments` under the context of its payment. */
export type SealedTool = { readonly name: string; readonly sealedArguments: string };

export type NewMppPayment = {
  readonly id: MppPaymentRow['id'];
  readonly credentialId: Id<'mppCredential'>;
  readonly intent: Readonly<IntentRow>;
  readonly url: string;
  readonly tool?: SealedTool | undefined;
};

/**
 * The intent is locked, and has no open payment. It is kept for this one until it has ended. Most payments end soon, so
 * the run of the intent is not woken for this.
 */
export async function openMppPayment(
  tx: Tx,
  { id, credentialId, intent, url, tool }: NewMppPayment,
  cause: Cause,
): Promise<Row> {
  const counted = { ownerId: intent.ownerId, subject: intent.id, at: cause.at };
  await assertBelowLimit(tx, 'mpp_payments', counted, { isLocked: true }); // By the intent's row.
  const row: Row = {
    id,
    ownerId: intent.ownerId,
    agentId: intent.agentId,
    intentId: intent.id,
    cardId: intent.cardId,
    url,
    payeeUrl: null,
    toolName: tool?.name ?? null,
    sealedToolArguments: tool?.sealedArguments ?? null,
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
    version: 1,
    requestId: cause.requestId,
    runId: cause.runId ?? null,
    actor: cause.actor,
    createdAt: cause.at,
    updatedAt: cause.at,
  };
  await insertMppPayment(tx, row, cause, {
    change: changeOf(row, 'mpp.payment.created'),
    run: openedRunOf(row, intent),
    intentRunId: intentWorkflowId(intent.id),
  });
  return row;
}

/** The run of a new payment. */
export const openedRunOf = (
  { id, ownerId, agentId, status }: Row,
  { expectedAmountCents }: Pick<IntentRow, 'expectedAmountCents'>,
): WorkflowRun => ({
  ...{ id: mppPaymentWorkflowId(id), workflow: mppPaymentWorkflow, subjectId: id, ownerId, agentId, stage: status },
  // The challenge is not read yet, so the amount is that of the intent.
  amountCents: expectedAmountCents,
});

/** For a step that does not end the payment. */
export const lockMppPayment = lockedMppPayment;

/**
 * For a step that may end the payment and release its intent: agent, intent and credential first, in the order of the
 * network's authorization.
 */
export async function lockMppPaymentWithIntent(tx: Tx, { id }: Pick<Row, 'id'>): Promise<Row> {
  await runSql(tx, 'select lock_mpp_payment($1)', [id]);
  return lockMppPayment(tx, id);
}

type Read = 'payeeUrl' | 'sealedChallenge' | 'amountCents' | 'currency';
type Sent = 'sendCause' | 'sendUntil' | 'sentAt' | 'presentedAt';
type Ended = 'chargeOutcome' | 'chargeSource' | 'transactionId' | 'outcomeCode' | 'outcomeReason';
export type MppPaymentChange = Partial<Pick<MppPaymentRow, Read | Sent | Ended>>;

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
  /** What the merchant answered, which the row keeps whatever becomes of it. The first answer stays. */
  readonly answer?: MerchantAnswer;
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

/** A command that the row does not take any more changes nothing: the row says how it went. The row is locked. */
export async function changeMppPayment(
  tx: Tx,
  row: Row,
  command: MppPaymentCommand,
  change: MppPaymentChange,
  cause: Cause,
  options: ChangeOptions,
): Promise<Row> {
  const { real } = options;
  const kept = keptAnswer(row, options);
  const written = await moved(tx, { ...row, ...kept?.set }, command, change, cause, { ...options, kept });
  if (written === undefined) return keepMerchantAnswer(tx, row, cause, options);
  if (leadsOn.includes(command)) return written;
  await followIntent(tx, written, row.status, cause);
  const isLeft = hasCredential.includes(row.status) && !hasCredential.includes(written.status);
  if (isLeft && command !== 'pay') await followUnusedCredential(tx, written.credentialId, cause, real);
  return written;
}

/** A write of the payment as a part of another statement, and the row after it. */
export type PartialWrite = { readonly write: object; readonly after: (version: number) => Row };

/** The challenge is read and allowed, in one write. The row is `requested` or `challenged`. */
export function allowanceOfPayment(
  row: Row,
  change: MppPaymentChange,
  causes: { readonly challenge: Cause; readonly allow: Cause },
): PartialWrite {
  const set = { ...change, status: 'allowed', updatedAt: causes.allow.at } as const;
  const write = quietWrite(row, {
    set,
    before: row.status === 'requested' ? [{ from: 'requested', to: 'challenged', cause: causes.challenge }] : [],
    transition: { from: 'challenged', to: 'allowed' },
    cause: causes.allow,
    changes: [],
  });
  return { write, after: (version) => ({ ...row, ...set, version }) };
}

/** What the statement that mints the credential writes of the payment, and the row after it. */
export function mintOfPayment(row: Row, cause: Cause): PartialWrite {
  const set = { status: 'minted', updatedAt: cause.at } as const;
  return {
    write: quietWrite(row, { set, transition: { from: 'allowed', to: 'minted' }, cause, changes: [] }),
    after: (version) => ({ ...row, ...set, version }),
  };
}

type Kept = { readonly set: Pick<MppPaymentRow, 'merchantStatus' | 'sealedReceipt'>; readonly body: KeptBody };

/** Undefined where there is none, or one was kept before. */
function keptAnswer(row: Row, { answer, real }: Pick<ChangeOptions, 'real' | 'answer'>): Kept | undefined {
  if (answer === undefined || row.merchantStatus != null) return undefined;
  const { merchantStatus, sealedReceipt, sealedBody } = answer;
  const keptUntil = new Date(real.getTime() + bodyLivesMs);
  return { set: { merchantStatus, sealedReceipt }, body: { sealedBody, keptUntil } };
}

/** Where no command follows from the answer. */
export async function keepMerchantAnswer(
  tx: Tx,
  row: Row,
  { at }: Cause,
  options: Pick<ChangeOptions, 'real' | 'answer'>,
): Promise<Row> {
  const kept = keptAnswer(row, options);
  if (kept === undefined) return row;
  const set = { ...kept.set, updatedAt: at };
  const version = await writeMppPayment(tx, row, { set, body: kept.body });
  return { ...row, ...set, version: version ?? row.version };
}

type MoveOptions = ChangeOptions & { readonly kept?: Kept | undefined; readonly releasesPaid?: true };

/** Undefined where the row does not take the command any more, or its cause has moved it before. */
async function moved(
  tx: Tx,
  row: Row,
  command: MppPaymentCommand,
  change: MppPaymentChange,
  cause: Cause,
  { real, event, wakes, note, kept, releasesPaid }: MoveOptions,
): Promise<Row | undefined> {
  const from = row.status;
  const move = moveMppPayment(from, command, false);
  if (move.outcome !== 'moved') return undefined;
  const isKept = answersChallenge.includes(move.next);
  const set = { ...change, status: move.next, updatedAt: cause.at, ...(isKept ? {} : { sealedChallenge: null }) };
  const after: Row = { ...row, ...set };
  const events = event === undefined ? eventsOf[command] : [event];
  const version = await writeMppPayment(tx, row, {
    set: { ...kept?.set, ...set },
    transition: { from, to: move.next },
    cause,
    changes: events.map((name) => changeOf(after, name, note)),
    ...(kept === undefined ? {} : { body: kept.body }),
    ...(leadsOn.includes(command) ? {} : { run: runWriteOf(after, { cause, real, wakes: wakes === true }) }),
    ...(releasesPaid === undefined ? {} : { releasesPaid }),
    ...(payResult(outcomeOf(after)).kind === 'unknown' ? {} : { isAnswered: true }),
  });
  return version === undefined ? undefined : { ...after, version };
}

/**
 * The same in one statement, for a row that was read without a lock. Undefined where the row has changed
 * since, or something else must be written too: then the caller locks the row and decides again.
 */
export async function changeMppPaymentAtOnce(
  tx: Tx,
  row: Row,
  command: Extract<MppPaymentCommand, 'present' | 'pay'>,
  change: MppPaymentChange,
  cause: Cause,
  options: Pick<ChangeOptions, 'real' | 'answer'>,
): Promise<Row | undefined> {
  const kept = keptAnswer(row, options);
  const releasesPaid = command === 'pay' ? ({ releasesPaid: true } as const) : {};
  return undefinedIfStale(
    moved(tx, { ...row, ...kept?.set }, command, change, cause, { ...options, kept, ...releasesPaid }),
  );
}

/** BP001: the row is another version. 40P01: another transaction waited for this one, and this one for it. */
export const undefinedIfStale = <T>(written: Promise<T>): Promise<T | undefined> =>
  written.catch((error: unknown) => {
    const code = (error as { code?: unknown } | null)?.code;
    if (code !== 'BP001' && code !== '40P01') throw error;
    return undefined;
  });

const isOpen = (status: MppPaymentStatus): boolean => openMppPaymentStatuses.includes(status);

/** The intent stands until its payment has ended. */
async function followIntent(tx: Tx, row: Row, from: MppPaymentStatus, cause: Cause): Promise<void> {
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
function runWriteOf(row: Row, { cause, real, wakes }: { cause: Cause; real: Date; wakes: boolean }): RunWrite {
  const id = mppPaymentWorkflowId(row.id);
  const progress = progressOf(row);
  if (isFinalMppPayment(progress)) return { kind: 'close', id, wakes };
  return { kind: 'due', id, dueAt: mppPaymentDueAt(progress, { business: cause.at, real }), wakes };
}

/**
 * Written before the credential leaves, so that no other step sends it; undefined where the row has changed since it was
 * read. The run is due as it was before, at most as much later as the credential was sent before its time was over.
 */
export async function markSent(
  tx: Tx,
  row: Row,
  { cause, real }: { cause: Cause; real: Date },
): Promise<Row | undefined> {
  const set = { sentAt: real, updatedAt: cause.at };
  const version = await undefinedIfStale(writeMppPayment(tx, row, { set }));
  return version === undefined ? undefined : { ...row, ...set, version };
}

export type MerchantAnswer = {
  readonly merchantStatus: number;
  readonly sealedReceipt: string | null;
  readonly sealedBody: string;
};

/** As it is sealed. `receipt`: null for one that could not be decoded. */
export type KeptReceipt = { readonly raw: string; readonly receipt: Receipt | null };

/** The contexts under which the vault seals what a merchant sent, and what its tool is called with. */
export const challengeContext = (id: string): string => `mpp-payment/${id}/challenge`;
export const receiptContext = (id: string): string => `mpp-payment/${id}/receipt`;
export const toolContext = (id: string): string => `mpp-payment/${id}/tool`;
export const bodyContext = (id: string): string => `mpp-payment/${id}/body`;

const changeOf = (row: Row, event: EventName, note?: string): Change => ({
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
