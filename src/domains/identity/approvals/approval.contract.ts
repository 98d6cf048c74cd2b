/** The operations of an approver's link as published. Wire shapes only. @module */
import * as z from 'zod';
import { type Area, defineArea, type Operation } from '../../../http/route.ts';
import { euros, eurosOut, instantOut, prose } from '../../../http/schemas.ts';
import { challengeOut, webauthnAssertion } from '../../../http/webauthn.ts';
import { approvedWith } from './approval.rules.ts';

const factOut = z
  .strictObject({
    name: z.string().meta({ description: 'for programs, such as `merchant`', examples: ['merchant'] }),
    label: z.string().meta({ description: 'for people', examples: ['Where'] }),
    text: z.string().meta({ description: 'the value, for people', examples: ['Example Shop'] }),
    isQuoted: z.boolean().meta({ description: 'whether the agent chose these words', examples: [true] }),
  })
  .meta({ id: 'ApprovalFact', description: 'One thing that the approver has to know' });

const changeableOut = z
  .strictObject({
    name: z.string().meta({ description: 'the name in `changes`', examples: ['dailyLimitEuros'] }),
    label: z.string().meta({ description: 'for people', examples: ['Daily limit'] }),
    requestedEuros: eurosOut.nullable().meta({ description: 'as requested; null: not requested', examples: [100] }),
  })
  .meta({ id: 'ChangeableAmount', description: 'One amount that the approver may set' });

/** What an approver is asked for, and what is still shown after the decision. */
const terms = {
  agentName: z.string().meta({ description: 'the agent that asks', examples: ['Shopping agent'] }),
  amountEuros: eurosOut.nullable().meta({ description: 'null where no amount is asked for', examples: [80] }),
  maxChargeEuros: eurosOut.nullable().meta({
    description: 'the most that one charge may take, tolerance included; null once no further charge can come',
    examples: [84],
  }),
  cadence: z
    .enum(['daily', 'weekly', 'monthly', 'yearly'])
    .nullable()
    .meta({ description: 'set when one approval covers repeated payments of that amount', examples: ['monthly'] }),
  lastChargeOn: z
    .string()
    .nullable()
    .meta({
      description: 'the last day (UTC) on which a repeated payment can be charged; null for any other request',
      examples: ['2027-11-22'],
    }),
};

const requestOut = z
  .strictObject({
    ...terms,
    title: z.string().meta({ description: 'what the approver decides', examples: ['Approve a payment'] }),
    asks: z.string().meta({ description: 'what the agent asks for, after its name', examples: ['asks to spend'] }),
    purpose: z
      .string()
      .nullable()
      .meta({ description: 'in the words of the agent', examples: ['a reference book'] }),
    facts: z.array(factOut).meta({ description: 'what else the approver has to know, in the order of the page' }),
    changes: z.array(changeableOut).meta({ description: 'the amounts that the approver may set' }),
    rule: z
      .string()
      .nullable()
      .meta({
        description: 'the rule that requires a person, with its figures',
        examples: ['this agent may spend up to 50.00 EUR without asking: a person has to approve 80.00 EUR'],
      }),
    demandsPasskey: z
      .boolean()
      .meta({ description: 'whether the policy accepts no other approval', examples: [false] }),
    denies: z.string().meta({ description: 'the label of the button that denies', examples: ['Deny the payment'] }),
    decideBy: instantOut.meta({ description: 'when the request expires', examples: ['2026-11-23T12:00:00.000Z'] }),
  })
  .meta({ id: 'ApprovalRequest', description: 'What a person is asked' });

const decidedOut = z
  .strictObject({
    ...terms,
    facts: z.array(factOut).meta({ description: 'such as the shop or the payee, in the order of the page' }),
  })
  .meta({ id: 'DecidedRequest', description: 'What the decision was about.' });

export type ApprovalRequestWire = z.input<typeof requestOut>;

