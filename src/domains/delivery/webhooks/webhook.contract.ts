/** The webhooks operations as published. Wire shapes only; the rules live in webhook.rules.ts. @module */
import * as z from 'zod';
import { eventNames } from '../../../events/catalog.ts';
import { defineArea } from '../../../http/route.ts';
import {
  atLeastOneField,
  id,
  idOut,
  instantOrDate,
  instantOut,
  pageOut,
  pageQuery,
  period,
  prose,
  text,
} from '../../../http/schemas.ts';
import { exampleId } from '../../../kernel/ids.ts';
import { limits } from '../../../platform/limits.ts';
import { deliveryOrigins, deliveryStatuses } from './delivery.rules.ts';
import { webhookStatuses } from './webhook.rules.ts';

const ordered = z.boolean().meta({
  description:
    'Strict order: the events of one subject are delivered one after the other, each when the one before is final. Subjects do not wait for each other.',
  examples: [false],
});

const webhook = {
  id: idOut('webhook'),
  url: z.string(),
  events: z.array(z.string()),
  description: z.string().nullable(),
  ordered,
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
  origin: z.enum(deliveryOrigins).meta({
    description: '`event`: made with its event; the others were made by a call of the owner.',
    examples: ['event'],
  }),
  createdAt: instantOut,
  deliveredAt: instantOut.nullable(),
};

export const deliveryOut = z
  .strictObject(delivery)
  .meta({ id: 'WebhookDelivery', description: 'The delivery of one event to one subscription.' });
export type DeliveryWire = z.infer<typeof deliveryOut>;

const deliveryPage = pageOut(deliveryOut);

const sequence = z.int().meta({
  description:
    'Sorts the events of one subject, as `X-Service-Sequence`; 0 of a test, and where the event is not kept any more.',
  examples: [4711],
});
const payload = z.strictObject({
  event: z.string(),
  createdAt: instantOut,
  data: z.record(z.string(), z.unknown()),
  sequence,
});
const wholeDelivery = z
  .strictObject({
    ...delivery,
    sequence,
    payload: payload.nullable().meta({ description: 'null: its event is not kept any more' }),
    attempts: z.array(attempt),
  })
  .meta({ id: 'WebhookDeliveryDetail', description: 'A delivery with its payload and attempts.' });
export type WholeDeliveryWire = z.infer<typeof wholeDelivery>;

const subscription = z.strictObject({
  url: text(4_096).meta({ format: 'uri' }),
  events: z.array(text(100)).min(1).max(200),
  description: prose(500).optional(),
  ordered: ordered.default(false),
});

const eventCatalogOut = z
  .strictObject({ data: z.array(z.strictObject({ name: z.string(), category: z.string(), reserved: z.boolean() })) })
  .meta({ id: 'EventCatalog', description: 'All events that can be subscribed to.' });

const catalogEventOut = z
  .strictObject({
    name: z.string().meta({ examples: ['transaction.completed'] }),
    category: z.string().meta({ examples: ['Transaction'] }),
    reserved: z.boolean().meta({ description: 'Listed, and never sent.', examples: [false] }),
    extension: z.boolean().meta({ description: "One of Bursar's own names.", examples: [false] }),
    schema: z
      .record(z.string(), z.unknown())
      .meta({ description: 'JSON Schema (2020-12) of `data`; fields may be added.', examples: [{ type: 'object' }] }),
    example: z
      .record(z.string(), z.unknown())
      .meta({ description: 'A valid `data`. Tests carry it.', examples: [{ status: 'completed' }] }),
  })
  .meta({ id: 'CatalogEvent', description: 'An event with the schema of its data and an example.' });
export type CatalogEventWire = z.infer<typeof catalogEventOut>;

const eventName = z.enum(eventNames).meta({ description: 'Name of an event.', examples: ['transaction.completed'] });

const rotatedSecret = z
  .strictObject({
    id: idOut('webhook'),
    secret: z.string().meta({ description: 'The new secret; shown only here.', examples: ['whsec_…'] }),
    hint: z.string().meta({ description: 'Tells two secrets apart.', examples: ['whsec_…b4l9'] }),
    previousUntil: instantOut
      .nullable()
      .meta({ description: 'Until when the previous secret signs too, in real time; null: not any more.' }),
  })
  .meta({ id: 'RotatedWebhookSecret', description: 'A new signing secret, which is shown only once.' });

const queued = {
  queued: z.int().meta({ description: 'How many deliveries this call made.', examples: [12] }),
  deliveryIds: z
    .array(idOut('delivery'))
    .meta({ description: 'The first 100 of them.', examples: [[exampleId('delivery')]] }),
  hasMore: z.boolean().meta({ description: 'True when another call finds more.', examples: [false] }),
};

