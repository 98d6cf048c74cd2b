/** The `data` of the events of a card request. @module */
import * as z from 'zod';
import { code, euros, id, instant, named } from '../fields.ts';

const cardLimits = {
  maxTransactionEuros: euros.nullable(),
  dailyLimitEuros: euros.nullable(),
  monthlyLimitEuros: euros.nullable(),
};

export const cardRequestData = named('CardRequestEventData', {
  id: id('cardRequest'),
  ownerId: id('owner'),
  agentId: id('agent'),
  type: code,
  cardId: id('card').nullable().meta({ description: 'the card to change, or the card that the approval issued' }),
  status: code,
  granted: z.strictObject(cardLimits).nullable().meta({ description: 'null unless approved' }),
  decidedAt: instant.nullable(),
  remindedAt: instant.nullable(),
  expiresAt: instant,
  createdAt: instant,
});
