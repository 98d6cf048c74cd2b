/** The operations of machine payments as published. Wire shapes only. @module */
import * as z from 'zod';
import { defineArea } from '../../../http/route.ts';
import { eurosOut, id, idOut, instantOut, pageOut, pageQuery, prose } from '../../../http/schemas.ts';
import { exampleId } from '../../../kernel/ids.ts';
import { jsonBytes } from '../../../kernel/json-bytes.ts';
import { resolutions } from './mpp-payment.messages.ts';
import { mppPaymentStatuses } from './mpp-payment.rules.ts';

const statusOut = z.enum(mppPaymentStatuses).meta({
  description:
    '`accepted`: the merchant delivered, and the charge has not been seen; `unknown`: it is not known whether the merchant charged; `paid`, `declined`, `refused` (nothing was sent) and `not_paid` are final.',
  examples: ['paid'],
});

const bodyOut = z.record(z.string(), z.unknown()).meta({
  description:
    'The answer of the merchant: a JSON object as it is, other JSON as `{json}`, text as `{text, contentType}`, anything else as `{base64, contentType}`, and `{truncated: true, contentType, receivedBytes}` for more than 5 MiB.',
  examples: [{ report: 'paid content' }],
});

const receiptOut = z
  .strictObject({
    method: z.string().meta({ description: 'The payment method.', examples: ['card'] }),
    reference: z.string().meta({ description: 'The payment at the merchant.', examples: ['auth_90105999'] }),
    timestamp: z
      .string()
      .nullable()
      .meta({ description: 'When the merchant was paid, in its words.', examples: ['2026-11-20T07:17:04.112Z'] }),
    challengeId: z
      .string()
      .nullable()
      .meta({ description: 'The challenge that was paid.', examples: ['DNiAM9LG'] }),
    externalId: z
      .string()
      .nullable()
      .meta({ description: "The merchant's own order.", examples: ['order_1'] }),
  })
  .meta({
    id: 'MppReceipt',
    description: "A merchant's receipt, decoded. It is not signed: it completes the intent, and moves no money.",
  });

const paidOut = z
  .strictObject({
    credential_id: idOut('mppCredential'),
    merchant_status: z.int().meta({
      description: 'The HTTP status of the merchant; 0 where it gave no answer and the payment is settled.',
      examples: [200],
    }),
    receipt: z.string().meta({
      description: 'The `Payment-Receipt` as the merchant sent it (base64url); empty without one.',
      examples: ['eyJzdGF0dXMiOiJzdWNjZXNzIn0'],
    }),
    merchant_body: bodyOut,
    payment_id: idOut('mppPayment'),
    status: statusOut,
    transaction_id: z
      .string()
      .nullable()
      .meta({ description: 'The transaction; null while no charge has been seen.', examples: [null] }),
    reason: z
      .string()
      .nullable()
      .meta({ description: 'Why it was declined.', examples: [null] }),
  })
  .meta({ id: 'MppPayResult', description: 'The outcome of a machine payment.' });
export type PayWire = z.input<typeof paidOut>;

const paymentFields = {
  id: idOut('mppPayment'),
  ownerId: idOut('owner'),
  agentId: idOut('agent'),
  intentId: idOut('intent'),
  cardId: idOut('card'),
  url: z.string().meta({ description: 'The resource to pay for.', examples: ['https://api.shop.example/report'] }),
  tool: z
    .string()
    .nullable()
    .meta({ description: 'The tool of the MCP server at `url`; null where `url` itself is sold.', examples: [null] }),
  status: statusOut,
  amountEuros: eurosOut.nullable().meta({ description: 'The amount of the challenge; null until it is read.' }),
  currency: z
    .string()
    .nullable()
    .meta({ description: 'Always EUR; null until the challenge is read.', examples: ['EUR'] }),
  credentialId: z
    .string()
    .nullable()
    .meta({ description: 'The credential; null until it is minted.', examples: ['mppc_01kc1v9m3se7ttw5v1x0h2q8ab'] }),
  merchantStatus: z
    .int()
    .nullable()
    .meta({ description: 'The HTTP status of the merchant; null without an answer.', examples: [200] }),
  transactionId: z
    .string()
    .nullable()
    .meta({ description: 'The transaction; null while no charge has been seen.', examples: [null] }),
  reasonCode: z
    .string()
    .nullable()
    .meta({ description: 'Why it was refused or declined, for programs.', examples: ['challenge_amount'] }),
  reason: z
    .string()
    .nullable()
    .meta({ description: 'Why it was refused or declined, for people.', examples: [null] }),
  known: z
    .string()
    .meta({ description: 'What is known.', examples: ['The merchant answered 200, and the payment is settled.'] }),
  next: z
    .string()
    .meta({ description: 'What happens next.', examples: ['Nothing. The intent is completed by the clearing.'] }),
  createdAt: instantOut.meta({ description: 'When it was requested.' }),
  updatedAt: instantOut.meta({ description: 'When it changed last.' }),
};

const paymentOut = z
  .strictObject(paymentFields)
  .meta({ id: 'MppPayment', description: 'A payment for a resource that a merchant sells by HTTP 402.' });
export type MppPaymentWire = z.input<typeof paymentOut>;

const paymentDetailOut = z
  .strictObject({
    ...paymentFields,
    receipt: receiptOut.nullable().meta({
      description: 'The receipt; null without one, and for one that cannot be decoded or is for another challenge.',
    }),
    merchantBody: bodyOut
      .nullable()
      .meta({ description: 'The answer of the merchant; null without one, and after 24 hours.' }),
  })
  .meta({ id: 'MppPaymentDetail', description: 'A machine payment with the answer of the merchant.' });

