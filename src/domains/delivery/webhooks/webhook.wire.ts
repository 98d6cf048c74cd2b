/** The shape of a subscription for its owner and for its events, without its secret. Shapes only. @module */
import type { EventData } from '../../../events/catalog.ts';
import type { WebhookWire } from './webhook.contract.ts';
import type { WebhookRow } from './webhook.entity.ts';

export const webhookWire = (row: WebhookRow): WebhookWire => ({
  id: row.id,
  url: row.url,
  events: row.events,
  description: row.description ?? null,
  ordered: row.ordered,
  status: row.status,
  disabledReason: row.disabledReason ?? null,
  hint: row.hint,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
});

/** Without the URL, which may hold a capability, and without texts. */
export const webhookEventData = (row: WebhookRow): EventData<'webhook.created'> => ({
  id: row.id,
  ownerId: row.ownerId,
  status: row.status,
  events: row.events,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
});
