/** The card request operations as published. Wire shapes only; the rules live in card-request.rules.ts. @module */
import * as z from 'zod';
import type { Received } from '../../../http/cents-names.ts';
import { defineArea } from '../../../http/route.ts';
import { euros, eurosOut, id, idOut, instantOut, pageOut, pageQuery, prose, text } from '../../../http/schemas.ts';
import { limits as recordLimits } from '../../../platform/limits.ts';
import { cardUsages } from '../cards/card.rules.ts';
import { cardRequestStatuses, cardRequestTypes } from './card-request.rules.ts';

const limitsOut = {
  maxTransactionEuros: eurosOut
    .nullable()
    .meta({ description: 'The most that one payment may take; null is no limit of the card.', examples: [50] }),
  dailyLimitEuros: eurosOut
    .nullable()
    .meta({ description: 'The limit of a UTC day; null is no limit of the card.', examples: [100] }),
  monthlyLimitEuros: eurosOut
    .nullable()
    .meta({ description: 'The limit of a UTC month; null is no limit of the card.', examples: [1000] }),
};

const requestedOut = z
  .strictObject({
    usage: z
      .enum(cardUsages)
      .nullable()
      .meta({ description: 'Of a new card.', examples: ['multi'] }),
    purpose: z
      .string()
      .nullable()
      .meta({ description: 'What the new card is for.', examples: ['cloud hosting'] }),
    displayName: z
      .string()
      .nullable()
      .meta({ description: 'What people call the new card.', examples: ['Hosting'] }),
    ...limitsOut,
  })
  .meta({ id: 'CardRequestTerms', description: 'What the agent requested.' });

const grantedOut = z
  .strictObject(limitsOut)
  .meta({ id: 'CardRequestGrant', description: 'The limits that the approval granted.' });

const cardRequestOut = z
  .strictObject({
    id: idOut('cardRequest'),
    ownerId: idOut('owner'),
    agentId: idOut('agent'),
    type: z.enum(cardRequestTypes).meta({ description: 'What is requested.', examples: ['new_card'] }),
    cardId: idOut('card').nullable().meta({
      description: 'The card to change. Of a new card: null until the approval, then the id of the card.',
    }),
    status: z.enum(cardRequestStatuses).meta({
      description: 'The state of the request; `expired` from `expiresAt` on.',
      examples: ['pending'],
    }),
    reason: z
      .string()
      .nullable()
      .meta({ description: 'Why the agent requests it, in its own words.', examples: ['The plan was upgraded.'] }),
    requested: requestedOut,
    granted: grantedOut
      .nullable()
      .meta({ description: 'Set by the approval: the requested limits, with the changes of the approver.' }),
    decidedBy: z
      .string()
      .nullable()
      .meta({
        description: 'The caller who approved, denied or cancelled; `deadline` where the request expired.',
        examples: ['passkey:psk_01kc1v9m3se7ttw5v1x0h2q8ab'],
      }),
    decisionReason: z
      .string()
      .nullable()
      .meta({ description: 'Given with a denial.', examples: ['Use the card that you have.'] }),
    decidedAt: instantOut.nullable().meta({ description: 'When the request reached its final state.' }),
    remindedAt: instantOut.nullable().meta({ description: 'When the owner was reminded.' }),
    expiresAt: instantOut.meta({ description: 'Until when a person may decide.' }),
    approvalUrl: z
      .string()
      .nullable()
      .meta({
        description:
          "The link to the approver's page while the request is pending. A capability: keep it secret. Null for agent tokens.",
        examples: ['https://bursar.example/approve/6f1d2c3b4a5968778695a4b3c2d1e0f9'],
      }),
    createdAt: instantOut,
  })
  .meta({ id: 'CardRequest', description: 'A request of an agent for a card, or for other limits of a card.' });
export type CardRequestWire = z.input<typeof cardRequestOut>;

const agentId = id('agent')
  .optional()
  .meta({ description: "The agent; with an agent token by default the token's agent." });
const reason = prose(500)
  .optional()
  .meta({ description: 'Why, for the person who decides.', examples: ['The plan was upgraded.'] });
const limits = {
  maxTransactionEuros: euros()
    .optional()
    .meta({ description: 'The most that one payment may take.', examples: [50] }),
  dailyLimitEuros: euros()
    .optional()
    .meta({ description: 'The limit of a UTC day.', examples: [100] }),
  monthlyLimitEuros: euros()
    .optional()
    .meta({ description: 'The limit of a UTC month.', examples: [1000] }),
};

const newCard = z
  .strictObject({
    type: z.literal('new_card').meta({ description: 'A further card.' }),
    agentId,
    usage: z.enum(cardUsages).meta({ description: 'For one payment or for many.', examples: ['multi'] }),
    purpose: prose(500).meta({ description: 'What the card is for.', examples: ['cloud hosting'] }),
    displayName: text(120)
      .optional()
      .meta({ description: 'What people call the card.', examples: ['Hosting'] }),
    ...limits,
    reason,
  })
  .meta({ id: 'NewCardRequestInput', description: 'A request for a further card.' });

