/**
 * Makes and revokes the link of a subscription's page, in the caller's transaction and under the subscription's lock. A
 * subscription has one link: another one takes its place, so that making one is also how an owner takes one away.
 * @module
 */
import { randomBytes } from 'node:crypto';
import { runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { recordChanges } from '../../../events/record.ts';
import { DomainError, notFound } from '../../../kernel/errors.ts';
import { hour, later } from '../../../kernel/instant.ts';
import type { Cause } from '../../../platform/cause.ts';
import { hasMoved, recordTransition } from '../../../platform/transitions.ts';
import { hashSecret } from '../../../vault/secret-hash.ts';
import type { WebhookRow } from '../webhooks/webhook.entity.ts';
import { lockWebhook, type WebhookName } from '../webhooks/webhook.service.ts';
import './webhook-page.entity.ts';

export type CreatedLink = { readonly token: string; readonly expiresAt: Date };

/**
 * A repeat of the same request makes another token, because the first one was not kept, and no second event. It is
 * refused once the link was revoked or replaced: nobody would learn that there is a link again.
 */
export async function createPageLink(
  tx: Tx,
  name: WebhookName,
  { expiresInHours }: { readonly expiresInHours: number },
  cause: Cause,
): Promise<CreatedLink> {
  const { id, ownerId } = await lockOpen(tx, name);
  const token = randomBytes(16).toString('hex');
  const expiresAt = later(new Date(), expiresInHours * hour);
  if (await hasMoved(tx, 'webhook_page_link', id, cause.causeId)) {
    const changed = await runSql(
      tx,
      'update webhook_page_links set token_hash = $3, expires_at = $4 where webhook_id = $1 and cause_id = $2',
      [id, cause.causeId, hashSecret(token), expiresAt],
    );
    if (changed === 0) throw new DomainError('invalid_state', 'the link of this request was revoked or replaced');
    return { token, expiresAt };
  }
  await runSql(
    tx,
    `insert into webhook_page_links (webhook_id, owner_id, token_hash, cause_id, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (webhook_id) do update set token_hash = excluded.token_hash, cause_id = excluded.cause_id,
       created_at = excluded.created_at, expires_at = excluded.expires_at`,
    [id, ownerId, hashSecret(token), cause.causeId, cause.at, expiresAt],
  );
  await recordTransition(tx, 'webhook_page_link', id, { from: null, to: 'created' }, cause);
  await recordChanges(tx, cause, [changeOf({ id, ownerId }, 'webhook_page_link.created', expiresAt)]);
  return { token, expiresAt };
}

/** Without a link it changes nothing. */
export async function revokePageLink(tx: Tx, name: WebhookName, cause: Cause): Promise<void> {
  const { id, ownerId } = await lockOpen(tx, name);
  const revoked = await runSql(tx, 'delete from webhook_page_links where webhook_id = $1', [id]);
  if (revoked > 0) {
    await recordChanges(tx, cause, [changeOf({ id, ownerId }, 'webhook_page_link.revoked', new Date())]);
  }
}

async function lockOpen(tx: Tx, { id, ownerId }: WebhookName): Promise<WebhookRow> {
  const row = await lockWebhook(tx, { id, ownerId });
  if (row === null || row.deletedAt !== null) throw notFound('webhook', id);
  return row;
}

type LinkEvent = 'webhook_page_link.created' | 'webhook_page_link.revoked';

/** `expiresAt`: in real time; of a revoked link the instant of its end. Never the link. */
const changeOf = ({ id, ownerId }: Pick<WebhookRow, 'id' | 'ownerId'>, event: LinkEvent, expiresAt: Date) => ({
  event,
  ownerId,
  subjectId: id,
  data: { id, ownerId, expiresAt: expiresAt.toISOString() },
});
