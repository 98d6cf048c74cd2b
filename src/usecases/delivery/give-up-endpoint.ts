/** Ends the waiting deliveries of a subscription as lost; what is under way is left to its result. @module */
import type { Database } from '../../db/database.ts';
import { endRetriesOf } from '../../domains/delivery/webhooks/delivery.end.service.ts';
import type { EndpointChange } from '../../domains/delivery/webhooks/endpoint.messages.ts';
import type { Id } from '../../kernel/ids.ts';
import { changedAtOnce } from './changed-at-once.ts';

/** Answers how many ended. `deliveryId` null: all of them. */
export const giveUpEndpoint =
  ({ database }: { readonly database: Database }) =>
  async (webhookId: Id<'webhook'>, deliveryId: Id<'delivery'> | null): Promise<EndpointChange> => {
    const endSome = (): Promise<number> =>
      database.write((tx) => endRetriesOf(tx, { webhookId, deliveryId }, changedAtOnce, 'given up by an operator'));
    let deliveries = 0;
    for (let ended = changedAtOnce; ended === changedAtOnce; deliveries += ended) ended = await endSome();
    return { deliveries };
  };