const limitChange = z
  .strictObject({
    type: z.literal('limit_change').meta({ description: 'Other limits of a card.' }),
    agentId,
    cardId: id('card').meta({ description: 'The card to change.' }),
    ...limits,
    reason,
  })
  .refine(
    (body) => [body.maxTransactionEuros, body.dailyLimitEuros, body.monthlyLimitEuros].some((one) => one !== undefined),
    'give maxTransactionEuros, dailyLimitEuros or monthlyLimitEuros',
  )
  .meta({
    id: 'LimitChangeRequestInput',
    description: 'A request for other limits of a card; it names at least one limit.',
    minProperties: 3,
  });

const creation = z.discriminatedUnion('type', [newCard, limitChange]);
export type CardRequestBody = Received<typeof creation>;

const one = z.strictObject({ id: id('cardRequest') });

export const cardRequestsArea = defineArea({
  tag: 'Card Requests',
  base: '/card-requests',
  aliases: [],
  description: 'An agent requests a card, or other limits of a card; a person decides within 72 hours.',
  operations: {
    createCardRequest: {
      method: 'post',
      path: '',
      summary: 'Request a card, or other limits of a card',
      description: `A person decides until \`expiresAt\`, 72 hours later: with \`POST /card-requests/{id}/approve\`, on the approver's page, or by a signal to the workflow. The owner is reminded after 36 hours. An agent may have ${recordLimits.card_requests.most} pending requests.`,
      auth: ['key', 'agent'],
      scope: 'cards.write',
      reaches: { 'body.cardId': { elsewhere: 'the service locks the card among the cards of the agent' } },
      body: creation,
      success: { status: 201, body: cardRequestOut },
      sealed: true,
      refusals: ['invalid_state', 'agent_isolation', 'not_found'],
      fires: ['card_request.created', 'card_limit_request.updated'],
    },
    listCardRequests: {
      method: 'get',
      path: '',
      summary: 'Card requests, newest first',
      auth: ['key', 'agent'],
      scope: 'cards.read',
      reaches: { 'query.agentId': 'filter' },
      query: z.strictObject({
        ...pageQuery('cardRequest'),
        status: z
          .enum(cardRequestStatuses)
          .optional()
          .meta({ description: 'Only requests in this state.', examples: ['pending'] }),
        type: z
          .enum(cardRequestTypes)
          .optional()
          .meta({ description: 'Only requests of this type.', examples: ['new_card'] }),
        agentId: id('agent').optional().meta({ description: 'Only requests of this agent.' }),
      }),
      success: { status: 200, body: pageOut(cardRequestOut) },
      refusals: ['agent_isolation'],
    },
    getCardRequest: {
      method: 'get',
      path: '/{id}',
      summary: 'One card request',
      auth: ['key', 'agent'],
      scope: 'cards.read',
      params: one,
      success: { status: 200, body: cardRequestOut },
      refusals: ['agent_isolation', 'not_found'],
    },
    approveCardRequest: {
      method: 'post',
      path: '/{id}/approve',
      summary: 'Approve a card request, with other limits where given',
      description:
        'Issues the card or changes the limits of the card. Answers when the processor has issued a new card, within 10 s; a 503 may still take effect: repeat with the same Idempotency-Key. Approving what is approved already answers 200 again and changes nothing.',
      auth: ['key'],
      params: one,
      body: z.strictObject(limits),
      success: { status: 200, body: cardRequestOut },
      refusals: ['invalid_state', 'plan_limit_exceeded', 'not_found'],
      fires: [
        'card_request.decided',
        'card_limit_request.updated',
        'card.issued',
        'card.activated',
        'card.frozen',
        'card.limits_changed',
      ],
    },
    denyCardRequest: {
      method: 'post',
      path: '/{id}/deny',
      summary: 'Deny a card request',
      description: 'Works while Temporal is unavailable. Denying what is denied already answers 200 without an event.',
      auth: ['key'],
      params: one,
      body: z.strictObject({
        reason: prose(500)
          .optional()
          .meta({ description: 'Why; the agent can read it.', examples: ['Use the card that you have.'] }),
      }),
      success: { status: 200, body: cardRequestOut },
      refusals: ['invalid_state', 'not_found'],
      fires: ['card_request.decided', 'card_limit_request.updated'],
    },
    cancelCardRequest: {
      method: 'post',
      path: '/{id}/cancel',
      summary: 'Withdraw a card request',
      description:
        'Works while Temporal is unavailable. Cancelling what is cancelled already answers 200 without an event.',
      auth: ['key', 'agent'],
      scope: 'cards.write',
      params: one,
      body: z.strictObject({}),
      success: { status: 200, body: cardRequestOut },
      refusals: ['invalid_state', 'agent_isolation', 'not_found'],
      fires: ['card_request.decided', 'card_limit_request.updated'],
    },
  },
});
