/** The intents operations as published. Wire shapes only; the rules live in intent.rules.ts. @module */
import * as z from 'zod';
import { defineArea } from '../../../http/route.ts';
import { id, idOut, instantOut, pageOut, pageQuery, prose } from '../../../http/schemas.ts';
import { webauthnAssertion } from '../../../http/webauthn.ts';
import { intentStatuses } from './intent.rules.ts';
import { declaration, verification } from './intent-declaration.contract.ts';
import { approverGrammar, intentOut, intentWindowOut } from './intent-shapes.contract.ts';
import { windowCursor } from './windows/window.rules.ts';

const one = z.strictObject({ id: id('intent') });

export const intentsArea = defineArea({
  tag: 'Intents',
  base: '/intents',
  aliases: [],
  description: 'A planned payment, evaluated before money moves.',
  operations: {
    declareIntent: {
      method: 'post',
      path: '',
      reaches: {
        'body.agentId': {
          elsewhere: 'the declaration locks agent and card, and compares their owner, in its transaction',
        },
        'body.cardId': {
          elsewhere: 'the declaration locks agent and card, and compares their owner, in its transaction',
        },
      },
      summary: 'Declare what the agent wants to pay for; evaluated at once',
      description:
        'Answers 201 whatever the decision: `approved`, `pending_approval` (a person decides until `expiresAt`) or `denied` with the rule and the figures in `policyCheck.reason`. The same `clientIntentId` of an agent answers 200 with the first intent.',
      auth: ['key', 'agent'],
      scope: 'intents.write',
      body: declaration,
      success: { status: 201, body: intentOut, also: [200] },
      sealed: true,
      refusals: ['invalid_state', 'agent_isolation', 'policy_denied', 'not_found'],
      fires: ['intent.created', 'intent.approved', 'intent.denied'],
    },
    listIntents: {
      method: 'get',
      path: '',
      reaches: { 'query.agentId': 'filter' },
      summary: 'Intents, newest first',
      auth: ['key', 'agent'],
      scope: 'intents.read',
      query: z.strictObject({
        ...pageQuery('intent'),
        status: z.enum(intentStatuses).optional().describe('only intents in this state'),
        agentId: id('agent').optional(),
      }),
      success: { status: 200, body: pageOut(intentOut) },
      sealed: true,
      refusals: ['agent_isolation'],
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
      refusals: ['agent_isolation', 'not_found'],
    },
    listIntentWindows: {
      method: 'get',
      path: '/{id}/windows',
      summary: 'Windows of a recurring intent that were charged or are over, latest first',
      description: 'The one that is current or next is the `window` of the intent. Empty for an intent of one payment.',
      auth: ['key', 'agent'],
      scope: 'intents.read',
      params: one,
      query: z.strictObject(pageQuery(windowCursor.form, windowCursor.idOf(1))),
      success: { status: 200, body: pageOut(intentWindowOut) },
      refusals: ['agent_isolation', 'not_found'],
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
          .strictObject({
            intentId: idOut('intent'),
            verified: z.boolean(),
            mismatches: z.array(z.string()).meta({
              description: 'amount and merchant, in words with both figures; empty when everything fits',
            }),
            transactionsUpdated: z.int().meta({ description: 'how many transactions of it carry the finding now' }),
          })
          .meta({ id: 'IntentVerification', description: 'Whether the payment matched its declaration.' }),
      },
      refusals: ['invalid_state', 'agent_isolation', 'not_found'],
      fires: ['intent.verified', 'verification.mismatch', 'transaction.updated'],
    },
    approveIntent: {
      method: 'post',
      path: '/{id}/approve',
      summary: 'Approve an intent that waits for a person',
      description:
        'The rules are evaluated again. If one forbids the payment now, the answer is 403 and the intent still waits for approval. Where the policy demands attestation the body needs `webauthnAssertion`, made for a challenge of `POST /passkeys/intents/{intentId}/challenge`; the approval counts as the attestation. Approving an approved intent answers 200 with the first approver; after `expiresAt`: 400. 503 while Temporal is not reachable.',
      auth: ['key'],
      params: one,
      body: z.strictObject({ webauthnAssertion: webauthnAssertion.optional() }),
      success: {
        status: 200,
        body: z
          .strictObject({
            id: idOut('intent'),
            status: z.literal('approved'),
            approvedBy: z.string().meta({ description: approverGrammar }),
          })
          .meta({ id: 'ApprovedIntent', description: 'An intent that was approved.' }),
      },
      refusals: ['invalid_state', 'policy_denied', 'not_found'],
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
          .strictObject({ id: idOut('intent'), attestedAt: instantOut, validUntil: instantOut })
          .meta({ id: 'AttestedIntent', description: 'An intent that a passkey has signed.' }),
      },
      refusals: ['invalid_state', 'not_found'],
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
      body: z.strictObject({ reason: prose(500).optional() }),
      success: {
        status: 200,
        body: z
          .strictObject({ id: idOut('intent'), status: z.literal('denied') })
          .meta({ id: 'DeniedIntent', description: 'An intent that was denied.' }),
      },
      refusals: ['invalid_state', 'not_found'],
      fires: ['intent.denied'],
    },
    cancelIntent: {
      method: 'post',
      path: '/{id}/cancel',
      summary: 'Cancel an intent that is not final',
      description:
        'Needs no Temporal. Refused with 400 while a charge is paying for it; cancelling what is cancelled already answers 200 again. A recurring one ends, and what was charged for its windows runs its course. Credentials of machine payments that were minted for it and not used are revoked in the same transaction: an authorization that comes before keeps the intent from being cancelled, a later one is declined.',
      auth: ['key', 'agent'],
      scope: 'intents.write',
      params: one,
      body: z.strictObject({}),
      success: {
        status: 200,
        body: z
          .strictObject({ id: idOut('intent'), status: z.literal('cancelled') })
          .meta({ id: 'CancelledIntent', description: 'An intent that was cancelled.' }),
      },
      refusals: ['invalid_state', 'agent_isolation', 'not_found'],
      fires: ['intent.cancelled', 'intent_window.missed', 'mpp.credential.revoked'],
    },
  },
});
