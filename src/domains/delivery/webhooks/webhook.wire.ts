/** A subscription as its owner and subscribers see it: never its secret. Shapes only. @module */
import type { WebhookWire } from './webhook.contract.ts';
import type { WebhookRow } from './webhook.entity.ts';

export const webhookWire = (row: WebhookRow): WebhookWire => ({
  id: row.id,
  url: row.url,
  events: row.events,
  description: row.description ?? null,
  status: row.status,
  disabledReason: row.disabledReason ?? null,
  hint: row.hint,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
});
