/** The intents operations as published. Wire shapes only; the rules live in intent.rules.ts. @module */
import * as z from 'zod';
import { defineArea } from '../../../http/route.ts';
import { euros, eurosOut, id, idOut, instantOut, pageOut, pageQuery, text } from '../../../http/schemas.ts';
import { webauthnAssertion } from '../../../http/webauthn.ts';
import { intentStatuses } from './intent.rules.ts';
import { windowStatuses } from './intent-window.rules.ts';
import { cadences } from './recurrence.rules.ts';

const recurringOut = z.object({
  cadence: z.enum(cadences),
  windowStartDaysBefore: z.int(),
  windowEndDaysAfter: z.int(),
  amountTolerancePercent: z.number(),
  merchantMatch: z.boolean(),
});
const windowShape = {
  number: z.int().meta({ description: 'the first is 1' }),
  dueOn: z.string().meta({ format: 'date', description: 'the day it is due, in UTC' }),
  from: instantOut,
  to: instantOut.meta({ description: 'belongs to it no more' }),
};
const currentWindowOut = z.object(windowShape);
export type IntentWindowWire = z.infer<typeof currentWindowOut>;

const intentWindowOut = z
  .object({
    ...windowShape,
    intentId: idOut('intent'),
    status: z.enum(windowStatuses),
    transactionId: z.string().nullable(),
    completedAt: instantOut.nullable(),
  })
  .meta({ id: 'IntentWindow' });

const approverGrammar =
  'Who approved it: `policy`, `key:` with the id of the owner’s key, `passkey:` with the id of the passkey, `signal:` with what the approver typed';

export const intentOut = z
  .object({
    id: idOut('intent'),
    ownerId: idOut('owner'),
    agentId: idOut('agent'),
    purpose: z.string(),
    expectedAmountEuros: eurosOut,
    expectedMerchant: z.string().nullable(),
    status: z.enum(intentStatuses),
    recurring: recurringOut.nullable(),
    expiresAt: instantOut,
    cardId: idOut('card'),
    policyCheck: z
      .object({
        allowed: z.boolean(),
        requiresApproval: z.boolean(),
        reason: z
          .string()
          .nullable()
          .meta({ description: 'the rule with its figures; null where nothing stood against it' }),
      })
      .meta({ description: 'what the rules said when it was declared; it does not change afterwards' }),
    clientIntentId: z.string().nullable(),
    approvedBy: z
      .string()
      .nullable()
      .meta({
        description: `${approverGrammar}. null until it is approved`,
        examples: ['policy', 'key:key_…', 'passkey:psk_…', 'signal:anna'],
      }),
    approvedAt: instantOut.nullable(),
    deniedReason: z.string().nullable().meta({
      description:
        'of a denied one: the rule with its figures, or what the person gave as the reason; of a failed one: why its charge was declined; else null',
    }),
    completedAt: instantOut.nullable(),
    matchedTransactionId: z
      .string()
      .nullable()
      .meta({ description: 'what is paying for it now; of a recurring one its windows say it' }),
    transactionId: z.string().nullable().meta({ description: 'what paid for it; of a recurring one the last charge' }),
    attestedAt: instantOut.nullable().meta({
      description:
        'when a passkey last stood by it; null again when that passkey is removed before anything was charged',
    }),
    verified: z.boolean().meta({
      description: 'the last `POST /intents/{id}/verify` found that what was paid is what was declared',
    }),
    createdAt: instantOut,
    window: currentWindowOut.nullable().meta({
      description:
        'of an approved recurring one: the window that is current or next, and unpaid; those before are `GET /intents/{id}/windows`',
    }),
    mostEuros: eurosOut.nullable().meta({
      description: 'while it waits: the most that one charge may take, tolerance included; what approving it allows',
    }),
    approvalUrl: z
      .string()
      .nullable()
      .meta({ description: 'where a person decides it, while it waits; shown to the owner, never to an agent' }),
  })
  .meta({ id: 'Intent' });

export type IntentWire = z.infer<typeof intentOut>;
/** What also subscribers see: the link is a capability, and no event carries one; the most is of the moment. */
export type IntentFacts = Omit<IntentWire, 'approvalUrl' | 'mostEuros'>;

const dayInMinutes = 1_440;
const longestTtlMinutes = { one: 30 * dayInMinutes, recurring: 5 * 366 * dayInMinutes };
const defaultTtlMinutes = { one: dayInMinutes, recurring: 366 * dayInMinutes };
/** As many minutes, and how many days that is. */
const inMinutes = (minutes: number): string => `${minutes} (${minutes / dayInMinutes} d)`;
const halfYearInDays = 182;

const recurring = z
  .strictObject({
    cadence: z.enum(cadences),
    windowStartDaysBefore: z.int().min(0).max(halfYearInDays).default(3),
    windowEndDaysAfter: z.int().min(0).max(halfYearInDays).default(2),
    amountTolerancePercent: z.number().min(0).max(100).default(10).meta({
      description: 'how far above the amount a charge may be; bounded by the policy’s, where that names one',
    }),
    merchantMatch: z.boolean().default(true).meta({ description: 'false: by whichever merchant' }),
  })
  .meta({
    description:
      'Charged once in each window: whole UTC days around a due day. The first due day is that of the approval, and that window begins with it; months without that day have their last one. A day that two windows want belongs to the nearer due day, in a tie to the earlier one.',
  });

