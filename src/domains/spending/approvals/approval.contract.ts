/** What a person does under an approver's link, as published. Wire shapes only. @module */
import * as z from 'zod';
import { defineArea } from '../../../http/route.ts';
import { eurosOut, idOut, instantOut, prose } from '../../../http/schemas.ts';
import { challengeOut, webauthnAssertion } from '../../../http/webauthn.ts';
import { intentStatuses } from '../intents/intent.rules.ts';
import { cadences } from '../intents/windows/recurrence.rules.ts';
import { approvedWith } from './approval.rules.ts';

export const approvalOut = z
  .object({
    intentId: idOut('intent'),
    status: z.enum(intentStatuses).meta({ description: '`expired` from the deadline on' }),
    request: z
      .object({
        agentName: z.string(),
        purpose: z.string(),
        amountEuros: eurosOut,
        maxChargeEuros: eurosOut.meta({ description: 'the most that one charge may take, tolerance included' }),
        cadence: z.enum(cadences).nullable().meta({ description: 'asked once for many payments of that amount' }),
        merchant: z.string().nullable(),
        rule: z.string().nullable().meta({ description: 'the rule that wants a person, with its figures' }),
        demandsPasskey: z.boolean().meta({ description: 'the policy takes no other approval' }),
        decideBy: instantOut,
      })
      .nullable()
      .meta({ description: 'only while it waits; afterwards the link tells the outcome alone' }),
    passkey: z
      .object({
        state: z.enum(['ready', 'none', 'blocked']),
        blockedUntil: instantOut.nullable().meta({ description: 'after the removal of the last passkey' }),
        origin: z.string().meta({ description: 'where the browser must be for the ceremony' }),
      })
      .nullable(),
    outcome: z
      .object({
        at: instantOut,
        approvedWith: z
          .enum(approvedWith)
          .nullable()
          .meta({ description: 'the kind of approver, without its name; null where nobody approved' }),
      })
      .nullable()
      .meta({ description: 'what became of it; null while it waits' }),
    businessTime: z.string().nullable().meta({
      description: 'in a sandbox whose clock was moved: one sentence with the business time; null otherwise',
    }),
  })
  .meta({ id: 'Approval' });

export type ApprovalWire = z.infer<typeof approvalOut>;

const one = z.strictObject({ token: z.string().max(128).meta({ description: 'the last part of the link' }) });

export const approvalsArea = defineArea({
  tag: 'Approvals',
  base: '/approve',
  aliases: [],
  description:
    'The page on which a person decides an intent. Its link is a capability: it shows and denies, and approves only together with a passkey.',
  operations: {
    getApproval: {
      method: 'get',
      path: '/{token}',
      summary: 'What is asked, by whom and until when; a page for browsers',
      description:
        'A page where `Accept` prefers HTML, else JSON. While the intent waits `request` says everything; from the decision or the deadline on only `outcome` is left.',
      auth: ['public'],
      params: one,
      success: { status: 200, body: approvalOut },
      refusals: ['not_found'],
      page: true,
    },
    createApprovalChallenge: {
      method: 'post',
      path: '/{token}/challenge',
      summary: 'Begin the approval: a challenge for one of the owner’s passkeys',
      description:
        'For this intent at this amount, once, for five minutes. 400 when nothing is left to decide, none is enrolled, or none may approve yet.',
      auth: ['public'],
      params: one,
      body: z.strictObject({}),
      success: {
        status: 200,
        body: challengeOut,
      },
      refusals: ['invalid_state', 'not_found'],
      pure: true,
    },
    approveByLink: {
      method: 'post',
      path: '/{token}',
      summary: 'Approve with a passkey',
      description:
        'The assertion is one for the challenge of this link. Approving what is approved already answers 200 again, and changes nothing. 403 when a rule forbids it by now; 503 while Temporal is away: take a new challenge then, because this one is used.',
      auth: ['public'],
      params: one,
      body: z.strictObject({ webauthnAssertion }),
      success: { status: 200, body: approvalOut },
      refusals: ['invalid_state', 'policy_denied', 'not_found'],
      fires: ['intent.approved', 'intent.attested'],
    },
    denyByLink: {
      method: 'post',
      path: '/{token}/deny',
      summary: 'Deny',
      description: 'Needs no passkey and no Temporal. Denying what is denied already answers 200 again.',
      auth: ['public'],
      params: one,
      body: z.strictObject({ reason: prose(500).optional() }),
      success: { status: 200, body: approvalOut },
      refusals: ['invalid_state', 'not_found'],
      fires: ['intent.denied'],
    },
  },
});