export const approvalOut = z
  .strictObject({
    kind: z.string().meta({ description: 'the kind of record, such as `intent`', examples: ['intent'] }),
    id: z.string().meta({ description: 'the id of the record', examples: ['int_01j9zx3c5v8h2k4m6n7p9qrstw'] }),
    status: z.string().meta({
      description: 'the status of the record, in the words of its area; `expired` from the deadline on',
      examples: ['pending_approval'],
    }),
    businessName: z
      .string()
      .nullable()
      .meta({ description: 'the business of the owner; null where the owner has named none', examples: ['Acme GmbH'] }),
    request: requestOut
      .nullable()
      .meta({ description: 'set while the record waits; afterwards `decided` says what it was about' }),
    decided: decidedOut.nullable().meta({
      description: 'amount, agent, and shop or payee of a request that no longer waits; null while it waits',
    }),
    passkey: z
      .strictObject({
        state: z.enum(['ready', 'none', 'blocked']),
        blockedUntil: instantOut.nullable().meta({ description: 'after the removal of the last passkey' }),
        origin: z.string().meta({ description: 'where the browser must be for the ceremony' }),
      })
      .nullable(),
    outcome: z
      .strictObject({
        at: instantOut,
        approvedWith: z
          .enum(approvedWith)
          .nullable()
          .meta({ description: 'the kind of approver; null where no person approved' }),
        approverName: z
          .string()
          .nullable()
          .meta({
            description: 'the name of the passkey that approved; null for any other approver',
            examples: ['Anna Berg'],
          }),
        title: z.string().meta({ description: 'for people', examples: ['Approved and paid'] }),
        verb: z.string().meta({ description: 'what happened, before the instant', examples: ['Paid'] }),
        meaning: z
          .string()
          .meta({ description: 'what follows from it, for people', examples: ['There is nothing left to decide.'] }),
        tone: z.enum(['good', 'bad', 'calm']).meta({ description: 'how a page shows it' }),
      })
      .nullable()
      .meta({ description: 'what became of the request; null while it waits' }),
    businessTime: z.string().nullable().meta({
      description: 'in a sandbox whose clock was moved: one sentence with the business time; null otherwise',
    }),
  })
  .meta({ id: 'Approval', description: 'What a person decides, or what became of it.' });

export type ApprovalWire = z.infer<typeof approvalOut>;

/** By name; which names there are, `request.changes` says. */
const changes = z
  .record(z.string().max(40), euros())
  .optional()
  .meta({
    description:
      'amounts that the approver sets instead of the requested ones; an amount that is left out stays as requested',
    examples: [{ dailyLimitEuros: 50 }],
  });

const one = z.strictObject({ token: z.string().max(128).meta({ description: 'the last part of the link' }) });

export const approvalsArea = defineArea({
  tag: 'Approvals',
  base: '/approve',
  aliases: [],
  description:
    'The page on which a person decides what an agent asks for. The link is a capability: it shows and denies, and approves only together with a passkey.',
  operations: {
    getApproval: {
      method: 'get',
      path: '/{token}',
      summary: 'What is asked, by whom and until when; a page for browsers',
      description:
        'A page where `Accept` prefers HTML, else JSON. While the record waits, `request` contains everything that the approver has to know; from the decision or the deadline on, `outcome` says what became of it, and `decided` keeps amount, agent and shop or payee. The agent’s own words are gone then.',
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
        'The challenge is good for this record at these amounts, for one answer, for five minutes. 400 when nothing is left to decide, no passkey is enrolled, or none may approve yet.',
      auth: ['public'],
      params: one,
      body: z.strictObject({ changes }),
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
        'The assertion answers a challenge of this link, made for the same `changes`. Approving what is approved already answers 200 again and changes nothing. 403 when a rule forbids the approval by now; 503 while Temporal is unavailable: request a new challenge then, because this one is used.',
      auth: ['public'],
      params: one,
      body: z.strictObject({ webauthnAssertion, changes }),
      success: { status: 200, body: approvalOut },
      refusals: ['invalid_state', 'policy_denied', 'not_found'],
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
    },
  },
});

/** The events of the operations that decide about a subject's records: a decision under a link fires the same. */
export type DecisionEvents = {
  readonly approve: NonNullable<Operation['fires']>;
  readonly deny: NonNullable<Operation['fires']>;
};

/** The approvals area with the events of all its subjects; every other area as it is. */
export function withDecisionEvents(area: Area, [first, ...others]: readonly DecisionEvents[]): Area {
  if (area !== approvalsArea || first === undefined) return area;
  const { approveByLink, denyByLink, ...operations } = approvalsArea.operations;
  const all = (decision: keyof DecisionEvents): DecisionEvents['approve'] => [
    ...first[decision],
    ...others.flatMap((subject) => subject[decision]),
  ];
  return {
    ...approvalsArea,
    operations: {
      ...operations,
      approveByLink: { ...approveByLink, fires: all('approve') },
      denyByLink: { ...denyByLink, fires: all('deny') },
    },
  };
}