const declaration = z
  .strictObject({
    agentId: id('agent').optional(),
    purpose: text(500),
    expectedAmountEuros: euros().optional(),
    expectedAmount: euros().optional().meta({ deprecated: true }),
    expectedMerchant: text(200).optional(),
    clientIntentId: text(64).optional(),
    ttlMinutes: z
      .int()
      .min(1)
      .max(longestTtlMinutes.recurring)
      .optional()
      .meta({
        description: `until when it stands: for one payment at most ${inMinutes(longestTtlMinutes.one)}, if not given ${inMinutes(defaultTtlMinutes.one)}; recurring at most ${inMinutes(longestTtlMinutes.recurring)}, if not given ${inMinutes(defaultTtlMinutes.recurring)}`,
      }),
    recurring: recurring.optional(),
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
  )
  .refine(({ ttlMinutes = 1, recurring: again }) => again !== undefined || ttlMinutes <= longestTtlMinutes.one, {
    path: ['ttlMinutes'],
    message: `must be at most ${inMinutes(longestTtlMinutes.one)} for an intent that is not recurring`,
  })
  .meta({ oneOf: [{ required: ['expectedAmountEuros'] }, { required: ['expectedAmount'] }] })
  .transform(({ ttlMinutes, ...body }) => ({
    ...body,
    ttlMinutes: ttlMinutes ?? defaultTtlMinutes[body.recurring === undefined ? 'one' : 'recurring'],
  }));

export type DeclareBody = z.output<typeof declaration>;

const verification = z
  .strictObject({ actualAmountEuros: euros().optional(), actualMerchant: text(200).optional() })
  .refine(
    ({ actualAmountEuros, actualMerchant }) => actualAmountEuros !== undefined || actualMerchant !== undefined,
    'give actualAmountEuros, actualMerchant or both',
  )
  .meta({ minProperties: 1 });

export type VerifyBody = z.output<typeof verification>;

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
      sealed: true,
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
      sealed: true,
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
      sealed: true,
      refusals: [403, 404],
    },
    listIntentWindows: {
      method: 'get',
      path: '/{id}/windows',
      summary: 'Windows of a recurring intent that were charged or are over, latest first',
      description: 'The one that is current or next is the `window` of the intent. Empty for an intent of one payment.',
      auth: ['key', 'agent'],
      scope: 'intents.read',
      params: one,
      query: z.strictObject({ ...pageQuery }),
      success: { status: 200, body: pageOut(intentWindowOut) },
      refusals: [403, 404],
    },
    verifyIntent: {
      method: 'post',
      path: '/{id}/verify',
      summary: 'Compare what was really paid with what was declared',
      description:
        'For a completed intent, and for the last completed window of a recurring one. An amount fits within the tolerance of the policy (of the intent, where it is recurring, bounded by the policy’s) in both directions; a merchant fits when it is the same in another spelling. Marks the transactions; `verification.mismatch` tells what does not fit.',
      auth: ['key', 'agent'],
      scope: 'intents.write',
      params: one,
      body: verification,
      success: {
        status: 200,
        body: z
          .object({
            intentId: idOut('intent'),
            verified: z.boolean(),
            mismatches: z.array(z.string()).meta({
              description: 'amount and merchant, in words with both figures; empty when everything fits',
            }),
            transactionsUpdated: z.int().meta({ description: 'how many transactions of it carry the finding now' }),
          })
          .meta({ id: 'IntentVerified' }),
      },
      refusals: [403, 404],
      fires: ['intent.verified', 'verification.mismatch', 'transaction.updated'],
    },
    approveIntent: {
      method: 'post',
      path: '/{id}/approve',
      summary: 'Approve an intent that waits for a person',
      description:
        'The rules are judged once more: what one forbids by now is 403, and the intent goes on waiting. Where the policy demands attestation it takes `webauthnAssertion`, made for a challenge of `POST /passkeys/intents/{intentId}/challenge`; the approval counts as the attestation. Approving what is approved already answers 200 with the first approver; after `expiresAt`: 400. 503 while Temporal is away.',
      auth: ['key'],
      params: one,
      body: z.strictObject({ webauthnAssertion: webauthnAssertion.optional() }),
      success: {
        status: 200,
        body: z
          .object({
            id: idOut('intent'),
            status: z.literal('approved'),
            approvedBy: z.string().meta({ description: approverGrammar }),
          })
          .meta({ id: 'IntentApproved' }),
      },
      refusals: [403, 404, 503],
      fires: ['intent.approved', 'intent.attested'],
    },
    attestIntent: {
      method: 'post',
      path: '/{id}/attest',
      summary: 'Stand by an open intent with a passkey',
      description:
        'What `requireAttestation` of a policy asks of each charge: the charge passes until `validUntil`. Takes an assertion made for a challenge of `POST /passkeys/intents/{intentId}/challenge`.',
      auth: ['key'],
      params: one,
      body: z.strictObject({ webauthnAssertion }),
      success: {
        status: 200,
        body: z
          .object({ id: idOut('intent'), attestedAt: instantOut, validUntil: instantOut })
          .meta({ id: 'IntentAttested' }),
      },
      refusals: [404],
      fires: ['intent.attested'],
    },
    denyIntent: {
      method: 'post',
      path: '/{id}/deny',
      summary: 'Deny an intent that waits for a person',
      description:
        'Final, and needs no Temporal. Denying what is denied already answers 200 again; what is approved can be cancelled.',
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
      description:
        'Needs no Temporal. Refused with 400 while a charge is paying for it; cancelling what is cancelled already answers 200 again. A recurring one ends, and what was charged for its windows runs its course.',
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
