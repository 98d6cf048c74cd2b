/** The transactions operations as published. Wire shapes only. @module */
import * as z from 'zod';
import { defineArea } from '../../../http/route.ts';
import {
  country,
  euros,
  eurosOut,
  id,
  idOut,
  instantOut,
  mcc,
  pageOut,
  pageQuery,
  period,
  prose,
  text,
} from '../../../http/schemas.ts';
import { day } from '../../../kernel/instant.ts';
import { allowedOnceMinutes, allowOnceWithinMs } from '../../spending/intents/allow-once.rules.ts';
import { intentOut } from '../../spending/intents/index.ts';
import { policyVersionOut, traceOut } from '../../spending/policies/index.ts';
import { wantedOutcomes } from '../simulations/simulation.rules.ts';
import { linkWindowMs, rails, transactionStatuses, transactionTypes } from './transaction.rules.ts';

const transactionEventOut = z
  .strictObject({
    kind: z.enum(['authorization', 'increment', 'clearing', 'reversal', 'refund', 'advice', 'expiry']),
    networkId: z.string().nullable(),
    requestId: z.string().nullable().meta({ description: '`X-Request-Id` of the network’s own message' }),
    amountEuros: eurosOut.meta({
      description:
        'what was approved, collected or given back; of an increment what was granted, of a reversal what the network does not collect any more, of an expiry what was still held',
    }),
    merchantAmount: z.number().nullable().meta({
      description:
        'what the merchant charged, asked for or gave back by this message, in units of `merchantCurrency`, as the network sent it; null where it named no amount',
    }),
    merchantCurrency: z.string().nullable().meta({ description: 'ISO 4217; null where the network named no amount' }),
    final: z.boolean().nullable(),
    at: instantOut,
  })
  .meta({ id: 'TransactionEvent', description: 'A message of the card network about a transaction.' });

export const transactionOut = z
  .strictObject({
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
    merchantAmount: z.number().nullable().meta({
      description:
        'what the merchant charged by the authorization, in units of `merchantCurrency`, as the network sent it; null where it named none. What clearings and other messages charged is in `events`; a refund has its own',
    }),
    merchantCurrency: z
      .string()
      .nullable()
      .meta({ description: 'ISO 4217; the currency that the merchant charged in' }),
    rail: z.enum(rails).meta({
      description: '`simulate`: asked for by `POST /transactions/simulate`; every other charge so far is `card`',
    }),
    type: z.enum(transactionTypes).meta({
      description:
        '`authorization` asked for, `capture` collected, `reversal` given back or its hold grown too old; `refund` gives back what another transaction collected',
    }),
    status: z.enum(transactionStatuses),
    verified: z.boolean().meta({
      description: 'the last comparison with what its intent declared (`POST /intents/{id}/verify`) found no gap',
    }),
    verifiedAt: instantOut.nullable(),
    mismatch: z
      .string()
      .nullable()
      .meta({ description: 'what did not fit then, in words with both figures; null before, and when all fits' }),
    memo: z.string().nullable(),
    issuerAuthorizationId: z
      .string()
      .nullable()
      .meta({ description: 'the network’s id of the authorization; null until it has asked' }),
    issuerSettlementId: z.string().nullable().meta({ description: 'the network’s id of the latest clearing' }),
    refundedEuros: eurosOut,
    originalTransactionId: z.string().nullable().meta({
      description: 'of a refund: the transaction that it gives back; null where the network named none that is known',
    }),
    declineRule: z
      .string()
      .nullable()
      .meta({
        description: 'of a declined one: the rule that decided',
        examples: ['daily_limit', 'insufficient_funds'],
      }),
    declineReason: z.string().nullable().meta({ description: 'the same in words, with figures' }),
    confirmedAt: instantOut.nullable().meta({
      description: `when \`POST /checkout/confirm\` said so. Without an authorization within ${linkWindowMs / day} days after it ends \`failed\``,
    }),
    completedAt: instantOut.nullable(),
    requestId: z.string().meta({
      description:
        '`X-Request-Id` of the call that asked for the payment: execute, confirm, simulate, or the declaration of its intent; without one, of the network’s own message',
    }),
    runId: z.string().nullable().meta({
      description: '`X-Service-Run-Id` of that call, or else of its intent: your own name for a run of your agent',
    }),
    createdAt: instantOut,
    updatedAt: instantOut,
    events: z.array(transactionEventOut),
  })
  .meta({ id: 'Transaction', description: 'A payment by card: authorized, declined, collected or reversed.' });

export type TransactionWire = z.infer<typeof transactionOut>;
export type TransactionEventWire = z.infer<typeof transactionEventOut>;

