/** The `data` of the events of a webhook. @module */
import * as z from 'zod';
import { code, id, instant, named } from '../fields.ts';

export const webhookData = named('WebhookEventData', {
  id: id('webhook'),
  ownerId: id('owner'),
  status: code,
  events: z.array(z.string().regex(/^(\*|[a-z_]+(\.[a-z_]+)+)$/)),
  createdAt: instant,
  updatedAt: instant,
});
