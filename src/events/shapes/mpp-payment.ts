/** The `data` of the events of a machine payment. @module */
import { code, count, currency, euros, id, instant, named } from '../fields.ts';

export const mppPaymentData = named('MppPaymentEventData', {
  id: id('mppPayment'),
  ownerId: id('owner'),
  agentId: id('agent'),
  intentId: id('intent'),
  cardId: id('card'),
  credentialId: id('mppCredential').nullable(),
  amountEuros: euros.nullable().meta({ description: 'null until the challenge is read' }),
  currency: currency.nullable(),
  status: code,
  merchantStatus: count.nullable().meta({ description: 'HTTP status of the merchant; null without an answer' }),
  transactionId: id('transaction').nullable(),
  reasonCode: code.nullable(),
  createdAt: instant,
});
