/** Decides the next step of a subscription's retries; first ends the waiting deliveries of a closed subscription. @module */
import type { Database } from '../../db/database.ts';
import { endWaitingOf } from '../../domains/delivery/webhooks/delivery.end.service.ts';
import type { EndpointNext } from '../../domains/delivery/webhooks/endpoint.messages.ts';
import { decideNextStep, whyEndpointClosed } from '../../domains/delivery/webhooks/endpoint.service.ts';
import type { Id } from '../../kernel/ids.ts';
import type { Clock } from '../../platform/clock.ts';

type Deps = {
  readonly database: Database;
  readonly clock: Pick<Clock, 'now'>;
  /** Requests that may be open to one receiver. */
  readonly perReceiver: number;
};

export const readEndpoint =
  ({ database, clock, perReceiver }: Deps) =>
  async (webhookId: Id<'webhook'>): Promise<EndpointNext> => {
    const why = await whyEndpointClosed(database.read(), webhookId);
    // A separate transaction: results lock deliveries before the workflow run, so this must not lock them after it.
    if (why !== undefined) await database.write((tx) => endWaitingOf(tx, [webhookId], `the subscription was ${why}`));
    return database.write((tx) => decideNextStep(tx, webhookId, perReceiver, clock));
  };
