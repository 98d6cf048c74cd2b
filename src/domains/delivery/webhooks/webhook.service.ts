/**
 * Subscription writes: create within the owner's limit, delete with all pending deliveries, disable a receiver that
 * answers 410. Each runs in the caller's transaction.
 * @module
 */
import { LockMode } from '@mikro-orm/core';
import { runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { isEventName } from '../../../events/catalog.ts';
import { recordChanges } from '../../../events/record.ts';
import type { ReachedId } from '../../../http/reaches.ts';
import { DomainError, notFound } from '../../../kernel/errors.ts';
import type { Id } from '../../../kernel/ids.ts';
import { checkUrl, type UrlRules } from '../../../outbound/address-rules.ts';
import { assertBelowLimit } from '../../../platform/assert-limit.ts';
import type { Cause } from '../../../platform/cause.ts';
import { recordTransition } from '../../../platform/transitions.ts';
import { disabledInWords } from '../push-subscriptions/push.rules.ts';
import { announceDisabledWebhook } from '../push-subscriptions/push-message.service.ts';
import { hostOf } from '../webhook-pages/webhook-page.rules.ts';
import { endPendingOf } from './delivery.end.service.ts';
import { lockHealth } from './delivery.lease.service.ts';
import { WebhookRow } from './webhook.entity.ts';
import { hintOf, wantedEvents, whyNotHttps } from './webhook.rules.ts';
import { webhookEventData } from './webhook.wire.ts';

export type NewWebhook = {
  readonly id: Id<'webhook'>;
  readonly ownerId: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly description: string | undefined;
  readonly ordered: boolean;
  readonly secret: string;
  readonly sealedSecret: string;
  readonly assumedPlan: string;
};

/** `httpsOnly`: BURSAR_WEBHOOKS_HTTPS_ONLY, also for allowed origins. */
export type ReceiverRules = Pick<UrlRules, 'allowedOrigins' | 'namesAllowedOrigins'> & { readonly httpsOnly: boolean };

/** What a caller may name as a receiver, checked before anything is written. */
export const readSubscription = (
  { url, events }: { url: string; events: readonly string[] },
  rules: ReceiverRules,
): { url: string; events: string[] } => ({ url: readUrl(url, rules), events: readEvents(events) });

export function readUrl(url: string, { httpsOnly, ...rules }: ReceiverRules): string {
  const evaluated = checkUrl(url, rules);
  const whyNot = 'refused' in evaluated ? evaluated.refused : whyNotHttps(url, httpsOnly);
  if (whyNot !== undefined) throw new DomainError('invalid_request', `body.url: ${whyNot}`);
  return url;
}

export function readEvents(events: readonly string[]): string[] {
  const wanted = wantedEvents(events, isEventName);
  if ('refused' in wanted) throw new DomainError('invalid_request', `body.events: ${wanted.refused}`);
  return wanted.events;
}

/** Inserts the subscription; its first event is its own. */
export async function insertWebhook(tx: Tx, fresh: NewWebhook, cause: Cause): Promise<WebhookRow> {
  const { secret, description, ...given } = fresh;
  await assertBelowLimit(tx, 'webhooks', { ownerId: fresh.ownerId, subject: fresh.ownerId, at: cause.at });
  const row = tx.create(WebhookRow, {
    ...given,
    events: [...fresh.events],
    description: description ?? null,
    status: 'active',
    disabledReason: null,
    previousSealedSecret: null,
    previousSecretUntil: null,
    hint: hintOf(secret),
    createdAt: cause.at,
    updatedAt: cause.at,
    deletedAt: null,
  });
  await tx.flush();
  await runSql(tx, 'insert into webhook_health (webhook_id) values ($1)', [row.id]);
  await recordTransition(tx, 'webhook', row.id, { from: null, to: row.status }, cause);
  await recordChanges(tx, cause, [changeOf(row, 'webhook.created')]);
  return row;
}

export type WebhookName = { readonly id: ReachedId<'webhook'>; readonly ownerId: string };

/**
 * A revoking command: what is pending is dropped, what is under way may still arrive, the dead letters leave the queue, and
 * the secrets are wiped.
 */
export async function deleteWebhook(tx: Tx, { id, ownerId }: WebhookName, cause: Cause): Promise<void> {
  await lockHealth(tx, [id]);
  const row = await lockWebhook(tx, { id, ownerId });
  if (row === null || row.deletedAt !== null) throw notFound('webhook', id);
  row.deletedAt = cause.at;
  row.updatedAt = cause.at;
  row.sealedSecret = null;
  row.previousSealedSecret = null;
  row.previousSecretUntil = null;
  await tx.flush();
  await endPendingOf(tx, [id], 'the subscription was deleted');
  await runSql(
    tx,
    `update webhook_deliveries set dismissed_at = $2 where webhook_id = $1 and status = 'dead' and dismissed_at is null`,
    [id, cause.at],
  );
  await recordTransition(tx, 'webhook', id, { from: row.status, to: 'deleted' }, cause);
  await recordChanges(tx, cause, [changeOf(row, 'webhook.deleted')]);
}

/**
 * Nothing more is sent to it until its owner, whose devices are told, makes it active again. False when it was not active
 * any more.
 */
export async function disableWebhook(tx: Tx, id: Id<'webhook'>, why: string, cause: Cause): Promise<boolean> {
  const row = await lockWebhook(tx, { id });
  if (row === null || row.deletedAt !== null || row.status === 'disabled') return false;
  const from = row.status;
  row.status = 'disabled';
  row.disabledReason = why;
  row.updatedAt = cause.at;
  await tx.flush();
  await endPendingOf(tx, [id], `the subscription was disabled: ${why}`);
  await recordTransition(tx, 'webhook', id, { from, to: row.status }, cause);
  await recordChanges(tx, cause, [{ ...changeOf(row, 'webhook.updated'), details: { from, why } }]);
  await announceDisabledWebhook(tx, { id, ownerId: row.ownerId, detail: disabledInWords(hostOf(row.url), why) });
  return true;
}

type Wanted = { readonly id: Id<'webhook'>; readonly ownerId?: string };

export const lockWebhook = (tx: Tx, wanted: Wanted): Promise<WebhookRow | null> =>
  tx.findOne(WebhookRow, wanted, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });

type WebhookEvent = 'webhook.created' | 'webhook.updated' | 'webhook.deleted' | 'webhook_secret.rotated';

export const changeOf = (row: WebhookRow, event: WebhookEvent) => ({
  event,
  ownerId: row.ownerId,
  subjectId: row.id,
  data: webhookEventData(row),
});
