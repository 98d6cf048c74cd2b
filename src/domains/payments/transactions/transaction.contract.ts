/** The transactions operations as published. Wire shapes only. @module */
import * as z from 'zod';
import { defineArea } from '../../../http/route.ts';
import { eurosOut, id, idOut, instant, instantOut, pageOut, pageQuery, text } from '../../../http/schemas.ts';
import { rails, transactionStatuses, transactionTypes } from './transaction.rules.ts';

const transactionEventOut = z
  .object({
    kind: z.enum(['authorization', 'clearing', 'reversal', 'expiry']),
    networkId: z.string().nullable(),
    amountEuros: eurosOut,
    final: z.boolean().nullable(),
    at: instantOut,
  })
  .meta({ id: 'TransactionEvent' });

export const transactionOut = z
  .object({
    id: idOut('transaction'),
    ownerId: idOut('owner'),
    agentId: idOut('agent'),
    intentId: z.string().nullable(),
    cardId: z.string().nullable(),
    walletId: z.string().nullable(),
    amountEuros: eurosOut,
    heldEuros: eurosOut.meta({ description: 'still held of the authorization, in euros' }),
    clearedEuros: eurosOut.meta({ description: 'collected by the network, in euros' }),
    currency: z.literal('EUR'),
    merchant: z.string().nullable(),
    merchantId: z.string().nullable(),
    merchantMcc: z.string().nullable(),
    merchantCountry: z.string().nullable(),
    rail: z.enum(rails),
    type: z.enum(transactionTypes),
    status: z.enum(transactionStatuses),
    verified: z.boolean(),
    verifiedAt: instantOut.nullable(),
    mismatch: z.string().nullable(),
    memo: z.string().nullable(),
    issuerAuthorizationId: z.string().nullable(),
    issuerSettlementId: z.string().nullable(),
    refundedEuros: eurosOut,
    originalTransactionId: z.string().nullable(),
    declineRule: z.string().nullable(),
    declineReason: z.string().nullable(),
    confirmedAt: instantOut.nullable(),
    completedAt: instantOut.nullable(),
    requestId: z.string(),
    runId: z.string().nullable(),
    createdAt: instantOut,
    updatedAt: instantOut,
    events: z.array(transactionEventOut),
  })
  .meta({ id: 'Transaction' });

export type TransactionWire = z.infer<typeof transactionOut>;
export type TransactionEventWire = z.infer<typeof transactionEventOut>;

export const transactionsArea = defineArea({
  tag: 'Transactions',
  base: '/transactions',
  aliases: [],
  description: 'What cards paid, tried to pay, and got back.',
  operations: {
    listTransactions: {
      method: 'get',
      path: '',
      summary: 'Transactions, newest first',
      description: 'Reaches back as far as the plan shows: free 30 days, starter 90, business 365, enterprise 1826.',
      auth: ['key', 'agent'],
      scope: 'transactions.read',
      query: z.strictObject({
        ...pageQuery,
        agentId: id('agent').optional(),
        cardId: id('card').optional(),
        intentId: id('intent').optional(),
        merchant: text(140).optional().meta({ description: 'the whole name, in any case' }),
        status: z.enum(transactionStatuses).optional().describe('only transactions in this state'),
        from: instant.optional().meta({ description: 'created at or after' }),
        to: instant.optional().meta({ description: 'created before' }),
      }),
      success: { status: 200, body: pageOut(transactionOut) },
      refusals: [403],
    },
    getTransaction: {
      method: 'get',
      path: '/{id}',
      summary: 'One transaction, with what the network said about it',
      auth: ['key', 'agent'],
      scope: 'transactions.read',
      params: z.strictObject({ id: id('transaction') }),
      success: { status: 200, body: transactionOut },
      refusals: [403, 404],
    },
  },
});
