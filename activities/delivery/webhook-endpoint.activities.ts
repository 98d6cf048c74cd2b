/**
 * Steps of a subscription's retries: read the waiting deliveries, attempt the due ones, and carry out an operator's
 * messages.
 * @module
 */
import type { Database } from '../../src/db/database.ts';
import type {
  BatchOutcome,
  EndpointChange,
  EndpointNext,
} from '../../src/domains/delivery/webhooks/endpoint.messages.ts';
import type { Id } from '../../src/kernel/ids.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { giveUpEndpoint } from '../../src/usecases/delivery/give-up-endpoint.ts';
import { readEndpoint } from '../../src/usecases/delivery/read-endpoint.ts';
import { retryEndpointNow } from '../../src/usecases/delivery/retry-endpoint-now.ts';
import { refusing } from '../lib/refusals.ts';

type Deps = {
  readonly database: Database;
  readonly clock: Clock;
  /** Claims and attempts what is due at one subscription, within the limits of this process. */
  readonly attemptDue: (id: Id<'webhook'>) => Promise<BatchOutcome>;
  /** Requests that may be open to one receiver. */
  readonly perReceiver: number;
};

export const webhookEndpointActivities = ({ database, clock, attemptDue, perReceiver }: Deps) => ({
  readWebhookEndpoint: refusing(
    (id: Id<'webhook'>): Promise<EndpointNext> => readEndpoint({ database, clock, perReceiver })(id),
  ),

  attemptDueDeliveries: refusing(attemptDue),

  retryDeliveriesNow: refusing(
    async (id: Id<'webhook'>, deliveryId: Id<'delivery'> | null): Promise<EndpointChange> =>
      retryEndpointNow({ database })(id, deliveryId, await clock.now()),
  ),

  giveUpDeliveries: refusing(
    async (id: Id<'webhook'>, deliveryId: Id<'delivery'> | null): Promise<EndpointChange> =>
      giveUpEndpoint({ database })(id, deliveryId),
  ),
});

export type WebhookEndpointActivities = ReturnType<typeof webhookEndpointActivities>;
