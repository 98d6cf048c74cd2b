/** The intents operations as published. Wire shapes only; the rules live in intent.rules.ts. @module */
import * as z from 'zod';
import { defineArea } from '../../../http/route.ts';
import { euros, eurosOut, id, idOut, instantOut, pageOut, pageQuery, text } from '../../../http/schemas.ts';
import { intentStatuses } from './intent.rules.ts';

export const intentOut = z
  .object({
    id: idOut('intent'),
    ownerId: idOut('owner'),
    agentId: idOut('agent'),
    purpose: z.string(),
    expectedAmountEuros: eurosOut,
    expectedMerchant: z.string().nullable(),
    status: z.enum(intentStatuses),
    recurring: z.record(z.string(), z.unknown()).nullable(),
    expiresAt: instantOut,
    cardId: idOut('card'),
    policyCheck: z.object({ allowed: z.boolean(), requiresApproval: z.boolean(), reason: z.string().nullable() }),
    clientIntentId: z.string().nullable(),
    approvedBy: z.string().nullable(),
    approvedAt: instantOut.nullable(),
    deniedReason: z.string().nullable(),
    completedAt: instantOut.nullable(),
    matchedTransactionId: z.string().nullable(),
    transactionId: z.string().nullable(),
    attestedAt: instantOut.nullable(),
    verified: z.boolean(),
    createdAt: instantOut,
  })
  .meta({ id: 'Intent' });

export type IntentWire = z.infer<typeof intentOut>;

const declaration = z
  .strictObject({
    agentId: id('agent').optional(),
    purpose: text(500),
    expectedAmountEuros: euros().optional(),
    expectedAmount: euros().optional().meta({ deprecated: true }),
    expectedMerchant: text(200).optional(),
    clientIntentId: text(64).optional(),
    ttlMinutes: z.int().min(1).max(43_200).default(1_440),
    cardId: id('card').optional(),
    cardName: text(60).optional(),
  })
  .refine(
    (body) => !(body.cardId !== undefined && body.cardName !== undefined),
    'name the card by cardId or by cardName, not both',
  )
  .refine(
    (body) => (body.expectedAmountEuros === undefined) !== (body.expectedAmount === undefined),
    'give expectedAmountEuros (or its older name expectedAmount), once',
  );

export type DeclareBody = z.output<typeof declaration>;

const one = z.strictObject({ id: id('intent') });

export const intentsArea = defineArea({
  tag: 'Intents',
  base: '/intents',
  aliases: [],
  description: 'A planned payment, judged before money moves.',
  operations: {
    declareIntent: {
      method: 'post',
      path: '',
      summary: 'Declare what the agent wants to pay for; judged at once',
      description:
        'Answers 201 whatever the verdict: `approved`, `pending_approval` (a person decides until `expiresAt`) or `denied` with the rule and the figures in `policyCheck.reason`. The same `clientIntentId` of an agent answers 200 with the first intent.',
      auth: ['key', 'agent'],
      scope: 'intents.write',
      body: declaration,
      success: { status: 201, body: intentOut, also: [200] },
      refusals: [403, 404],
      fires: ['intent.created', 'intent.approved', 'intent.denied'],
    },
    listIntents: {
      method: 'get',
      path: '',
      summary: 'Intents, newest first',
      auth: ['key', 'agent'],
      scope: 'intents.read',
      query: z.strictObject({
        ...pageQuery,
        status: z.enum(intentStatuses).optional().describe('only intents in this state'),
        agentId: id('agent').optional(),
      }),
      success: { status: 200, body: pageOut(intentOut) },
      refusals: [403],
    },
    getIntent: {
      method: 'get',
      path: '/{id}',
      summary: 'One intent',
      auth: ['key', 'agent'],
      scope: 'intents.read',
      params: one,
      success: { status: 200, body: intentOut },
      refusals: [403, 404],
    },
    approveIntent: {
      method: 'post',
      path: '/{id}/approve',
      summary: 'Approve an intent that waits for a person',
      auth: ['key'],
      params: one,
      body: z.strictObject({}),
      success: {
        status: 200,
        body: z
          .object({ id: idOut('intent'), status: z.literal('approved'), approvedBy: z.string() })
          .meta({ id: 'IntentApproved' }),
      },
      refusals: [404, 503],
      fires: ['intent.approved'],
    },
    denyIntent: {
      method: 'post',
      path: '/{id}/deny',
      summary: 'Deny an intent that waits for a person',
      auth: ['key'],
      params: one,
      body: z.strictObject({ reason: text(500).optional() }),
      success: {
        status: 200,
        body: z.object({ id: idOut('intent'), status: z.literal('denied') }).meta({ id: 'IntentDenied' }),
      },
      refusals: [404],
      fires: ['intent.denied'],
    },
    cancelIntent: {
      method: 'post',
      path: '/{id}/cancel',
      summary: 'Cancel an intent that is not final',
      auth: ['key', 'agent'],
      scope: 'intents.write',
      params: one,
      body: z.strictObject({}),
      success: {
        status: 200,
        body: z.object({ id: idOut('intent'), status: z.literal('cancelled') }).meta({ id: 'IntentCancelled' }),
      },
      refusals: [403, 404],
      fires: ['intent.cancelled'],
    },
  },
});
