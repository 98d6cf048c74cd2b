/** The `data` of the events of an evidence. @module */
import { code, euros, id, instant, named } from '../fields.ts';

export const evidenceData = named('EvidenceEventData', {
  id: id('evidence'),
  ownerId: id('owner'),
  agentId: id('agent'),
  intentId: id('intent'),
  type: code,
  amountEuros: euros.nullable(),
  createdAt: instant,
});
