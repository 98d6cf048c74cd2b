/** The `data` of the events of a card. @module */
import * as z from 'zod';
import { code, euros, fieldNames, id, instant, named } from '../fields.ts';

export const cardData = named('CardEventData', {
  id: id('card'),
  ownerId: id('owner'),
  agentId: id('agent'),
  status: code,
  frozenBy: code.nullable(),
  usage: code,
  isPrimary: z.boolean(),
  maxTransactionEuros: euros.nullable(),
  dailyLimitEuros: euros.nullable(),
  monthlyLimitEuros: euros.nullable(),
  createdAt: instant,
  closedAt: instant.nullable(),
});

export const cardChangeData = named('CardChangeEventData', {
  ...cardData.shape,
  changed: fieldNames.meta({ description: 'the fields that changed' }),
});

export const cardRotationData = named('CardRotationEventData', { ...cardData.shape, previousCardId: id('card') });

export const cardFundingData = named('CardFundingEventData', {
  id: id('card'),
  ownerId: id('owner'),
  agentId: id('agent'),
  status: code,
  amountEuros: euros,
  balanceEuros: euros,
});
