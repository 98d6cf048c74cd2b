/** The ways of a card request: approved by the API, denied by a signal, cancelled, and expired after its reminder. @module */
import { hour, minute } from '../../../src/kernel/instant.ts';
import { type Actors, someone } from './actors.ts';
import { type Journey, type Played, type Stage, until } from './stage.ts';

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

export const cardRequestJourneys: readonly Journey[] = [
  approvedByUpdate,
  deniedBySignal,
  cancelled,
  remindedThenExpired,
];
