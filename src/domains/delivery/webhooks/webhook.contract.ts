/** The webhooks operations as published. Wire shapes only; the rules live in webhook.rules.ts. @module */
import * as z from 'zod';
import { defineArea } from '../../../http/route.ts';
import { id, idOut, instantOut, pageOut, pageQuery, period, prose, text } from '../../../http/schemas.ts';
import { deliveryStatuses } from './delivery.rules.ts';
import { webhookStatuses } from './webhook.rules.ts';

const webhook = {
  id: idOut('webhook'),
  url: z.string(),
  events: z.array(z.string()),
  description: z.string().nullable(),
  status: z.enum(webhookStatuses),
  disabledReason: z.string().nullable(),
  hint: z.string(),
  createdAt: instantOut,
  updatedAt: instantOut,
};

export const webhookOut = z.strictObject(webhook).meta({ id: 'Webhook', description: 'A subscription to events.' });
export type WebhookWire = z.infer<typeof webhookOut>;

const createdWebhook = z
  .strictObject({ ...webhook, secret: z.string().meta({ description: 'signs deliveries; shown this once' }) })
  .meta({ id: 'NewWebhook', description: 'A subscription with its signing secret, which is shown only once.' });

const attempt = z
  .strictObject({
    attempt: z.int(),
    deliveryId: z.string().meta({ description: 'X-Service-Delivery-Id of this attempt' }),
    at: instantOut,
    responseStatus: z.int().nullable(),
    responseMs: z.int().nullable(),
    error: z.string().nullable(),
    responseBody: z.string().nullable().meta({ description: 'of a failed attempt: at most 1 KiB, secrets masked' }),
  })
  .meta({ id: 'WebhookAttempt', description: 'One attempt of a delivery.' });

const delivery = {
  id: idOut('delivery'),
  webhookId: idOut('webhook'),
  event: z.string(),
  eventId: idOut('event'),
  status: z.enum(deliveryStatuses),
  attempt: z.int(),
  maxAttempts: z.int(),
  nextAttemptAt: instantOut.nullable(),
  responseStatus: z.int().nullable(),
  responseMs: z.int().nullable(),
  error: z.string().nullable(),
  createdAt: instantOut,
  deliveredAt: instantOut.nullable(),
};

export const deliveryOut = z
  .strictObject(delivery)
  .meta({ id: 'WebhookDelivery', description: 'The delivery of one event to one subscription.' });
export type DeliveryWire = z.infer<typeof deliveryOut>;

const payload = z.strictObject({ event: z.string(), createdAt: instantOut, data: z.record(z.string(), z.unknown()) });
const wholeDelivery = z
  .strictObject({
    ...delivery,
    sequence: z.int().meta({ description: 'X-Service-Sequence: sorts the events of one subject' }),
    payload,
    attempts: z.array(attempt),
  })
  .meta({ id: 'WebhookDeliveryDetail', description: 'A delivery with its payload and attempts.' });
export type WholeDeliveryWire = z.infer<typeof wholeDelivery>;

const subscription = z.strictObject({
  url: text(4_096).meta({ format: 'uri' }),
  events: z.array(text(100)).min(1).max(200),
  description: prose(500).optional(),
});

const eventCatalogOut = z
  .strictObject({ data: z.array(z.strictObject({ name: z.string(), category: z.string(), reserved: z.boolean() })) })
  .meta({ id: 'EventCatalog', description: 'All events that can be subscribed to.' });

export const webhooksArea = defineArea({
  tag: 'Webhooks',
  base: '/webhooks',
  aliases: [],
  description: 'Subscriptions to events, and the deliveries made for them.',
  notBuilt: ['/dlq'],
  operations: {
    createWebhook: {
      method: 'post',
      path: '',
      summary: 'Subscribe a URL to events',
      description:
        'Events are names of the catalog, or `["*"]` alone. The secret is shown once; deliveries carry two signatures, see docs/webhooks.md.',
      auth: ['key'],
      body: subscription,
      success: { status: 201, body: createdWebhook },
      refusals: ['invalid_state'],
      fires: ['webhook.created'],
      secret: true,
    },
    listWebhooks: {
      method: 'get',
      path: '',
      summary: 'List subscriptions',
      auth: ['key'],
      query: z.strictObject(pageQuery('webhook')),
      success: { status: 200, body: pageOut(webhookOut) },
      refusals: [],
    },
    getWebhook: {
      method: 'get',
      path: '/{id}',
      summary: 'Read one subscription',
      auth: ['key'],
      params: z.strictObject({ id: id('webhook') }),
      success: { status: 200, body: webhookOut },
      refusals: ['not_found'],
    },
    deleteWebhook: {
      method: 'delete',
      path: '/{id}',
      summary: 'Delete a subscription and drop its pending deliveries',
      auth: ['key'],
      params: z.strictObject({ id: id('webhook') }),
      success: { status: 204 },
      refusals: ['not_found'],
      fires: ['webhook.deleted'],
    },
    listWebhookDeliveries: {
      method: 'get',
      path: '/{id}/deliveries',
      summary: 'List deliveries of a subscription',
      auth: ['key'],
      params: z.strictObject({ id: id('webhook') }),
      query: z.strictObject({
        ...pageQuery('delivery'),
        status: z.enum(deliveryStatuses).optional().describe('only deliveries in this state'),
        event: text(100).optional().describe('only deliveries of this event'),
        ...period,
      }),
      success: { status: 200, body: pageOut(deliveryOut) },
      refusals: ['not_found'],
    },
    getWebhookDelivery: {
      method: 'get',
      path: '/deliveries/{deliveryId}',
      summary: 'Read one delivery with its payload and attempts',
      auth: ['key'],
      params: z.strictObject({ deliveryId: id('delivery') }),
      success: { status: 200, body: wholeDelivery },
      refusals: ['not_found'],
    },
    listEventCatalog: {
      method: 'get',
      path: '/events',
      summary: 'Every event that can be subscribed to',
      auth: ['key', 'agent'],
      scope: 'events.read',
      unpaged: 'one row for each event of the catalog',
      success: { status: 200, body: eventCatalogOut },
      refusals: [],
    },
  },
});
