/** The `data` of the events of a transaction. @module */
import * as z from 'zod';
import { code, country, currency, euros, id, instant, mcc, named, outsideId } from '../fields.ts';

export const transactionData = named('TransactionEventData', {
  id: id('transaction'),
  transactionId: id('transaction'),
  ownerId: id('owner'),
  agentId: id('agent'),
  intentId: id('intent').nullable(),
  cardId: id('card').nullable(),
  walletId: id('wallet').nullable(),
  amountEuros: euros,
  heldEuros: euros,
  clearedEuros: euros,
  refundedEuros: euros,
  currency: z.literal('EUR'),
  merchantId: outsideId.nullable(),
  merchantMcc: mcc.nullable(),
  merchantCountry: country.nullable(),
  merchantAmount: z.number().nullable(),
  merchantCurrency: currency.nullable(),
  rail: code,
  type: code,
  status: code,
  verified: z.boolean(),
  verifiedAt: instant.nullable(),
  issuerAuthorizationId: outsideId.nullable(),
  issuerSettlementId: outsideId.nullable(),
  originalTransactionId: id('transaction').nullable(),
  declineRule: code.nullable(),
  confirmedAt: instant.nullable(),
  completedAt: instant.nullable(),
  createdAt: instant,
  updatedAt: instant,
});

const decidedBy = {
  rule: code.meta({ description: 'the rule that decided' }),
  askedEuros: euros,
  limitEuros: euros.nullable().meta({ description: 'of a rule with a limit' }),
  spentEuros: euros.nullable().meta({ description: 'what counted against that limit before this charge' }),
  availableEuros: euros.nullable().meta({ description: 'where money was lacking' }),
};

/** `increment` only where the network asked for more. */
export const updatedTransactionData = named('TransactionUpdateEventData', {
  ...transactionData.shape,
  increment: z
    .strictObject({ outcome: z.enum(['approved', 'partial', 'declined']), ...decidedBy, approvedEuros: euros })
    .optional()
    .meta({ description: 'the decision on an increment: figures of its rule are those of the whole new amount' }),
});

export const decidedTransactionData = named('TransactionDecisionEventData', {
  ...transactionData.shape,
  decision: z
    .strictObject({
      ...decidedBy,
      allowedOnceOf: id('transaction')
        .nullable()
        .meta({ description: 'the declined charge that the owner had allowed once, and that this one is' }),
    })
    .nullable()
    .meta({ description: 'null where the network decided in Bursar’s place' }),
});

/** The fields of the specification and no others; `intentId` and `merchant` only when there is one. */
export const completedTransactionData = named('TransactionCompletedEventData', {
  transactionId: id('transaction'),
  agentId: id('agent'),
  intentId: id('intent').optional(),
  amountEuros: euros,
  merchant: z.string().optional(),
  status: code,
});
