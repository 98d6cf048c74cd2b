/** The card operations as published. Wire shapes only; the rules live in card.rules.ts. @module */
import * as z from 'zod';
import { defineArea } from '../../../http/route.ts';
import { euros, id, pageOut, pageQuery, prose, text } from '../../../http/schemas.ts';
import { cardStatuses, cardUsages } from './card.rules.ts';
import { cardOut, cardPolicyOut, cardRotatedOut, cardStatusOut } from './card-shapes.contract.ts';

const one = z.strictObject({ cardId: id('card') });
const ofAgent = z.strictObject({ agentId: id('agent') });
const nothing = z.strictObject({});

const command = {
  method: 'post',
  auth: ['key'],
  body: nothing,
  success: { status: 200, body: cardStatusOut },
  refusals: ['not_found'],
} as const;

const rotation = {
  method: 'post',
  auth: ['key'],
  body: nothing,
  success: { status: 200, body: cardRotatedOut },
  refusals: ['not_found'],
  fires: ['card.rotated', 'card.issued', 'card.activated', 'card.frozen', 'card.closed', 'transaction.updated'],
  description:
    'A new card with another number replaces it, with the same usage, name, limits and state; earlier spending still counts against the limits. Open intents move to the new card; holds of the old card are collected from it. Answers when the processor has issued the card, within 10 s; a 503 may still take effect: repeat with the same Idempotency-Key.',
} as const;

const revokingDescription =
  'Charges are declined from the commit on, also with Temporal and the processor away. Freezing a frozen card is 200 without an event; a closed card is 400.';
const thaw =
  'Refused with 400 for a card that is active or closed, and while its agent is not active: unfreeze the agent, and with it what was frozen with it.';
const closing =
  'Charges are declined from the commit on, also with Temporal and the processor away; what the card holds is still collected or given back. Closing what is closed already is 200 without an event.';

/** Of one limit: null clears it, left out it stays. */
const limit = euros().nullable().optional();

