/** The `data` of the events of a push subscription; its endpoint is an address and is not among them. @module */
import * as z from 'zod';
import { code, id, instant, named } from '../fields.ts';

export const pushSubscriptionData = named('PushSubscriptionEventData', {
  id: id('pushSubscription'),
  ownerId: id('owner'),
  passkeyId: id('passkey').nullable(),
  events: z.array(code),
  createdAt: instant,
});
