/** The card operations as published. Wire shapes only; the rules live in card.rules.ts. @module */
import * as z from 'zod';
import { defineArea } from '../../../http/route.ts';
import { euros, eurosOut, id, idOut, instantOut, pageOut, pageQuery, text } from '../../../http/schemas.ts';
import { cardStatuses, cardUsages } from './card.rules.ts';

export const cardOut = z
  .object({
    id: idOut('card'),
    ownerId: idOut('owner'),
    agentId: idOut('agent'),
    agentName: z.string(),
    name: z.string(),
    displayName: z.string().nullable(),
    purpose: z.string().nullable(),
    scope: z.string().nullable(),
    last4: z.string(),
    brand: z.string(),
    expiryMonth: z.int(),
    expiryYear: z.int(),
    status: z.enum(cardStatuses),
    frozenBy: z.enum(['card', 'agent', 'policy']).nullable(),
    usage: z.enum(cardUsages),
    isPrimary: z.boolean(),
    spendLimitEuros: eurosOut.nullable().meta({ deprecated: true, description: 'the same as maxTransactionEuros' }),
    maxTransactionEuros: eurosOut.nullable(),
    dailyLimitEuros: eurosOut.nullable(),
    monthlyLimitEuros: eurosOut.nullable(),
    walletBalanceEuros: eurosOut.meta({ description: "available in the wallet of the card's agent" }),
    cardRef: z.string().optional().meta({ description: "sandbox only: the processor's reference, not a number" }),
    createdAt: instantOut,
    closedAt: instantOut.nullable(),
  })
  .meta({ id: 'Card' });
export type CardWire = z.infer<typeof cardOut>;

const cardStatusOut = z
  .object({ cardId: idOut('card'), status: z.enum(cardStatuses), last4: z.string() })
  .meta({ id: 'CardStatus' });

const one = z.strictObject({ cardId: id('card') });
const ofAgent = z.strictObject({ agentId: id('agent') });
const nothing = z.strictObject({});

const command = {
  method: 'post',
  auth: ['key'],
  body: nothing,
  success: { status: 200, body: cardStatusOut },
  refusals: [400, 403, 404],
} as const;

export const cardsArea = defineArea({
  tag: 'Cards',
  base: '/cards',
  aliases: [],
  description: 'Virtual cards of agents. A record never shows the number.',
  operations: {
    listCards: {
      method: 'get',
      path: '',
      summary: 'Cards, newest first',
      auth: ['key'],
      query: z.strictObject({
        ...pageQuery,
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
      success: { status: 200, body: z.array(cardOut) },
      refusals: [403, 404],
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
        purpose: text(500),
        name: text(60).optional(),
        displayName: text(120).optional(),
        maxTransactionEuros: euros().optional(),
        dailyLimitEuros: euros().optional(),
        monthlyLimitEuros: euros().optional(),
      }),
      success: { status: 201, body: cardOut },
      refusals: [400, 403, 404, 503],
      fires: ['card.issued', 'card.activated'],
    },
    freezePrimaryCard: {
      ...command,
      path: '/agent/{agentId}/freeze',
      params: ofAgent,
      summary: "Freeze an agent's primary card",
      fires: ['card.frozen'],
    },
    unfreezePrimaryCard: {
      ...command,
      path: '/agent/{agentId}/unfreeze',
      params: ofAgent,
      summary: "Unfreeze an agent's primary card",
      fires: ['card.unfrozen'],
    },
    closePrimaryCard: {
      ...command,
      path: '/agent/{agentId}/close',
      params: ofAgent,
      summary: "Close an agent's primary card for good",
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
      refusals: [403, 404],
    },
    freezeCard: {
      ...command,
      path: '/{cardId}/freeze',
      params: one,
      summary: 'Freeze a card',
      fires: ['card.frozen'],
    },
    unfreezeCard: {
      ...command,
      path: '/{cardId}/unfreeze',
      params: one,
      summary: 'Unfreeze a card',
      description: 'Refused for a card that was frozen with its agent: unfreeze the agent.',
      fires: ['card.unfrozen'],
    },
    closeCard: {
      ...command,
      path: '/{cardId}/close',
      params: one,
      summary: 'Close a card for good',
      fires: ['card.closed'],
    },
  },
});
