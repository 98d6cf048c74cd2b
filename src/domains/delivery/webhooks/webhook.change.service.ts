/**
 * Changes a subscription: address, events, pause and resume, and its secret. Each runs in the caller's transaction.
 * @module
 */
import { runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { recordChanges } from '../../../events/record.ts';
import { DomainError, notFound } from '../../../kernel/errors.ts';
import type { Cause } from '../../../platform/cause.ts';
import { hasMoved, recordTransition } from '../../../platform/transitions.ts';
import { wakeWorkflowRuns } from '../../../platform/workflow-runs.ts';
import type { Vault } from '../../../vault/vault.ts';
import { lockHealth } from './delivery.lease.service.ts';
import { secretContext } from './delivery.send.service.ts';
import { endpointWorkflowId } from './endpoint.messages.ts';
import type { WebhookRow } from './webhook.entity.ts';
import { hintOf, whyNotSet } from './webhook.rules.ts';
import { changeOf, lockWebhook, type ReceiverRules, readEvents, readUrl, type WebhookName } from './webhook.service.ts';
import { newWebhookSecret } from './webhook.signature.ts';

export type WebhookChange = {
  readonly url?: string | undefined;
  readonly events?: readonly string[] | undefined;
  readonly description?: string | null | undefined;
  readonly ordered?: boolean | undefined;
  readonly status?: 'active' | 'paused' | undefined;
};

/** The same cause changes a subscription once: a repeat does not undo what was changed since. */
export async function changeWebhook(
  tx: Tx,
  { id, ownerId }: WebhookName,
  change: WebhookChange,
  receivers: ReceiverRules,
  cause: Cause,
): Promise<WebhookRow> {
  const url = change.url === undefined ? undefined : readUrl(change.url, receivers);
  const events = change.events === undefined ? undefined : readEvents(change.events);
  await lockHealth(tx, [id]);
  const row = await lockOpenWebhook(tx, { id, ownerId });
  if (await hasMoved(tx, 'webhook_change', id, cause.causeId)) return row;
  const from = row.status;
  const whyNot = whyNotSet(from, change.status);
  if (whyNot !== undefined) throw new DomainError('invalid_state', `webhook ${id} cannot be paused: ${whyNot}`);
  const isOtherReceiver = url !== undefined && url !== row.url;
  const isResumed = from !== 'active' && change.status === 'active';
  if (url !== undefined) row.url = url;
  if (events !== undefined) row.events = events;
  if (change.description !== undefined) row.description = change.description;
  if (change.ordered !== undefined) row.ordered = change.ordered;
  if (change.status !== undefined) row.status = change.status;
  if (isResumed) row.disabledReason = null;
  row.updatedAt = cause.at;
  await tx.flush();
  if (isOtherReceiver || from === 'disabled') await forgetFailures(tx, id);
  if (isResumed || isOtherReceiver) {
    await wakeWorkflowRuns(tx, [endpointWorkflowId(id)]);
    await runSql(tx, 'select announce_deliveries()');
  }
  if (row.status !== from) await recordTransition(tx, 'webhook', id, { from, to: row.status }, cause);
  await recordTransition(tx, 'webhook_change', id, { from, to: row.status }, cause);
  await recordChanges(tx, cause, [
    { ...changeOf(row, 'webhook.updated'), details: { fields: Object.keys(change), from } },
  ]);
  return row;
}

/** A new receiver, or one that its owner has repaired, begins without failures: it is neither probed nor disabled for them. */
const forgetFailures = (tx: Tx, id: string): Promise<number> =>
  runSql(
    tx,
    `update webhook_health set failures_in_row = 0, timeouts_in_row = 0, unanswered_in_row = 0, failing_since = null,
       probe_after = null
     where webhook_id = $1`,
    [id],
  );

export type Rotation = {
  /** How long the previous secret signs too. */
  readonly overlapMs: number;
  /** Real time, as that of signatures. */
  readonly now: Date;
};
export type RotatedSecret = { readonly row: WebhookRow; readonly secret: string };

/** Of two rotations within an overlap, the secret before the first one signs no more. */
export async function rotateWebhookSecret(
  tx: Tx,
  vault: Vault,
  name: WebhookName,
  { overlapMs, now }: Rotation,
  cause: Cause,
): Promise<RotatedSecret> {
  const row = await lockOpenWebhook(tx, name);
  const { id, sealedSecret } = row;
  if (sealedSecret != null && (await hasMoved(tx, 'webhook_secret', id, cause.causeId))) {
    return { row, secret: await vault.open(sealedSecret, secretContext(id)) };
  }
  const secret = newWebhookSecret();
  const from = row.hint;
  row.previousSealedSecret = overlapMs > 0 ? (sealedSecret ?? null) : null;
  row.previousSecretUntil = row.previousSealedSecret === null ? null : new Date(now.getTime() + overlapMs);
  row.sealedSecret = await vault.seal(secret, secretContext(id));
  row.hint = hintOf(secret);
  row.updatedAt = cause.at;
  await tx.flush();
  await recordTransition(tx, 'webhook_secret', id, { from, to: row.hint }, cause);
  const details = { previousUntil: row.previousSecretUntil?.toISOString() ?? null };
  await recordChanges(tx, cause, [{ ...changeOf(row, 'webhook_secret.rotated'), details }]);
  return { row, secret };
}

async function lockOpenWebhook(tx: Tx, { id, ownerId }: WebhookName): Promise<WebhookRow> {
  const row = await lockWebhook(tx, { id, ownerId });
  if (row === null || row.deletedAt !== null) throw notFound('webhook', id);
  return row;
}
