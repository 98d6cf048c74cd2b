/** Makes the waiting deliveries of a subscription due now, and answers how many are due then. @module */
import type { Database } from '../../db/database.ts';
import type { EndpointChange } from '../../domains/delivery/webhooks/endpoint.messages.ts';
import { countDue, makeDue } from '../../domains/delivery/webhooks/endpoint.service.ts';
import type { Id } from '../../kernel/ids.ts';
import { changedAtOnce } from './changed-at-once.ts';

/** `deliveryId` null: all of them. */
export const retryEndpointNow =
  ({ database }: { readonly database: Database }) =>
  async (webhookId: Id<'webhook'>, deliveryId: Id<'delivery'> | null, now: Date): Promise<EndpointChange> => {
    const which = { webhookId, deliveryId };
    while ((await database.write((tx) => makeDue(tx, which, now, changedAtOnce))) === changedAtOnce);
    return countDue(database.read(), which, now);
  };
