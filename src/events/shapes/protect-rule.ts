/** The `data` of the events of a protect rule. @module */
import { code, id, instant, named } from '../fields.ts';

export const protectRuleData = named('ProtectRuleEventData', {
  id: id('protectRule'),
  ownerId: id('owner'),
  agentId: id('agent').nullable().meta({ description: 'the only agent that the rule is for; null: every agent' }),
  type: code,
  createdAt: instant,
});
