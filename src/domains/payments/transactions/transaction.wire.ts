/** The shape of a transaction for callers and for its events. Shapes only. @module */
import type { EventData } from '../../../events/catalog.ts';
import { isoOf, isoOrNull } from '../../../kernel/instant.ts';
import { cents, eurosFromCents } from '../../../kernel/money.ts';
import type { TransactionEventWire, TransactionWire } from './transaction.contract.ts';
import type { TransactionFields } from './transaction.entity.ts';

/** Every published field of a transaction comes from these. */
export const publishedFields = [
  'id',
  'ownerId',
  'agentId',
  'intentId',
  'cardId',
  'walletId',
  'amountCents',
  'heldCents',
  'clearedCents',
  'merchant',
  'merchantId',
  'merchantMcc',
  'merchantCountry',
  'merchantAmount',
  'merchantCurrency',
  'rail',
  'type',
  'status',
  'verified',
  'verifiedAt',
  'mismatch',
  'memo',
  'authorizationId',
  'issuerSettlementId',
  'refundedCents',
  'originalTransactionId',
  'declineRule',
  'declineReason',
  'confirmedAt',
  'completedAt',
  'requestId',
  'runId',
  'createdAt',
  'updatedAt',
] as const satisfies readonly (keyof TransactionFields)[];
export type PublishedField = (typeof publishedFields)[number];
export type PublishedFields = Pick<TransactionFields, PublishedField>;

/** `events`: one line for each, as transaction.queries.ts has the database write them. */
export const transactionWire = (row: PublishedFields, events: string): TransactionWire =>
  Object.assign(publicFields(row), { events: events === '' ? [] : events.split('\n').map(eventWire) });

/** The `data` of every transaction event but `transaction.completed`: without names and texts. */
export const transactionData = (row: PublishedFields): EventData<'transaction.created'> =>
  Object.assign(figuresOf(row), { transactionId: row.id });

/** The `data` of `transaction.completed`: exactly the specification's fields. */
export const completedData = (row: PublishedFields): EventData<'transaction.completed'> => ({
  transactionId: row.id,
  agentId: row.agentId,
  ...(row.intentId == null ? {} : { intentId: row.intentId }),
  amountEuros: eurosFromCents(row.amountCents),
  ...(row.merchant == null ? {} : { merchant: row.merchant }),
  status: row.status,
});

/** Without names and texts. */
const figuresOf = (row: PublishedFields) => ({
  id: row.id,
  ownerId: row.ownerId,
  agentId: row.agentId,
  intentId: row.intentId ?? null,
  cardId: row.cardId ?? null,
  walletId: row.walletId ?? null,
  amountEuros: eurosFromCents(row.amountCents),
  heldEuros: eurosFromCents(row.heldCents),
  clearedEuros: eurosFromCents(row.clearedCents),
  refundedEuros: eurosFromCents(row.refundedCents),
  merchantId: row.merchantId ?? null,
  merchantMcc: row.merchantMcc ?? null,
  merchantCountry: row.merchantCountry ?? null,
  merchantAmount: row.merchantAmount ?? null,
  merchantCurrency: row.merchantCurrency ?? null,
  rail: row.rail,
  type: row.type,
  status: row.status,
  verified: row.verified,
  verifiedAt: isoOrNull(row.verifiedAt),
  issuerAuthorizationId: row.authorizationId ?? null,
  issuerSettlementId: row.issuerSettlementId ?? null,
  originalTransactionId: row.originalTransactionId ?? null,
  declineRule: row.declineRule ?? null,
  confirmedAt: isoOrNull(row.confirmedAt),
  completedAt: isoOrNull(row.completedAt),
  createdAt: isoOf(row.createdAt),
  updatedAt: isoOf(row.updatedAt),
  currency: 'EUR' as const,
});

const publicFields = (row: PublishedFields): Omit<TransactionWire, 'events'> =>
  Object.assign(figuresOf(row), {
    merchant: row.merchant ?? null,
    mismatch: row.mismatch ?? null,
    memo: row.memo ?? null,
    declineReason: row.declineReason ?? null,
    requestId: row.requestId,
    runId: row.runId ?? null,
  });

function eventWire(line: string): TransactionEventWire {
  const [kind, amountCents, isFinal, day, time, merchantAmount, merchantCurrency, networkId, requestId = null] =
    line.split(' ');
  return {
    kind: kind as TransactionEventWire['kind'],
    networkId: networkId === undefined || networkId === '' ? null : networkId,
    requestId,
    amountEuros: eurosFromCents(cents(Number(amountCents))),
    merchantAmount: merchantAmount ? Number(merchantAmount) : null,
    merchantCurrency: merchantCurrency || null,
    final: isFinal === '' ? null : isFinal === 'true',
    at: isoOf(new Date(`${day} ${time}`)),
  };
}