const remedyOut = z
  .strictObject({
    field: z.string().meta({
      description: 'What changes: a field of the policy or the card, the intent, or the money.',
      examples: ['policy.dailyLimitEuros'],
    }),
    value: z.union([z.string(), z.number(), z.boolean()]).meta({
      description: 'The least value that is enough; the entry that a list needs or loses.',
      examples: [112.5],
    }),
    inWords: z.string().meta({
      description: 'The change in a sentence for people.',
      examples: ['raise the limit for a day to 112.50 EUR'],
    }),
  })
  .meta({ id: 'DecisionRemedy', description: 'One change with which the charge would have come further.' });

const incrementDecisionOut = z
  .strictObject({
    networkId: z.string().meta({ description: 'The network’s id of the increment.', examples: ['inc_1'] }),
    outcome: z.enum(['approved', 'partial', 'declined']).meta({ description: 'What the network was answered.' }),
    rule: z.string().meta({ description: 'The rule that decided.', examples: ['daily_limit'] }),
    reason: z.string().meta({
      description: 'The same in words, with figures.',
      examples: ['raising 100.00 to 140.00: daily limit 120.00, spent 0.00, asked 140.00'],
    }),
    inWords: z.string().meta({
      description: 'The decision and what would have changed it, in sentences for people.',
      examples: ['Declined: raising 100.00 to 140.00: daily limit 120.00, spent 0.00, asked 140.00.'],
    }),
    amountEuros: eurosOut.meta({ description: 'By how much the hold was to grow.' }),
    approvedEuros: eurosOut.meta({ description: 'By how much it grew.' }),
    trace: traceOut.meta({ description: 'Every rule that applied to the whole new amount, up to the first refusal.' }),
    remedy: z.array(remedyOut).nullable().meta({
      description: 'The smallest changes with which it would have been approved; empty for an approved one.',
    }),
    policyId: idOut('policy').nullable(),
    policyVersion: z
      .int()
      .nullable()
      .meta({ description: 'the version that the decision used', examples: [3] }),
    at: instantOut.meta({ description: 'When it was decided.' }),
  })
  .meta({ id: 'IncrementDecision', description: 'Why the hold of a payment was raised, or was not.' });

export const decisionOut = z
  .strictObject({
    transactionId: idOut('transaction'),
    outcome: z.enum(['approved', 'partial', 'declined']).meta({ description: 'What the network was answered.' }),
    rule: z.string().meta({ description: 'The rule that decided.', examples: ['daily_limit'] }),
    reason: z.string().meta({
      description: 'The same in words, with figures.',
      examples: ['daily limit 100.00, spent 100.00, asked 12.50'],
    }),
    inWords: z.string().meta({
      description: 'The decision and what would have changed it, in sentences for people.',
      examples: [
        'Declined: daily limit 100.00, spent 100.00, asked 12.50. It would have passed with this change: raise the limit for a day to 112.50 EUR.',
      ],
    }),
    amountEuros: eurosOut.meta({ description: 'What the network asked for.' }),
    intentId: idOut('intent').nullable().meta({ description: 'the intent that the charge was of' }),
    cardId: idOut('card').nullable(),
    trace: traceOut.meta({
      description: 'Every rule that applied, in the order of evaluating, up to the first refusal.',
    }),
    remedy: z.array(remedyOut).nullable().meta({
      description:
        'the smallest changes with which the same charge would have been approved, all together; empty for an approved one, null where no change helps or none was computed',
    }),
    mayAllowOnce: z.boolean().meta({
      description:
        'whether all that the charge lacked can be lifted for one charge by its owner, by `POST /transactions/{id}/allow-once`; as its decision knew',
    }),
    policyId: idOut('policy').nullable(),
    policyVersion: z
      .int()
      .nullable()
      .meta({ description: 'the version that the decision used', examples: [3] }),
    policy: policyVersionOut.nullable().meta({
      description:
        'this version, whole, for an owner’s key; null for an agent’s token, which reads it by `GET /policies/{id}/versions/{n}`, and where it was not kept',
    }),
    increments: z.array(incrementDecisionOut).meta({
      description: 'The decisions on increments of this authorization, oldest first.',
      examples: [[]],
    }),
    at: instantOut.meta({ description: 'When it was decided.' }),
  })
  .meta({ id: 'ChargeDecision', description: 'Why a charge was approved or declined.' });
export type DecisionWire = z.infer<typeof decisionOut>;

