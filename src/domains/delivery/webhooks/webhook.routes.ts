/** Answers the webhooks operations: ask the service, shape the reply. No decision is made here. @module */
import type { Database } from '../../../db/database.ts';
import { categoryOf, eventNames, isReserved } from '../../../events/catalog.ts';
import { inTransaction } from '../../../http/in-transaction.ts';
import type { Handlers } from '../../../http/route.ts';
import { pageOfQuery } from '../../../http/schemas.ts';
import type { Id } from '../../../kernel/ids.ts';
import { mapPage } from '../../../kernel/page.ts';
import type { Mode } from '../../../platform/mode.ts';
import type { Vault } from '../../../vault/vault.ts';
import { listDeliveries } from './delivery.queries.ts';
import { secretContext } from './delivery.send.service.ts';
import { deliveryWire, wholeDeliveryWire } from './delivery.wire.ts';
import type { webhooksArea } from './webhook.contract.ts';
import { findWebhook, listWebhooks } from './webhook.queries.ts';
import { deleteWebhook, insertWebhook, type ReceiverRules, readSubscription } from './webhook.service.ts';
import { newWebhookSecret } from './webhook.signature.ts';
import { webhookWire } from './webhook.wire.ts';

export type WebhookDeps = {
  readonly database: Database;
  readonly vault: Vault;
  readonly mode: Mode;
  readonly receivers: ReceiverRules;
};

export const webhookHandlers = (deps: WebhookDeps): Handlers<typeof webhooksArea> => ({
  createWebhook: async ({ body, own: { ownerId } }, call) => {
    const { events } = readSubscription(body, deps.receivers);
    const id = call.newId('webhook');
    const made = await madeBefore(deps, id);
    if (made !== undefined) return made;
    const secret = newWebhookSecret();
    const fresh = {
      id,
      ownerId,
      url: body.url,
      events,
      description: body.description,
      secret,
      sealedSecret: await deps.vault.seal(secret, secretContext(id)),
      assumedPlan: deps.mode === 'sandbox' ? 'enterprise' : 'free',
    };
    const row = await inTransaction(deps, call, (tx, cause) => insertWebhook(tx, fresh, cause));
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

/** The same request ran before and its answer was lost: its subscription exists, with its secret. */
async function madeBefore({ database, vault }: WebhookDeps, id: Id<'webhook'>) {
  const row = await findWebhook(database.read(), id);
  if (row?.sealedSecret == null) return undefined;
  return { ...webhookWire(row), secret: await vault.open(row.sealedSecret, secretContext(id)) };
}
