/** A push subscription as its owner sees it. Shapes only. @module */
import type { PushSubscriptionWire } from './push-subscription.contract.ts';
import type { listPushSubscriptions } from './push-subscription.queries.ts';

type Listed = Awaited<ReturnType<typeof listPushSubscriptions>>['data'][number];

export const pushSubscriptionWire = (
  row: Omit<Listed, 'events'> & { readonly events: readonly string[] },
): PushSubscriptionWire => ({
  id: row.id,
  ownerId: row.ownerId,
  endpoint: row.endpoint,
  events: row.events as PushSubscriptionWire['events'],
  deviceName: row.deviceName ?? null,
  passkeyId: row.passkeyId ?? null,
  createdAt: row.createdAt.toISOString(),
  lastSuccessAt: row.lastSuccessAt?.toISOString() ?? null,
});
