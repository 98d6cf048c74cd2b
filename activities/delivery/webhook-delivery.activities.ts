/** Steps of a delivery's retry: look at the row, and make one attempt through the same claim as the relay. @module */
import type { Database } from '../../src/db/database.ts';
import {
  type ClaimLimits,
  claimRetry,
  type DeliveryNext,
  nextDeliveryStep,
  recordResults,
  type SendDelivery,
} from '../../src/domains/delivery/index.ts';
import type { Id } from '../../src/kernel/ids.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { refusing } from '../lib/refusals.ts';

type Deps = {
  readonly database: Database;
  readonly clock: Clock;
  readonly send: SendDelivery;
  readonly claimLimits: ClaimLimits;
};

export const webhookDeliveryActivities = ({ database, clock, send, claimLimits }: Deps) => ({
  nextWebhookDeliveryStep: refusing(
    async (id: Id<'delivery'>): Promise<DeliveryNext> => nextDeliveryStep(database, id, await clock.now()),
  ),

  /** False when there was nothing to claim: somebody else has it, or the receiver has no free place. */
  attemptWebhookDelivery: refusing(async (id: Id<'delivery'>): Promise<boolean> => {
    const now = await clock.now();
    const claimed = await database.write((tx) => claimRetry(tx, id, now, claimLimits));
    if (claimed === undefined) return false;
    const result = await send(claimed);
    const after = await clock.now();
    await database.write((tx) => recordResults(tx, [result], after));
    return true;
  }),
});

export type WebhookDeliveryActivities = ReturnType<typeof webhookDeliveryActivities>;