const params = z.strictObject({ id: id('webhook') });
const deliveryParams = z.strictObject({ deliveryId: id('delivery') });

export const webhooksArea = defineArea({
  tag: 'Webhooks',
  base: '/webhooks',
  aliases: [],
  description: 'Subscriptions to events, and the deliveries made for them.',
  operations: {
    createWebhook: {
      method: 'post',
      path: '',
      summary: 'Subscribe a URL to events',
      description: `Events are names of the catalog, or \`["*"]\` alone. 400 where nothing may be sent to the URL (docs/webhooks.md names which), and where the owner has ${limits.webhooks.most} subscriptions. The secret is shown once; deliveries carry two signatures, see docs/webhooks.md.`,
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
      description: 'Newest first, without their secrets. Deleted ones are not listed.',
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
    updateWebhook: {
      method: 'patch',
      path: '/{id}',
      summary: 'Change, pause or resume a subscription',
      description:
        'While it is paused, nothing is sent, what waits keeps waiting, and no deliveries are made for new events; `recover` makes them afterwards. `active` also enables one that was disabled, which cannot be paused (400). A new URL is checked as at creation, gets what waits, and begins without failures.',
      auth: ['key'],
      params,
      body: z
        .strictObject({
          url: text(4_096)
            .meta({ format: 'uri', examples: ['https://hooks.example.com/bursar'] })
            .optional(),
          events: z
            .array(text(100))
            .min(1)
            .max(200)
            .meta({ description: 'Counts for later events.', examples: [['*']] })
            .optional(),
          description: prose(500).nullable().optional(),
          ordered: ordered.optional(),
          status: z.enum(['active', 'paused']).optional(),
        })
        .refine(...atLeastOneField)
        .meta({ id: 'UpdateWebhook' }),
      success: { status: 200, body: webhookOut },
      refusals: ['not_found', 'invalid_state'],
      fires: ['webhook.updated'],
    },
    rotateWebhookSecret: {
      method: 'post',
      path: '/{id}/rotate-secret',
      summary: 'Replace the signing secret',
      description:
        'For the overlap both secrets sign: `webhook-signature` lists both signatures, `X-Service-Signature` is by the new secret and `X-Service-Signature-Previous` by the previous one. A further rotation ends the overlap of the one before.',
      auth: ['key'],
      params,
      body: z
        .strictObject({
          overlapHours: z
            .int()
            .min(0)
            .max(168)
            .default(24)
            .meta({
              description: 'How long the previous secret signs too, in real time; 0: not at all.',
              examples: [24],
            }),
        })
        .meta({ id: 'RotateWebhookSecret' }),
      success: { status: 200, body: rotatedSecret },
      refusals: ['not_found'],
      fires: ['webhook_secret.rotated'],
      secret: true,
    },
    testWebhook: {
      method: 'post',
      path: '/{id}/test',
      summary: 'Send a sample event to a subscription',
      description:
        "A signed delivery like any other, with the catalog's example and `data.test: true`, whether the subscription names the event or not. No other subscription gets it, and `GET /events` does not list it. 400 while the subscription is paused or disabled, and after " +
        `${limits.webhook_tests.most} tests of an owner in a UTC day.`,
      auth: ['key'],
      params,
      body: z.strictObject({ event: eventName.default('transaction.completed') }).meta({ id: 'TestWebhook' }),
      success: {
        status: 202,
        body: z
          .strictObject({ deliveryId: idOut('delivery') })
          .meta({ id: 'TestDelivery', description: 'The delivery of the sample.' }),
      },
      refusals: ['not_found', 'invalid_state'],
      fires: ['webhook_delivery.requested'],
    },
    recoverWebhookDeliveries: {
      method: 'post',
      path: '/{id}/recover',
      summary: 'Send what a subscription missed since an instant',
      description:
        '400 while the subscription is paused or disabled. Makes deliveries of the events since then that the subscription wants now and that it has neither received nor waits for: failed ones, and those from before it existed or while it was paused or disabled. `since` may be as old as deliveries are kept (90 days, unless the operator set another number), because nobody knows what was received before. A call looks at 5,000 events; while `hasMore` is true, call again with `after` set to `position`.',
      auth: ['key'],
      params,
      body: z
        .strictObject({
          since: instantOrDate(0).meta({
            description: 'Events from this instant, or from the start of this UTC day.',
            examples: ['2026-11-20T12:00:00Z'],
          }),
          until: instantOrDate(86_400_000)
            .meta({
              description: 'Events before this instant, or to the end of this UTC day; absent: until now.',
              examples: ['2026-11-20T13:00:00Z'],
            })
            .optional(),
          after: z
            .int()
            .min(0)
            .meta({ description: 'The `position` of the call before.', examples: [4711] })
            .default(0),
        })
        .meta({ id: 'RecoverWebhookDeliveries' }),
      success: {
        status: 202,
        body: z
          .strictObject({
            ...queued,
            position: z.int().meta({ description: 'The last event that was looked at.', examples: [4711] }),
          })
          .meta({ id: 'RecoveredDeliveries', description: 'What was recovered.' }),
      },
      refusals: ['not_found', 'invalid_state'],
      fires: ['webhook_delivery.requested'],
    },
    deleteWebhook: {
      method: 'delete',
      path: '/{id}',
      summary: 'Delete a subscription and drop its pending deliveries',
      description:
        'What is being sent at this moment may still arrive. Its dead letters leave the queue, and its secrets are erased.',
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
      description:
        'Newest first, those that you asked for among them. Finished ones are kept for 90 days, unless the operator set another number.',
      auth: ['key'],
      params: z.strictObject({ id: id('webhook') }),
      query: z.strictObject({
        ...pageQuery('delivery'),
        status: z.enum(deliveryStatuses).optional().describe('only deliveries in this state'),
        event: text(100).optional().describe('only deliveries of this event'),
        ...period,
      }),
      success: { status: 200, body: deliveryPage },
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
    redeliverWebhookDelivery: {
      method: 'post',
      path: '/deliveries/{deliveryId}/redeliver',
      summary: 'Deliver once more what a final delivery carried',
      description:
        'A new delivery with the same body and `sequence`, under its own id and with all attempts of the plan. It makes no difference whether the first one succeeded. A dead letter leaves the queue. 400 while it is not final, where its subscription was deleted or is not active, and where the event is not kept any more.',
      auth: ['key'],
      params: deliveryParams,
      success: { status: 202, body: deliveryOut },
      refusals: ['not_found', 'invalid_state'],
      fires: ['webhook_delivery.requested'],
    },
    listDeadLetters: {
      method: 'get',
      path: '/dlq',
      summary: 'List dead letters',
      description:
        'Newest first: on a plan with dead letters, deliveries that ended without success, because their attempts were used up, their subscription was disabled or they were given up. They leave this list when they are delivered again or deleted, and with their subscription. 403 on a plan without dead letters.',
      auth: ['key'],
      query: z.strictObject({
        ...pageQuery('delivery'),
        webhookId: id('webhook').meta({ description: 'Only those of this subscription.' }).optional(),
      }),
      reaches: { 'query.webhookId': 'filter' },
      success: { status: 200, body: deliveryPage },
      refusals: ['plan_limit_exceeded'],
    },
    redeliverDeadLetters: {
      method: 'post',
      path: '/dlq/redeliver',
      summary: 'Deliver dead letters again',
      description:
        'Either `ids` or all of `webhookId`, oldest first, at most 5,000 for each call. 403 on a plan without dead letters; 400 for a `webhookId` whose subscription is not active. Each becomes a new delivery and leaves the queue; one whose subscription is not active, or whose event is not kept any more, stays in it, and deliveries that are no dead letters are left out.',
      auth: ['key'],
      body: z
        .strictObject({
          ids: z.array(id('delivery')).min(1).max(100).meta({ description: 'Dead letters.' }).optional(),
          webhookId: id('webhook').meta({ description: 'All dead letters of this subscription.' }).optional(),
        })
        .refine(
          ({ ids, webhookId }) => (ids === undefined) !== (webhookId === undefined),
          'give either ids or webhookId',
        )
        .meta({ id: 'RedeliverDeadLetters', examples: [{ webhookId: exampleId('webhook') }] }),
      success: {
        status: 202,
        body: z.strictObject(queued).meta({ id: 'QueuedDeliveries', description: 'What is delivered again.' }),
      },
      refusals: ['plan_limit_exceeded', 'not_found', 'invalid_state'],
      fires: ['webhook_delivery.requested'],
    },
    deleteDeadLetter: {
      method: 'delete',
      path: '/dlq/{deliveryId}',
      summary: 'Take a dead letter out of the queue',
      description: 'It stays in the list of deliveries of its subscription.',
      auth: ['key'],
      params: deliveryParams,
      success: { status: 204 },
      refusals: ['not_found'],
      fires: ['dead_letter.deleted'],
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
    getCatalogEvent: {
      method: 'get',
      path: '/events/{name}',
      summary: 'One event of the catalog, with the schema of its data and an example',
      auth: ['key', 'agent'],
      scope: 'events.read',
      params: z.strictObject({
        name: z
          .string()
          .max(100)
          .meta({ description: 'Name of an event.', examples: ['transaction.completed'] }),
      }),
      success: { status: 200, body: catalogEventOut },
      refusals: ['not_found'],
    },
  },
});
