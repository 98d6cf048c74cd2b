/** The ways of a card: frozen by its owner and with its agent, closed, and rotated. @module */
import type { CardView } from '../../../src/domains/cards/cards/card.messages.ts';
import type { Journey, WorkflowJourneys } from '../../support/record/stage.ts';

const cardsLife: Journey = async (stage, { agent, agents, cards }) => {
  const { agentId, cardId } = await agent();
  const [id, names] = [`card/${cardId}`, { agent: agentId, subject: cardId }];
  await stage.observe('cardLifecycle: active', id, names);
  await cards.freezeCard({ params: { cardId }, body: {} });
  await stage.observe('cardLifecycle: frozen by its owner', id, names);
  await cards.unfreezeCard({ params: { cardId }, body: {} });
  await stage.observe('cardLifecycle: active', id, names);
  await agents.freezeAgent({ params: { id: agentId } });
  await stage.observe('cardLifecycle: frozen with its agent', id, names);
  await agents.unfreezeAgent({ params: { id: agentId } });
  await cards.closeCard({ params: { cardId }, body: {} });
  await stage.observe('cardLifecycle: closed', id, names);
  return [{ workflow: 'cardLifecycle', journey: 'issued-frozen-closed', workflowId: id }];
};

/** The old number's run ends with the rotation, the new one's goes on. */
const cardRotated: Journey = async (stage, { agent, cards }) => {
  const { agentId, cardId } = await agent();
  const { card } = await cards.rotateCard({ params: { cardId } });
  await stage.observe('cardLifecycle: closed', `card/${cardId}`, { agent: agentId, subject: cardId });
  await stage.observe('cardLifecycle: active', `card/${card.id}`, { agent: agentId, subject: card.id });
  return [{ workflow: 'cardLifecycle', journey: 'rotated', workflowId: `card/${cardId}` }];
};

export const journeys: WorkflowJourneys = {
  workflows: {
    cardLifecycle: {
      queue: 'main',
      id: 'card/{subject}',
      summary: 'Card {subject} of agent {agent}: issued, kept in step with the processor, closed',
      hasAgent: true,
      histories: ['issued-frozen-closed', 'rotated'],
      stages: {
        'frozen by its policy': {
          stage: 'frozen',
          status: 'RUNNING',
          details: ['Frozen by its policy; waiting for a change. Card of {agent}.'],
        },
        issuing: {
          stage: 'issuing',
          status: 'RUNNING',
          details: ['Waiting for the card processor to issue it. Card of {agent}.'],
          problem: 'retrying',
        },
        active: {
          stage: 'active',
          status: 'RUNNING',
          details: ['Active; waiting for a change. Card of {agent}.'],
        },
        'frozen by its owner': {
          stage: 'frozen',
          status: 'RUNNING',
          details: ['Frozen by its owner; waiting for a change. Card of {agent}.'],
        },
        'frozen with its agent': {
          stage: 'frozen',
          status: 'RUNNING',
          details: ['Frozen with its agent; waiting for a change. Card of {agent}.'],
        },
        'frozen, the processor away': {
          stage: 'frozen',
          status: 'RUNNING',
          details: ['Waiting for the card processor to accept the state frozen. Card of {agent}.'],
          problem: 'retrying',
        },
        closed: {
          stage: 'closed',
          status: 'COMPLETED',
          details: ['Done: closed, and the card processor has confirmed it. Card of {agent}.'],
        },
      },
    },
  },
  journeys: [cardsLife, cardRotated],
  waiting: (seen) => ({
    nextCardStep: async (id) => {
      const cardId = seen(id);
      const view: CardView = {
        cardId,
        agentId: 'ag_aaaaaaaa',
        status: 'active',
        frozenBy: null,
        syncedState: 'active',
      };
      return { kind: 'wait', view };
    },
  }),
};