export type MppPaymentDetailWire = z.input<typeof paymentDetailOut>;

/** Of the JSON of its arguments, in bytes. */
const longestArguments = 16_384;

const toolIn = z
  .strictObject({
    name: z
      .string()
      .regex(/^[A-Za-z0-9_./-]{1,128}$/, 'must be the name of a tool: letters, digits, _, -, . and /')
      .meta({ description: 'The tool, as its server lists it.', examples: ['report'] }),
    arguments: z
      .record(z.string(), z.unknown())
      .refine((given) => jsonBytes(given) <= longestArguments, `at most ${longestArguments} bytes of JSON`)
      .default({})
      .meta({ description: 'Its arguments.', examples: [{ year: 2026 }] }),
  })
  .meta({
    id: 'PaidToolCall',
    description:
      'For a tool of an MCP server (Streamable HTTP) that demands a payment: `url` is the address of the server, which is called without a payment first, and once with the credential.',
  });

const one = z.strictObject({ id: id('mppPayment') });

export const mppPaymentsArea = defineArea({
  tag: 'MPP',
  base: '/v1/mpp',
  aliases: [],
  description:
    'Machine payments (HTTP 402): pay for a resource with one credential for one approved intent, once, and find out how it went.',
  operations: {
    payAtMerchant: {
      method: 'post',
      path: '/pay',
      summary: 'Pay for a resource that a merchant sells by HTTP 402',
      description:
        'Requests the address, reads the payment challenge of the 402, compares amount, currency, payee and expiry with the intent and the rules, mints a credential, and presents it once. With `tool` the same is done with a tool of an MCP server: its challenges are read from the error -32042 or -32603 or from the metadata of its result, and the result is the merchant’s body. 200 when the merchant delivered or refused, or when the payment is settled; `status` says which. 400 and 403 before anything was sent: nothing was spent, and the intent stays approved. 503 when the outcome is not known within 30 s: `X-Service-Payment-Id` names the payment, and a repeat with the same Idempotency-Key finds it and never pays again. The body of the merchant is kept for 24 hours.',
      auth: ['key', 'agent'],
      scope: 'mpp.write',
      body: z
        .strictObject({
          url: z
            .url()
            .max(2_048)
            .meta({
              description: 'The resource; https. Redirects are followed before the payment, and never with it.',
              examples: ['https://api.shop.example/report'],
            }),
          intentId: id('intent').meta({ description: 'The approved intent that the payment is for.' }),
          cardId: id('card').meta({ description: 'The card of the intent.' }),
          tool: toolIn.optional(),
        })
        // A tool is the exception.
        .meta({
          examples: [
            { url: 'https://api.shop.example/report', intentId: exampleId('intent'), cardId: exampleId('card') },
          ],
        }),
      success: { status: 200, body: paidOut },
      answersFromRow: true,
      refusals: ['invalid_state', 'insufficient_funds', 'agent_isolation', 'policy_denied', 'not_found'],
      fires: [
        ...([
          'mpp.payment.created',
          'mpp.payment.updated',
          'mpp.credential.minted',
          'mpp.credential.consumed',
        ] as const),
        ...(['transaction.created', 'intent.completed', 'intent_window.completed'] as const),
      ],
      networkCalls: ['authorizeCardPayment', 'clearCardPayment'],
    },
    listMppPayments: {
      method: 'get',
      path: '/payments',
      summary: 'Machine payments, newest first',
      auth: ['key', 'agent'],
      scope: 'mpp.read',
      reaches: { 'query.agentId': 'filter', 'query.intentId': 'filter' },
      query: z.strictObject({
        ...pageQuery('mppPayment'),
        status: z
          .enum(mppPaymentStatuses)
          .optional()
          .meta({ description: 'Only payments in this state.', examples: ['unknown'] }),
        agentId: id('agent').optional().meta({ description: 'Only payments of this agent.' }),
        intentId: id('intent').optional().meta({ description: 'Only payments for this intent.' }),
      }),
      success: { status: 200, body: pageOut(paymentOut) },
      refusals: ['agent_isolation'],
    },
    getMppPayment: {
      method: 'get',
      path: '/payments/{id}',
      summary: 'One machine payment, with what is known about it and what happens next',
      auth: ['key', 'agent'],
      scope: 'mpp.read',
      params: one,
      success: { status: 200, body: paymentDetailOut },
      refusals: ['agent_isolation', 'not_found'],
    },
    resolveMppPayment: {
      method: 'post',
      path: '/payments/{id}/resolve',
      summary: 'Settle a payment whose outcome is unknown, as an operator who found it out',
      description:
        'Only for a payment that is `accepted` or `unknown`. `paid` completes its intent with a pending transaction, which the charge of the network is linked to; `not-paid` ends the payment, and the intent can be paid again. The intent stays what it is otherwise. A charge that the network approves later settles the payment as paid.',
      auth: ['dashboard'],
      params: one,
      body: z.strictObject({
        outcome: z.enum(resolutions).meta({ description: 'What the operator found out.', examples: ['not-paid'] }),
        reason: prose(500)
          .optional()
          .meta({
            description: 'How the operator found out; kept in the audit log.',
            examples: ['The merchant wrote so.'],
          }),
      }),
      success: { status: 200, body: paymentOut },
      refusals: ['invalid_state', 'not_found'],
      fires: [
        ...(['mpp.payment.resolved', 'mpp.credential.consumed', 'transaction.created'] as const),
        ...(['intent.completed', 'intent_window.completed'] as const),
        // What the close of the agent had left to the payment.
        ...(['intent.cancelled', 'intent_window.missed', 'mpp.credential.revoked'] as const),
      ],
    },
  },
});
