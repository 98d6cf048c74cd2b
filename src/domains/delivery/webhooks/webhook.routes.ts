/** Answers the webhooks operations: ask the service, shape the reply. No decision is made here. @module */
import type { Database } from '../../../db/database.ts';
import { categoryOf, eventNames, isReserved } from '../../../events/catalog.ts';
import { inTransaction } from '../../../http/in-transaction.ts';
import type { Handlers } from '../../../http/route.ts';
import { pageOfQuery } from '../../../http/schemas.ts';
import { hour } from '../../../kernel/instant.ts';
import { mapPage } from '../../../kernel/page.ts';
import { assertDeadLetters } from './dead-letter.service.ts';
import { listDeadLetters, listDeliveries } from './delivery.queries.ts';
import {
  dismissDeadLetter,
  type Retention,
  recoverMissed,
  redeliver,
  redeliverDeadLetters,
  sendTest,
} from './delivery.repeat.service.ts';
import { deliveryWire, wholeDeliveryWire } from './delivery.wire.ts';
import { catalogEvent } from './webhook.catalog.ts';
import { changeWebhook, rotateWebhookSecret } from './webhook.change.service.ts';
import type { webhooksArea } from './webhook.contract.ts';
import { createWebhook, type WebhookWrites } from './webhook.create.service.ts';
import { listWebhooks } from './webhook.queries.ts';
import { deleteWebhook } from './webhook.service.ts';
import { webhookWire } from './webhook.wire.ts';

export type WebhookDeps = WebhookWrites & Retention & { readonly database: Database };

export const webhookHandlers = (deps: WebhookDeps): Handlers<typeof webhooksArea> => ({
  createWebhook: async ({ body, own: { ownerId } }, call) => {
    const order = { ...body, id: call.newId('webhook'), ownerId };
    const { row, secret } = await inTransaction(deps, call, (tx, cause) => createWebhook(tx, deps, order, cause));
    return { ...webhookWire(row), secret };
  },

  listWebhooks: async ({ query, own }) =>
    mapPage(await listWebhooks(deps.database.read(), own.ownerId, pageOfQuery(query)), webhookWire),

  getWebhook: async ({ records }) => webhookWire(records.webhook),

  updateWebhook: async ({ params, body, own: { ownerId } }, call) => {
    const name = { id: params.id, ownerId };
    return webhookWire(
      await inTransaction(deps, call, (tx, cause) => changeWebhook(tx, name, body, deps.receivers, cause)),
    );
  },

  rotateWebhookSecret: async ({ params, body, own: { ownerId } }, call) => {
    const timing = { overlapMs: body.overlapHours * hour, now: new Date() };
    const name = { id: params.id, ownerId };
    const { row, secret } = await inTransaction(deps, call, (tx, cause) =>
      rotateWebhookSecret(tx, deps.vault, name, timing, cause),
    );
    return { id: row.id, secret, hint: row.hint, previousUntil: row.previousSecretUntil?.toISOString() ?? null };
  },

  testWebhook: async ({ params, body, own: { ownerId } }, call) => {
    const name = { id: params.id, ownerId };
    const ids = { delivery: call.newId('delivery'), event: call.newId('event') };
    await inTransaction(deps, call, (tx, cause) => sendTest(tx, name, { ids, event: body.event }, cause));
    return { deliveryId: ids.delivery };
  },

  recoverWebhookDeliveries: async ({ params, body: { since, until, after }, own: { ownerId } }, call) => {
    const name = { id: params.id, ownerId };
    return inTransaction(deps, call, (tx, cause) =>
      recoverMissed(tx, name, { since, until: until ?? cause.at, after }, deps, cause),
    );
  },

  redeliverWebhookDelivery: async ({ params, records: { delivery } }, call) => {
    const id = call.newId('delivery');
    const former = { id: params.deliveryId, row: delivery };
    return deliveryWire(await inTransaction(deps, call, (tx, cause) => redeliver(tx, former, id, cause)));
  },

  listDeadLetters: async ({ query, own: { ownerId } }) => {
    const tx = deps.database.read();
    await assertDeadLetters(tx, deps.mode, ownerId);
    const filter = { ownerId, webhookId: query.webhookId };
    return mapPage(await listDeadLetters(tx, filter, pageOfQuery(query)), deliveryWire);
  },

  redeliverDeadLetters: async ({ body, own: { ownerId } }, call) => {
    await assertDeadLetters(deps.database.read(), deps.mode, ownerId);
    return inTransaction(deps, call, (tx, cause) => redeliverDeadLetters(tx, ownerId, body, cause));
  },

  deleteDeadLetter: async ({ params, own: { ownerId } }, call) => {
    const letter = { id: params.deliveryId, ownerId };
    await inTransaction(deps, call, (tx, cause) => dismissDeadLetter(tx, letter, cause));
    return undefined;
  },

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

  getCatalogEvent: async ({ params }) => catalogEvent(params.name),
});
