/** The `data` of the events of a webhook. @module */
import * as z from 'zod';
import { code, count, id, instant, named } from '../fields.ts';

/** `origin`: why deliveries were made without a new event; `deliveries`: how many. */
export const requestedDeliveriesData = named('RequestedDeliveriesEventData', {
  id: id('webhook'),
  ownerId: id('owner'),
  origin: code,
  deliveries: count,
});

/** `deliveries`: how many of those that waited for another attempt became due, or were given up. */
export const retriedDeliveriesData = named('RetriedDeliveriesEventData', {
  id: id('webhook'),
  ownerId: id('owner'),
  deliveries: count,
});

/** `id`: of the subscription. */
export const webhookPageLinkData = named('WebhookPageLinkEventData', {
  id: id('webhook'),
  ownerId: id('owner'),
  expiresAt: instant,
});

export const deadLetterData = named('DeadLetterEventData', {
  id: id('delivery'),
  ownerId: id('owner'),
  webhookId: id('webhook'),
  eventId: id('event'),
  event: code,
});

export const webhookData = named('WebhookEventData', {
  id: id('webhook'),
  ownerId: id('owner'),
  status: code,
  events: z.array(z.string().regex(/^(\*|[a-z_]+(\.[a-z_]+)+)$/)),
  createdAt: instant,
  updatedAt: instant,
});
