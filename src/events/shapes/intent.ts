/** The `data` of the events of an intent. @module */
import * as z from 'zod';
import { code, codes, count, date, euros, id, instant, named } from '../fields.ts';

const intentFields = {
  id: id('intent'),
  ownerId: id('owner'),
  agentId: id('agent'),
  cardId: id('card'),
  status: code,
  expectedAmountEuros: euros,
  recurring: z
    .strictObject({
      cadence: code,
      windowStartDaysBefore: count,
      windowEndDaysAfter: count,
      amountTolerancePercent: z.number(),
      merchantMatch: z.boolean(),
    })
    .nullable(),
  expiresAt: instant,
  approvedAt: instant.nullable(),
  completedAt: instant.nullable(),
  matchedTransactionId: id('transaction').nullable(),
  transactionId: id('transaction').nullable(),
  transferId: z
    .union([id('transfer'), id('transferSplit')])
    .nullable()
    .meta({ description: 'the transfer, or the split of transfers, that was ordered for it' }),
  declinedTransactionId: id('transaction')
    .nullable()
    .meta({ description: 'the declined charge that it was made from' }),
  allowsOnceOf: id('transaction').nullable().meta({ description: 'the declined charge that it lets pass once' }),
  attestedAt: instant.nullable(),
  verified: z.boolean(),
  createdAt: instant,
};

const windowFields = { number: count, dueOn: date, from: instant, to: instant };

export const intentData = named('IntentEventData', {
  ...intentFields,
  window: z.strictObject({ ...windowFields, status: code.optional() }).nullable(),
});

export const intentMismatchData = named('IntentMismatchEventData', {
  ...intentData.shape,
  transactionId: id('transaction'),
  misfits: codes.meta({ description: 'what did not fit: `amount`, `merchant`, `mcc`, `country`, `window`' }),
  askedEuros: euros.meta({ description: 'what the charge asked for' }),
  maxChargeEuros: euros.meta({ description: 'what the intent lets through, with the tolerance' }),
});

export const intentVerificationData = named('IntentVerificationEventData', {
  ...intentData.shape,
  intentId: id('intent'),
  mismatches: codes.meta({ description: 'what differs from the receipt: `amount`, `merchant`' }),
});

export const intentWindowData = named('IntentWindowEventData', {
  ...intentFields,
  window: z.strictObject({ ...windowFields, status: code }),
});
