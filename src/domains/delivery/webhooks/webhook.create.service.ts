/**
 * Creates a subscription with its signing secret, in the caller's transaction. A repeat of the same request finds the
 * subscription and its secret.
 * @module
 */
import type { Tx } from '../../../db/tx.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { Cause } from '../../../platform/cause.ts';
import type { Mode } from '../../../platform/mode.ts';
import type { Vault } from '../../../vault/vault.ts';
import { firstPlan } from '../../parties/customers/plan.rules.ts';
import { secretContext } from './delivery.send.service.ts';
import type { WebhookRow } from './webhook.entity.ts';
import { findWebhook } from './webhook.queries.ts';
import { insertWebhook, type ReceiverRules, readSubscription } from './webhook.service.ts';
import { newWebhookSecret } from './webhook.signature.ts';

export type WebhookWrites = { readonly vault: Vault; readonly mode: Mode; readonly receivers: ReceiverRules };

type Order = {
  readonly id: Id<'webhook'>;
  readonly ownerId: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly description?: string | undefined;
  readonly ordered: boolean;
};

export type CreatedWebhook = { readonly row: WebhookRow; readonly secret: string };

export async function createWebhook(
  tx: Tx,
  { vault, mode, receivers }: WebhookWrites,
  { id, ownerId, url, description, ordered, ...wanted }: Order,
  cause: Cause,
): Promise<CreatedWebhook> {
  const { events } = readSubscription({ url, ...wanted }, receivers);
  const known = await findWebhook(tx, id);
  if (known?.sealedSecret != null)
    return { row: known, secret: await vault.open(known.sealedSecret, secretContext(id)) };
  const secret = newWebhookSecret();
  const sealedSecret = await vault.seal(secret, secretContext(id));
  const fresh = { id, ownerId, url, events, description, ordered, secret, sealedSecret, assumedPlan: firstPlan(mode) };
  return { row: await insertWebhook(tx, fresh, cause), secret };
}
