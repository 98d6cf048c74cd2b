/** The `data` of the events of an access event. @module */
import { code, id, instant, named } from '../fields.ts';

export const accessEventData = named('AccessEventData', {
  id: id('accessEvent'),
  ownerId: id('owner'),
  agentId: id('agent').nullable(),
  cardId: id('card').nullable(),
  intentId: id('intent').nullable(),
  kind: code,
  decision: code,
  rule: code.nullable().meta({ description: 'the rule that decided; null where no rule was evaluated' }),
  expiresAt: instant.nullable().meta({ description: 'when a grant ends; null: denied, or no grant in time' }),
  createdAt: instant,
});
