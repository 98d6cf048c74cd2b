/**
 * Records that a person asked to attempt the retries of a subscription now, or to give them up. In the caller's
 * transaction and under the subscription's lock, before the workflow run is asked: the run may carry it out although
 * nobody hears its answer.
 * @module
 */
import type { Tx } from '../../../db/tx.ts';
import { recordChanges } from '../../../events/record.ts';
import { DomainError } from '../../../kernel/errors.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { Cause } from '../../../platform/cause.ts';
import { countRetries, type LinkedWebhook } from './webhook-page.queries.ts';

/** `deliveries`: how many waited for another attempt. */
export type AskedRetries = { readonly webhookId: Id<'webhook'>; readonly deliveries: number };

export async function requestRetry(tx: Tx, webhook: LinkedWebhook, cause: Cause): Promise<AskedRetries> {
  if (webhook.status !== 'active') {
    throw new DomainError('invalid_state', `the subscription is ${webhook.status}, and nothing is sent`);
  }
  return request(tx, webhook, 'webhook_delivery.retry_requested', cause);
}

export const requestAbandon = (tx: Tx, webhook: LinkedWebhook, cause: Cause): Promise<AskedRetries> =>
  request(tx, webhook, 'webhook_delivery.abandon_requested', cause);

type Requested = 'webhook_delivery.retry_requested' | 'webhook_delivery.abandon_requested';

async function request(tx: Tx, { id, ownerId }: LinkedWebhook, event: Requested, cause: Cause): Promise<AskedRetries> {
  const deliveries = await countRetries(tx, id);
  if (deliveries === 0) throw new DomainError('invalid_state', 'no delivery waits for another attempt');
  await recordChanges(tx, cause, [{ event, ownerId, subjectId: id, data: { id, ownerId, deliveries } }]);
  return { webhookId: id, deliveries };
}
