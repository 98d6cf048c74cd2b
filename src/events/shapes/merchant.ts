/** The `data` of the events of a merchant. @module */
import { code, id, instant, named } from '../fields.ts';

export const merchantData = named('MerchantEventData', {
  id: id('merchant'),
  ownerId: id('owner'),
  status: code,
  createdAt: instant,
});

/** `formerUntil`: until when the key before it counts, in real time; null where the new key counts for nothing yet. */
export const merchantKeyData = named('MerchantKeyEventData', {
  ...merchantData.shape,
  formerUntil: instant.nullable(),
});
