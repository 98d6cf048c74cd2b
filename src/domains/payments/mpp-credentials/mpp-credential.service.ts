/**
 * Writes of MPP credentials: reserve, mint, refuse, revoke and expire. Each locks the row, decides by the rules, saves, and
 * records transition and event in the caller's transaction. `consumed` and `declined` are written with the network's
 * authorization instead.
 * @module
 */
import * as z from 'zod';
import { columnsOfRow } from '../../../db/column-names.ts';
import { oneRowOf, runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { type Change, draftRecords, publishChanges, recordChanges } from '../../../events/record.ts';
import { later } from '../../../kernel/instant.ts';
import { type Cents, cents } from '../../../kernel/money.ts';
import { assertBelowLimit } from '../../../platform/assert-limit.ts';
import type { Cause } from '../../../platform/cause.ts';
import { recordTransition } from '../../../platform/transitions.ts';
import { closeWorkflowRun, openWorkflowRun, setWorkflowRunDue } from '../../../platform/workflow-runs.ts';
import type { IntentRow } from '../../spending/intents/index.ts';
import type { Challenge } from '../mpp/challenge.wire.ts';
import type { EncryptionJwk } from '../mpp/encryption-key.rules.ts';
import type { Payee } from './challenge-evaluation.rules.ts';
import type { MppCredentialRow } from './mpp-credential.entity.ts';
import { mppCredentialWorkflow, mppCredentialWorkflowId } from './mpp-credential.messages.ts';
import { lockLiveCredentialsOf } from './mpp-credential.queries.ts';
import {
  type CredentialCommand,
  credentialExpiry,
  isFinalCredential,
  isPastExpiry,
  moveCredential,
} from './mpp-credential.rules.ts';
import { completionOf, consumptionOf, mppCredentialData } from './mpp-credential.wire.ts';

export type NewCredential = {
  readonly id: MppCredentialRow['id'];
  readonly intent: IntentRow;
  readonly paymentId: string | null;
  readonly challenge: Challenge;
  readonly origin: string | null;
  readonly payee: Payee;
  readonly amountCents: Cents;
  readonly ceilingCents: number;
};

export type ReservedCredential = {
  readonly row: MppCredentialRow;
  /** Of the payment that was written with it; null where its cause has moved it before, undefined without one. */
  readonly paymentVersion?: number | null;
};

const writtenWithPayment = z.object({ paymentVersion: z.int().nullable() });

/**
 * Nothing is minted yet. The intent is locked, and has no other live credential. `now` is real time; `payment`: what the
 * same statement writes of the payment that mints.
 */
export async function reserveMppCredential(
  tx: Tx,
  { id, intent, paymentId, challenge, payee, ceilingCents, ...given }: NewCredential,
  cause: Cause,
  { now, payment }: { readonly now: Date; readonly payment: object | undefined },
): Promise<ReservedCredential> {
  const counted = { ownerId: intent.ownerId, subject: intent.id, at: cause.at };
  await assertBelowLimit(tx, 'mpp_credentials', counted, { isLocked: true }); // By the intent's row.
  const row: MppCredentialRow = {
    id,
    ownerId: intent.ownerId,
    agentId: intent.agentId,
    intentId: intent.id,
    cardId: intent.cardId,
    merchantId: null,
    paymentId,
    challengeId: challenge.id,
    // The workflow of a payment has the challenge.
    challenge: paymentId === null ? challenge : null,
    host: payee.host,
    recipient: payee.recipient,
    encryptionJwk: null,
    currency: 'EUR',
    ceilingCents: cents(ceilingCents),
    ...given,
    tokenHash: null,
    sealedCredential: null,
    status: 'requested',
    expiresAt: credentialExpiry(challenge.expires, now),
    version: 1,
    mintedAt: null,
    authorizedAt: null,
    verifiedAt: null,
    transactionId: null,
    outcomeCode: null,
    outcomeReason: null,
    requestId: cause.requestId,
    runId: cause.runId ?? null,
    actor: cause.actor,
    createdAt: cause.at,
    updatedAt: cause.at,
  };
  const values = [JSON.stringify(columnsOfRow(row)), cause.causeId, cause.at];
  if (payment !== undefined) {
    const statement = `with ${making}, noted as (${noting}) select write_mpp_payment($4::jsonb) as "paymentVersion"`;
    const written = await oneRowOf(tx, writtenWithPayment, statement, [...values, JSON.stringify(payment)]);
    return { row, paymentVersion: written.paymentVersion };
  }
  await runSql(tx, `with ${making} ${noting}`, values);
  if (paymentId !== null) return { row };
  await openWorkflowRun(tx, {
    id: mppCredentialWorkflowId(id),
    workflow: mppCredentialWorkflow,
    subjectId: id,
    ownerId: row.ownerId,
    agentId: row.agentId,
    stage: 'requested',
    amountCents: row.amountCents,
    dueAt: cause.at,
    at: cause.at,
  });
  return { row };
}

const making =
  'made as (insert into mpp_credentials select * from jsonb_populate_record(null::mpp_credentials, $1) returning id)';
const noting = `insert into transitions select 'mpp_credential', id, $2, null, 'requested', $3::timestamptz from made`;

/**
 * While a payment is under way, its run follows the credential too. One that the payment leaves unused gets a separate
 * run, which marks its expiry. `now` is real time.
 */
export async function followUnusedCredential(tx: Tx, id: string, { at }: Cause, now: Date): Promise<void> {
  await runSql(
    tx,
    `insert into workflow_runs (id, workflow, subject_id, owner_id, agent_id, stage, due_at, created_at, amount_cents)
     select $2, $3, id, owner_id, agent_id, status, $4::timestamptz + (expires_at - $5::timestamptz), $4, amount_cents
     from mpp_credentials where id = $1 and status in ('requested', 'minted')
     on conflict (id) do nothing`,
    [id, mppCredentialWorkflowId(id), mppCredentialWorkflow, at, now],
  );
}

/** By the run itself, which reads that nothing is left to do. */
export const closeCredentialRun = (tx: Tx, id: string): Promise<void> =>
  closeWorkflowRun(tx, mppCredentialWorkflowId(id), { isOwnStep: true });

/** Its expiry in business time, which runs as fast as real time. */
const inBusinessTime = ({ expiresAt }: Pick<MppCredentialRow, 'expiresAt'>, { at }: Cause, now: Date): Date =>
  later(at, expiresAt.getTime() - now.getTime());

export type MintedToken = {
  readonly tokenHash: string;
  readonly encryptionJwk: EncryptionJwk;
  /** The registered merchant of that key. */
  readonly merchantId: string | null;
  /** Null where the credential goes from the worker to the merchant. */
  readonly sealedCredential: string | null;
};

const versions = z.object({ credentialVersion: z.int(), paymentVersion: z.int() });

export type MintedAtOnce = {
  /** As the reservation was decided on it. */
  readonly intentVersion: number;
  /** What the same statement writes of the payment. */
  readonly payment: object;
};

/** With its payment, in one statement. Fails with BP001 where something has changed since the reservation. */
export async function mintAtOnce(
  tx: Tx,
  row: Readonly<MppCredentialRow>,
  token: MintedToken,
  cause: Cause,
  { intentVersion, payment }: MintedAtOnce,
): Promise<{ readonly row: MppCredentialRow; readonly paymentVersion: number }> {
  const set = { ...token, status: 'minted', challenge: null, mintedAt: cause.at, updatedAt: cause.at } as const;
  const after = { ...row, ...set };
  const records = draftRecords(cause, [mintedChange(after)]);
  const { agentId, cardId, intentId, id, version } = row;
  const payload = {
    ...{ id, version, agentId, cardId, intentId, intentVersion, payment, cause: cause.causeId },
    ...{ set: columnsOfRow(set), ...records },
  };
  const written = await oneRowOf(
    tx,
    versions,
    `select credential_version as "credentialVersion", payment_version as "paymentVersion"
     from mint_mpp_credential($1::jsonb)`,
    [JSON.stringify(payload)],
  );
  publishChanges(cause, records);
  return { row: { ...after, version: written.credentialVersion }, paymentVersion: written.paymentVersion };
}

/** The row is locked. Another cause than the first finds the credential minted, and changes nothing. */
export async function markMinted(
  tx: Tx,
  row: MppCredentialRow,
  minted: MintedToken,
  cause: Cause,
): Promise<MppCredentialRow> {
  if (row.status !== 'requested') return row;
  if (row.paymentId == null)
    await setWorkflowRunDue(tx, mppCredentialWorkflowId(row.id), inBusinessTime(row, cause, new Date()));
  const changed = await change(tx, row, 'mint', { ...minted, challenge: null, mintedAt: cause.at }, cause);
  await recordChanges(tx, cause, [mintedChange(changed)]);
  return changed;
}

const mintedChange = (row: Readonly<MppCredentialRow>): Change => ({
  event: 'mpp.credential.minted',
  ownerId: row.ownerId,
  agentId: row.agentId,
  subjectId: row.id,
  data: mppCredentialData(row),
  details: { intentId: row.intentId, paymentId: row.paymentId ?? null },
});

/** How the merchant's verification finds a credential. `used` by the network's authorization, which came before it. */
export type Verified = { readonly transactionId: string; readonly wasUsed: boolean; readonly isCompleted: boolean };

/** The row is locked, and was not verified before. The machine payment is completed, unless its clearing has come. */
export async function markVerified(
  tx: Tx,
  row: MppCredentialRow,
  { transactionId, wasUsed, isCompleted }: Verified,
  cause: Cause,
): Promise<MppCredentialRow> {
  if (wasUsed) {
    Object.assign(row, { verifiedAt: cause.at, updatedAt: cause.at });
    await tx.flush();
    await recordTransition(tx, 'mpp_credential', row.id, { from: row.status, to: row.status }, cause);
  } else {
    await change(tx, row, 'consume', { transactionId, verifiedAt: cause.at }, cause);
  }
  await recordChanges(tx, cause, [
    ...(wasUsed ? [] : [consumptionOf(row, transactionId)]),
    ...(isCompleted ? [] : [completionOf(row)]),
  ]);
  return row;
}

/**
 * Its payment was settled by a receipt or by an operator, with this transaction. The row is locked. One that is not
 * alive any more stays as it is: the network then finds the transaction by the payment.
 */
export async function markPaid(tx: Tx, row: MppCredentialRow, transactionId: string, cause: Cause): Promise<void> {
  if (row.status !== 'minted') return;
  await change(tx, row, 'consume', { transactionId }, cause);
  await recordChanges(tx, cause, [consumptionOf(row, transactionId)]);
}

/** Nothing was minted, and nothing will be. */
export const refuseMppCredential = (
  tx: Tx,
  row: MppCredentialRow,
  { code, reason }: { readonly code: string; readonly reason: string },
  cause: Cause,
): Promise<MppCredentialRow> =>
  change(tx, row, 'refuse', { outcomeCode: code, outcomeReason: reason, challenge: null }, cause);

/**
 * The intents were cancelled, and their rows are locked: nothing that is out for them pays any more. A credential that
 * was used stays as it is; its charge would have kept the intent from being cancelled.
 */
export async function revokeCredentialsOf(tx: Tx, intentIds: readonly string[], cause: Cause): Promise<void> {
  for (const row of await lockLiveCredentialsOf(tx, intentIds)) {
    const why = { outcomeCode: 'revoked', outcomeReason: `intent ${row.intentId} was cancelled`, challenge: null };
    const changed = await change(tx, row, 'revoke', why, cause);
    await recordChanges(tx, cause, [
      {
        event: 'mpp.credential.revoked',
        ...{ ownerId: row.ownerId, agentId: row.agentId, subjectId: row.id },
        data: mppCredentialData(changed),
        details: { intentId: row.intentId, paymentId: row.paymentId ?? null },
      },
    ]);
  }
}

/** Where its time is over; before that, and after its end, it changes nothing. `now` is real time. */
export async function expireMppCredential(
  tx: Tx,
  row: MppCredentialRow,
  cause: Cause,
  now: Date,
): Promise<MppCredentialRow> {
  if (!isPastExpiry(row, now)) return row;
  return change(tx, row, 'expire', { outcomeCode: 'expired', challenge: null }, cause);
}

type Changeable = Partial<
  Pick<
    MppCredentialRow,
    | 'tokenHash'
    | 'merchantId'
    | 'encryptionJwk'
    | 'sealedCredential'
    | 'mintedAt'
    | 'verifiedAt'
    | 'transactionId'
    | 'challenge'
    | 'outcomeCode'
    | 'outcomeReason'
  >
>;

/** A command that the row does not take any more changes nothing: the row says how it went. */
async function change(
  tx: Tx,
  row: MppCredentialRow,
  command: CredentialCommand,
  changes: Changeable,
  cause: Cause,
): Promise<MppCredentialRow> {
  const from = row.status;
  const move = moveCredential(from, command, false);
  if (move.outcome !== 'moved') return row;
  const isFinal = isFinalCredential(move.next);
  Object.assign(row, changes, isFinal ? { sealedCredential: null } : {}, { status: move.next, updatedAt: cause.at });
  await tx.flush();
  await recordTransition(tx, 'mpp_credential', row.id, { from, to: move.next }, cause);
  if (isFinal) await closeWorkflowRun(tx, mppCredentialWorkflowId(row.id));
  return row;
}
