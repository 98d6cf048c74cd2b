/** Answers the webhooks operations: ask the service, shape the reply. No decision is made here. @module */
import type { Database } from '../../../db/database.ts';
import { categoryOf, eventNames, isReserved } from '../../../events/catalog.ts';
import { inTransaction } from '../../../http/in-transaction.ts';
import type { Handlers } from '../../../http/route.ts';
import { pageOfQuery } from '../../../http/schemas.ts';
import { mapPage } from '../../../kernel/page.ts';
import { listDeliveries } from './delivery.queries.ts';
import { deliveryWire, wholeDeliveryWire } from './delivery.wire.ts';
import type { webhooksArea } from './webhook.contract.ts';
import { createWebhook, type WebhookWrites } from './webhook.create.service.ts';
import { listWebhooks } from './webhook.queries.ts';
import { deleteWebhook } from './webhook.service.ts';
import { webhookWire } from './webhook.wire.ts';

export type WebhookDeps = WebhookWrites & { readonly database: Database };

export const webhookHandlers = (deps: WebhookDeps): Handlers<typeof webhooksArea> => ({
  createWebhook: async ({ body, own: { ownerId } }, call) => {
    const order = { ...body, id: call.newId('webhook'), ownerId };
    const { row, secret } = await inTransaction(deps, call, (tx, cause) => createWebhook(tx, deps, order, cause));
    return { ...webhookWire(row), secret };
  },

  listWebhooks: async ({ query, own }) =>
    mapPage(await listWebhooks(deps.database.read(), own.ownerId, pageOfQuery(query)), webhookWire),

  getWebhook: async ({ records }) => webhookWire(records.webhook),

  deleteWebhook: async ({ params, own: { ownerId } }, call) => {
    const name = { id: params.id, ownerId };
    await inTransaction(deps, call, (tx, cause) => deleteWebhook(tx, name, cause));
    return undefined;
  },

  listWebhookDeliveries: async ({ params, query }) => {
    const { status, event, from, to } = query;
    const filter = { webhookId: params.id, status, event, from, to };
    return mapPage(await listDeliveries(deps.database.read(), filter, pageOfQuery(query)), deliveryWire);
  },

  getWebhookDelivery: async ({ records }) => wholeDeliveryWire(records.delivery),

  listEventCatalog: async () => ({
    data: eventNames.map((name) => ({ name, category: categoryOf(name), reserved: isReserved(name) })),
  }),
});
