/** The `data` of the events of a customer. @module */
import { code, fieldNames, id, named } from '../fields.ts';

export const customerData = named('CustomerEventData', {
  id: id('customer'),
  ownerId: id('owner'),
  type: code,
  status: code,
  plan: code,
});

export const customerChangeData = named('CustomerChangeEventData', {
  ...customerData.shape,
  changed: fieldNames.meta({ description: 'the fields that changed, without their values' }),
});
