/** The `data` of the events of an MPP credential, and of the transaction that it paid for. @module */
import { code, currency, euros, id, instant, named, outsideId } from '../fields.ts';

export const mppCredentialData = named('MppCredentialEventData', {
  id: id('mppCredential'),
  ownerId: id('owner'),
  agentId: id('agent'),
  intentId: id('intent'),
  cardId: id('card'),
  merchantId: outsideId.nullable(),
  amountEuros: euros,
  currency,
  status: code,
  expiresAt: instant,
  transactionId: id('transaction').nullable(),
});
