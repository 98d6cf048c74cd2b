/** Tools for the cards of an agent, without their numbers. @module */
import type { Next } from '../answer.ts';
import type { Answer, Tool } from '../tool.ts';
import { afterList, nothingNext } from './steps.ts';

const waiting = ({ id }: Answer['body']): Next => ({
  do: 'A person decides. Go on without it, and read the request later.',
  tool: 'card_requests_get',
  arguments: { cardRequestId: id },
});

export const cardTools: readonly Tool[] = [
  {
    name: 'cards_list',
    title: 'List the agent’s cards',
    description:
      'Lists the cards of this agent with their limits and states; numbers are not shown. Most purchases need no card to be named.',
    reason: 'An agent with several cards names one in a declaration.',
    operation: 'listAgentCards',
    next: nothingNext,
  },
  {
    name: 'card_requests_create',
    title: 'Ask for a further card',
    description:
      'Asks the owner for a further card; a person decides. Use it only when the cards of cards_list cannot be used for the purpose.',
    reason: 'An agent may ask, and only a person grants.',
    operation: 'createCardRequest',
    shape: 'NewCardRequestInput',
    fixed: { type: 'new_card' },
    purchase: 'key',
    next: waiting,
  },
  {
    name: 'card_limits_request',
    title: 'Ask for other limits of a card',
    description: 'Asks the owner for other limits of one card; a person decides. Name at least one limit.',
    reason: 'The other kind of card request; one tool has one shape.',
    operation: 'createCardRequest',
    shape: 'LimitChangeRequestInput',
    fixed: { type: 'limit_change' },
    purchase: 'key',
    next: waiting,
  },
  {
    name: 'card_requests_get',
    title: 'Read a card request',
    description:
      'Reads one request for a card or for other limits: whether a person has decided, and what was granted.',
    reason: 'The decision comes later, and outside of the conversation.',
    operation: 'getCardRequest',
    names: { id: 'cardRequestId' },
    next: ({ status }) =>
      status === 'pending' ? { do: 'Not decided yet. Ask again later.' } : { do: 'Decided. Nothing is left to do.' },
  },
  {
    name: 'card_requests_list',
    title: 'List card requests',
    description: 'Lists requests for cards and limits, newest first, optionally of one state.',
    reason: 'A new conversation finds the requests of the last one.',
    operation: 'listCardRequests',
    next: afterList('card_requests_list', 'Read one with card_requests_get.'),
  },
];
