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
