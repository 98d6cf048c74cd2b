/** The access event operations as published. Wire shapes only. @module */
import * as z from 'zod';
import { accessDecisions, accessKinds } from '../../../events/access.rules.ts';
import type { Received } from '../../../http/cents-names.ts';
import { defineArea } from '../../../http/route.ts';
import { euros, eurosOut, id, idOut, instantOut, pageOut, pageQuery, period, prose } from '../../../http/schemas.ts';
import { limits } from '../../../platform/limits.ts';
import { grantMinutes } from './access-event.rules.ts';

const kind = z.enum(accessKinds).meta({
  description:
    'What was accessed: the use of a card, its number, the personal data of the owner (deleted), or another secret.',
  examples: ['card_access'],
});
const decision = z.enum(accessDecisions).meta({ description: 'The decision.', examples: ['denied'] });

const accessEventOut = z
  .strictObject({
    id: idOut('accessEvent'),
    ownerId: idOut('owner'),
    agentId: idOut('agent').nullable(),
    cardId: idOut('card').nullable(),
    intentId: idOut('intent').nullable(),
    kind,
    decision,
    rule: z
      .string()
      .nullable()
      .meta({
        description: 'Code of the rule that decided; `within_rules` for a grant; null where no rule was evaluated.',
        examples: ['card_status'],
      }),
    reasons: z.array(z.string()).meta({
      description: 'Why access was denied, with figures; empty for a grant.',
      examples: [['the card is frozen']],
    }),
    purpose: z
      .string()
      .nullable()
      .meta({ description: 'What the access is for, in the words of the caller.', examples: ['a reference book'] }),
    reason: z
      .string()
      .nullable()
      .meta({ description: 'Why it is needed now, in the words of the caller.', examples: ['the shop asks again'] }),
    expectedAmountEuros: eurosOut
      .nullable()
      .meta({ description: 'The amount that was evaluated; null where none was named.', examples: [80] }),
    expiresAt: instantOut.nullable().meta({
      description: `When a grant ends, in business time: ${grantMinutes} minutes after it; null when denied.`,
    }),
    actor: z.string().meta({ description: 'Who asked.', examples: ['agent:ag_01kc1v9m3se7ttw5v1x0h2q8ab'] }),
    requestId: z
      .string()
      .meta({ description: 'X-Request-Id of the call.', examples: ['019aa3d1-5c1e-7d3a-9b41-0d8a5a0f4c11'] }),
    createdAt: instantOut.meta({ description: 'When it was decided, in business time.' }),
  })
  .meta({ id: 'AccessEvent', description: 'One access to a card or to a secret, granted or denied.' });
export type AccessEventWire = z.infer<typeof accessEventOut>;

const request = z.strictObject({
  intentId: id('intent')
    .optional()
    .meta({ description: 'The intent to pay for. Without it the amount alone is evaluated.' }),
  purpose: prose(500)
    .optional()
    .meta({ description: 'What the access is for.', examples: ['a reference book'] }),
  expectedAmount: euros()
    .optional()
    .meta({ description: 'Euros; absent: the amount of the intent, or nothing without one.', examples: [80] }),
  reason: prose(500)
    .optional()
    .meta({ description: 'Why it is needed now.', examples: ['the shop asks again'] }),
});
export type AccessRequest = Received<typeof request>;

export const accessEventsArea = defineArea({
  tag: 'Access Events',
  base: '',
  aliases: [],
  description: 'Requests for access to a card, and the record of each access to a card or to a secret.',
  operations: {
    requestCardAccess: {
      method: 'post',
      path: '/cards/{cardId}/access',
      summary: 'Request access to a card',
      description: `Evaluates agent, card, policy and intent by the rules of a payment and records the decision. 200 also when access is denied: \`reasons\` says why. What a person has to approve is denied until an approved intent is named. Merchant category and country are not known yet and are evaluated with the charge. A grant lasts ${grantMinutes} minutes of business time, reserves no money, and does not decide the charge. An agent may ask ${limits.access_requests.most} times a day.`,
      auth: ['key', 'agent'],
      scope: 'cards.write',
      params: z.strictObject({ cardId: id('card') }),
      body: request,
      success: { status: 200, body: accessEventOut },
      refusals: ['invalid_state', 'agent_isolation', 'not_found'],
      fires: ['access.granted', 'access.denied'],
    },
    listAccessEvents: {
      method: 'get',
      path: '/access-events',
      summary: 'Access events, newest first',
      auth: ['key', 'agent'],
      scope: 'access.read',
      reaches: { 'query.cardId': 'filter', 'query.agentId': 'filter' },
      query: z.strictObject({
        cardId: id('card').optional(),
        agentId: id('agent').optional(),
        decision: decision.optional(),
        kind: kind.optional(),
        ...period,
        ...pageQuery('accessEvent'),
      }),
      success: { status: 200, body: pageOut(accessEventOut) },
      refusals: ['agent_isolation'],
    },
    getAccessEvent: {
      method: 'get',
      path: '/access-events/{id}',
      summary: 'One access event',
      auth: ['key', 'agent'],
      scope: 'access.read',
      params: z.strictObject({ id: id('accessEvent') }),
      success: { status: 200, body: accessEventOut },
      refusals: ['agent_isolation', 'not_found'],
    },
  },
});
