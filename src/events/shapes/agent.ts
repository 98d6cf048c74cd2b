/** The `data` of the events of an agent. @module */
import { code, fieldNames, id, instant, named } from '../fields.ts';

export const agentData = named('AgentEventData', {
  id: id('agent'),
  agentId: id('agent'),
  ownerId: id('owner'),
  status: code,
  walletId: id('wallet'),
  funding: code,
  requestSignatures: code,
  createdAt: instant,
});

export const agentChangeData = named('AgentChangeEventData', {
  ...agentData.shape,
  changed: fieldNames.meta({ description: 'the fields that changed' }),
});