export const transactionsArea = defineArea({
  tag: 'Transactions',
  base: '/transactions',
  aliases: [],
  description: 'What cards paid, tried to pay, and got back.',
  operations: {
    listTransactions: {
      method: 'get',
      path: '',
      reaches: { 'query.agentId': 'filter', 'query.cardId': 'filter', 'query.intentId': 'filter' },
      summary: 'Transactions, newest first',
      description: 'Reaches back as far as the plan shows: free 30 days, starter 90, business 365, enterprise 1826.',
      auth: ['key', 'agent'],
      scope: 'transactions.read',
      query: z.strictObject({
        ...pageQuery('transaction'),
        agentId: id('agent').optional(),
        cardId: id('card').optional(),
        intentId: id('intent').optional(),
        merchant: text(140).optional().meta({ description: 'the whole name, case-insensitive' }),
        status: z.enum(transactionStatuses).optional().describe('only transactions in this state'),
        ...period,
      }),
      success: { status: 200, body: pageOut(transactionOut) },
      refusals: ['agent_isolation'],
    },
    getTransaction: {
      method: 'get',
      path: '/{id}',
      summary: 'One transaction, with what the network said about it',
      auth: ['key', 'agent'],
      scope: 'transactions.read',
      params: z.strictObject({ id: id('transaction') }),
      success: { status: 200, body: transactionOut },
      refusals: ['agent_isolation', 'not_found'],
    },
    getTransactionDecision: {
      method: 'get',
      path: '/{id}/decision',
      summary: 'Why a charge was approved or declined',
      description:
        'The stored decision, rule by rule, with the version of the policy that it used (whole for an owner’s key, its number for an agent’s token), and for a refusal the smallest change that would have let the charge through. `increments` has the decisions on what the network asked for on top. 404 where the network has not asked for a decision.',
      auth: ['key', 'agent'],
      scope: 'transactions.read',
      params: z.strictObject({ id: id('transaction') }),
      success: { status: 200, body: decisionOut },
      refusals: ['agent_isolation', 'not_found'],
    },
    allowTransactionOnce: {
      method: 'post',
      path: '/{id}/allow-once',
      summary: 'Let a declined charge pass once, when its merchant asks again',
      description: `Makes an approved intent for the agent, card and merchant of the charge, and up to its amount, that lives ${allowedOnceMinutes} minutes. It is used only where the rules decline the next attempt, and then lifts limits, lists, hours, a required intent and a required approval for one charge; the charge counts as spent like any other. It lifts neither the status of agent or card, nor a single use, an expired policy, an attestation, a refusal by risk, or a lack of money: where one of these would decline the charge nevertheless the answer is 403, with the rule and its figures. The merchant has to be the same in id, name, category and country. A call for a charge that was allowed before answers 200 with the first intent, in whatever state it is. 400 for what was not declined, for a decline that is more than ${allowOnceWithinMs / day} days old, for an account check, and for a charge that was made for an intent. \`POST /intents/{id}/cancel\` takes the permission back. A charge that it let pass uses it up, also if that charge is reversed; so does the declined charge itself, where the network approves or collects it nevertheless. It takes the place of the open intent that the charge was for, which is cancelled and whose attestation it inherits, and of an open request to a person about the same charge. Where such a request is approved already, and waits for the next attempt, the answer is 400.`,
      auth: ['key'],
      params: z.strictObject({ id: id('transaction') }),
      body: z.strictObject({}),
      success: { status: 201, body: intentOut, also: [200] },
      refusals: ['invalid_state', 'policy_denied', 'not_found'],
      fires: ['intent.created', 'intent.approved', 'intent.cancelled'],
    },
    updateTransaction: {
      method: 'patch',
      path: '/{id}',
      summary: 'Note something on a transaction',
      description: 'Only the memo changes; null removes it. Events do not repeat it: it may name people.',
      auth: ['key', 'agent'],
      scope: 'transactions.write',
      params: z.strictObject({ id: id('transaction') }),
      body: z.strictObject({ memo: prose(1_000).nullable() }),
      success: { status: 200, body: transactionOut },
      refusals: ['agent_isolation', 'not_found'],
      fires: ['transaction.updated'],
    },
    simulateTransaction: {
      method: 'post',
      path: '/simulate',
      summary: 'Have the simulated network charge a card. Sandbox deployments only',
      description:
        'The whole way of a payment: the network asks, all rules decide, an approved charge is held and cleared. 201 with the transaction, also when it was declined. `intentId` names the only intent that may pay for it. Omitted fields are taken from that intent, then from the sandbox shop. `outcome: decline` declines a charge that the rules would approve. 503 when the network is not reachable or has not answered within 10 s: repeat with the same Idempotency-Key.',
      auth: ['key'],
      sandboxOnly: true,
      body: z.strictObject({
        cardId: id('card'),
        intentId: id('intent').optional(),
        amountEuros: euros({ minCents: 1 }).optional(),
        merchant: text(140).optional(),
        mcc: mcc.default('5734'),
        country: country.default('DE'),
        outcome: z.enum(wantedOutcomes).default('approve'),
      }),
      success: { status: 201, body: transactionOut },
      refusals: ['invalid_state', 'not_found'],
      networkCalls: ['authorizeCardPayment', 'clearCardPayment'],
    },
  },
});