export const cardsArea = defineArea({
  tag: 'Cards',
  base: '/cards',
  aliases: [],
  description: 'Virtual cards of agents. A record never shows the number.',
  operations: {
    listCards: {
      method: 'get',
      path: '',
      reaches: { 'query.agentId': 'filter' },
      summary: 'Cards, newest first',
      auth: ['key'],
      query: z.strictObject({
        ...pageQuery('card'),
        agentId: id('agent').optional(),
        status: z.enum(cardStatuses).optional().describe('only cards in this state'),
      }),
      success: { status: 200, body: pageOut(cardOut) },
      refusals: [],
    },
    listAgentCards: {
      method: 'get',
      path: '/agent/{agentId}',
      summary: "An agent's cards, oldest first",
      auth: ['key', 'agent'],
      scope: 'cards.read',
      params: ofAgent,
      unpaged: 'the specification has an array; closed cards stay in it',
      success: { status: 200, body: z.array(cardOut) },
      refusals: ['agent_isolation', 'not_found'],
    },
    issueAgentCard: {
      method: 'post',
      path: '/agent/{agentId}',
      summary: 'Issue a further card to an agent',
      description:
        'Answers when the processor has issued the card, within 10 s; a 503 may still take effect: repeat with the same Idempotency-Key.',
      auth: ['key'],
      params: ofAgent,
      body: z.strictObject({
        usage: z.enum(cardUsages),
        purpose: prose(500),
        name: text(60).optional(),
        displayName: text(120).optional(),
        maxTransactionEuros: euros().optional(),
        dailyLimitEuros: euros().optional(),
        monthlyLimitEuros: euros().optional(),
      }),
      success: { status: 201, body: cardOut },
      refusals: ['invalid_state', 'plan_limit_exceeded', 'not_found'],
      fires: ['card.issued', 'card.activated', 'card.frozen'],
    },
    freezePrimaryCard: {
      ...command,
      path: '/agent/{agentId}/freeze',
      refusals: ['invalid_state', 'not_found'],
      params: ofAgent,
      summary: "Freeze an agent's primary card",
      description: revokingDescription,
      fires: ['card.frozen'],
    },
    unfreezePrimaryCard: {
      ...command,
      path: '/agent/{agentId}/unfreeze',
      refusals: ['invalid_state', 'not_found'],
      params: ofAgent,
      summary: "Unfreeze an agent's primary card",
      description: thaw,
      fires: ['card.unfrozen'],
    },
    closePrimaryCard: {
      ...command,
      path: '/agent/{agentId}/close',
      params: ofAgent,
      summary: "Close an agent's primary card for good",
      description: `${closing} Its other cards go on; the next one that is issued takes its place.`,
      fires: ['card.closed'],
    },
    getCard: {
      method: 'get',
      path: '/{cardId}',
      summary: 'One card',
      auth: ['key', 'agent'],
      scope: 'cards.read',
      params: one,
      success: { status: 200, body: cardOut },
      refusals: ['agent_isolation', 'not_found'],
    },
    updateCard: {
      method: 'patch',
      path: '/{cardId}',
      summary: 'Rename a card',
      description:
        'A name is unique among the cards of an agent that are not closed: another one is 400, and so is a closed card.',
      auth: ['key'],
      params: one,
      body: z
        .strictObject({ name: text(60).optional(), displayName: text(120).nullable().optional() })
        .refine((body) => body.name !== undefined || body.displayName !== undefined, 'give name or displayName')
        .meta({ minProperties: 1 }),
      success: { status: 200, body: cardOut },
      refusals: ['invalid_state', 'not_found'],
      fires: ['card.details_changed'],
    },
    updateCardLimits: {
      method: 'put',
      path: '/{cardId}/limits',
      summary: "Set a card's own limits",
      description:
        'They count together with the policy, the narrower wins. Null clears a limit; at least one is named.',
      auth: ['key'],
      params: one,
      body: z
        .strictObject({ maxAmountPerTransaction: limit, dailyLimitEuros: limit, monthlyLimitEuros: limit })
        .refine(
          (body) => Object.values(body).some((value) => value !== undefined),
          'give maxAmountPerTransaction, dailyLimitEuros or monthlyLimitEuros',
        )
        .meta({ minProperties: 1 }),
      success: { status: 200, body: cardOut },
      refusals: ['invalid_state', 'not_found'],
      fires: ['card.limits_changed'],
    },
    getCardPolicy: {
      method: 'get',
      path: '/{cardId}/policy',
      summary: 'What a card may still spend: its limits and the policy together, the narrower of each',
      auth: ['key', 'agent'],
      scope: 'cards.read',
      params: one,
      success: { status: 200, body: cardPolicyOut },
      refusals: ['agent_isolation', 'not_found'],
    },
    rotatePrimaryCard: {
      ...rotation,
      path: '/agent/{agentId}/rotate',
      refusals: ['invalid_state', 'not_found'],
      params: ofAgent,
      summary: "Give an agent's primary card a new number",
    },
    rotateCard: {
      ...rotation,
      path: '/{cardId}/rotate',
      refusals: ['invalid_state', 'not_found'],
      params: one,
      summary: 'Give a card a new number',
    },
    freezeCard: {
      ...command,
      path: '/{cardId}/freeze',
      refusals: ['invalid_state', 'not_found'],
      params: one,
      summary: 'Freeze a card',
      description: revokingDescription,
      fires: ['card.frozen'],
    },
    unfreezeCard: {
      ...command,
      path: '/{cardId}/unfreeze',
      refusals: ['invalid_state', 'not_found'],
      params: one,
      summary: 'Unfreeze a card',
      description: thaw,
      fires: ['card.unfrozen'],
    },
    closeCard: {
      ...command,
      path: '/{cardId}/close',
      params: one,
      summary: 'Close a card for good',
      description: closing,
      fires: ['card.closed'],
    },
  },
});
