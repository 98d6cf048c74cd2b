/** The ways of a card request: approved by the API, denied by a signal, cancelled, and expired after its reminder. @module */
import type { CardRequestRun } from '../../../activities/cards/card-request.activities.ts';
import { cardRequestFacts } from '../../../src/domains/cards/card-requests/card-request.rules.ts';
import { day, hour, later, minute } from '../../../src/kernel/instant.ts';
import { type Actors, someone } from '../../support/record/actors.ts';
import {
  assertShort,
  type Journey,
  type Played,
  type Stage,
  until,
  type WorkflowJourneys,
} from '../../support/record/stage.ts';

const ended = (journey: string, workflowId: string): Played[] => [{ workflow: 'cardRequest', journey, workflowId }];

async function requested(stage: Stage, { agent, cardRequests }: Actors, type: 'new_card' | 'limit_change') {
  const { agentId, cardId } = await agent();
  const { id } = await cardRequests.createCardRequest({
    body:
      type === 'new_card'
        ? { type, agentId, usage: 'multi', purpose: `a thing for ${someone}` }
        : { type, agentId, cardId, dailyLimitEuros: 100 },
  });
  const [workflowId, params] = [`card-request/${id}`, { id }];
  const observe = (state: string) =>
    stage.observe(`cardRequest: ${state}`, workflowId, { agent: agentId, subject: id, card: cardId });
  const reaches = (status: string) =>
    until(
      () => cardRequests.getCardRequest({ params }),
      (request) => request.status === status,
      `the card request to be ${status}`,
    );
  await observe(type === 'new_card' ? 'a new card' : 'other limits');
  return { workflowId, params, observe, reaches };
}

const approvedByUpdate: Journey = async (stage, actors) => {
  const { workflowId, params, observe } = await requested(stage, actors, 'new_card');
  await actors.cardRequests.approveCardRequest({ params, body: {} });
  await observe('approved');
  return ended('approved-by-update', workflowId);
};

const deniedBySignal: Journey = async (stage, actors) => {
  const { workflowId, observe, reaches } = await requested(stage, actors, 'limit_change');
  await stage.signal(workflowId, 'please');
  await stage.signal(workflowId, { decision: 'deny', by: 'anna' });
  await reaches('denied');
  await observe('denied');
  return ended('denied-by-signal', workflowId);
};

const cancelled: Journey = async (stage, actors) => {
  const { workflowId, params, observe } = await requested(stage, actors, 'new_card');
  await actors.cardRequests.cancelCardRequest({ params, body: {} });
  await observe('cancelled');
  return ended('cancelled', workflowId);
};

/** The owner is reminded after 36 hours, and the request expires after 72. */
const remindedThenExpired: Journey = async (stage, actors) => {
  const { workflowId, params, observe, reaches } = await requested(stage, actors, 'new_card');
  await actors.clock.advanceSandboxClock({ body: { ms: 36 * hour + minute } });
  await until(
    () => actors.cardRequests.getCardRequest({ params }),
    ({ remindedAt }) => remindedAt !== null,
    'the reminder',
  );
  await observe('reminded');
  await actors.clock.advanceSandboxClock({ body: { ms: 36 * hour } });
  await reaches('expired');
  await observe('expired');
  return ended('reminded-then-expired', workflowId);
};

/** As the activities answer with it. */
function cardRequest(id: string): CardRequestRun {
  const createdAt = new Date();
  const expiresAt = later(createdAt, 3 * day);
  return {
    version: 1,
    ...cardRequestFacts({ status: 'pending', createdAt, expiresAt, remindedAt: null }, createdAt),
    view: {
      cardRequestId: id as CardRequestRun['view']['cardRequestId'],
      type: 'new_card',
      agentId: 'ag_aaaaaaaa',
      status: 'pending',
      cardId: null,
      decidedBy: null,
      expiresAt: expiresAt.toISOString(),
      isReminded: false,
      approvalUrl: null,
      needsPasskey: false,
    },
  };
}

const waits = 'until {time} of business time, then it expires.';
const page = "The approver's page: {page}";
const ignored = '- a signal that is not approve, deny or cancel was ignored';
const newCard = 'A new card for agent {agent}.';
const otherLimits = 'Other limits for card {card} of agent {agent}.';
const forDecision = `Waiting for a person to approve it or to deny it, ${waits}`;

export const journeys: WorkflowJourneys = {
  workflows: {
    cardRequest: {
      queue: 'main',
      id: 'card-request/{subject}',
      summary: 'Card request {subject} of agent {agent}: to be decided by a person, or expired',
      hasAgent: true,
      decidedWhile: 'pending',
      histories: ['approved-by-update', 'denied-by-signal', 'cancelled', 'reminded-then-expired'],
      stages: {
        'a new card': { stage: 'pending', status: 'RUNNING', details: [`${newCard} ${forDecision}`, page] },
        'other limits': {
          stage: 'pending',
          status: 'RUNNING',
          details: [`${otherLimits} ${forDecision}`, page],
        },
        reminded: {
          stage: 'pending',
          status: 'RUNNING',
          details: [`${newCard} ${forDecision} A reminder was sent.`, page],
        },
        approved: { stage: 'approved', status: 'COMPLETED', details: [`${newCard} Done: approved.`] },
        denied: {
          stage: 'denied',
          status: 'COMPLETED',
          details: [`${otherLimits} Done: denied.`, ignored],
        },
        cancelled: { stage: 'cancelled', status: 'COMPLETED', details: [`${newCard} Done: cancelled.`] },
        expired: { stage: 'expired', status: 'COMPLETED', details: [`${newCard} Done: expired.`] },
      },
    },
  },
  journeys: [approvedByUpdate, deniedBySignal, cancelled, remindedThenExpired],
  waiting: (seen) => ({
    readCardRequest: async (id) => cardRequest(seen(id)),
    decideCardRequest: async (id, decision) => {
      assertShort(decision);
      return cardRequest(seen(id));
    },
  }),
};
