/** The `data` of the events of a passkey. @module */
import * as z from 'zod';
import { code, count, id, instant, named } from '../fields.ts';

export const passkeyData = named('PasskeyEventData', {
  id: id('passkey'),
  ownerId: id('owner'),
  status: code,
  transports: z.array(z.string().regex(/^[a-z-]{1,32}$/)),
  backedUp: z.boolean(),
  createdAt: instant,
  approvesFrom: instant,
});

export const revokedPasskeyData = named('PasskeyRevokedEventData', {
  ...passkeyData.shape,
  remaining: count.meta({ description: 'passkeys that are left' }),
  approvalsBlockedUntil: instant.nullable(),
});
