/**
 * Every way a durable workflow can go, played over HTTP and by signals on a running sandbox deployment, one after
 * another. Evaluates nothing: an observer may.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { hour, minute } from '../../../src/kernel/instant.ts';
import { type Actors, actorsAt, someone } from './actors.ts';
import { cardRequestJourneys } from './card-request-journeys.ts';
import { checkoutJourneys } from './checkout-journeys.ts';
import { intentJourneys } from './intent-journeys.ts';
import { policyJourneys } from './policy-journeys.ts';
import { simulationJourneys } from './simulation-journeys.ts';
import { type Journey, type Played, type Stage, until } from './stage.ts';

export async function playJourneys(stage: Stage): Promise<Played[]> {
  const actors = await actorsAt(stage);
  const played: Played[] = [];
  for (const journey of [
    ...cardRequestJourneys, // First: their three days of business time would expire intents that others leave open.
    ...intentJourneys,
    ...checkoutJourneys,
    ...policyJourneys,
    ...simulationJourneys,
    cardsLife,
    cardRotated,
    secondAttempt,
    deadLetter,
    givenUp,
  ]) {
    played.push(...(await journey(stage, actors)));
  }
  return played;
}

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

type Failing = { readonly failures: number; readonly deliveries: number; readonly label: string };

/** A subscription whose receiver fails `failures` times, with deliveries that were each attempted once. */
async function failing(stage: Stage, { webhooks, policies }: Actors, { failures, deliveries, label }: Failing) {
  const box = `journey-${randomUUID().slice(0, 8)}`;
  await fetch(`${stage.sandboxUrl}/receiver/${box}/failures`, {
    method: 'PUT',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ count: failures, status: 503 }),
  });
  const url = `${stage.sandboxUrl}/receiver/${box}`;
  const webhook = await webhooks.createWebhook({ body: { url, events: ['policy.created'] } });
  for (let made = 0; made < deliveries; made++) {
    await policies.createPolicy({ body: { name: `rules of ${someone}` } });
  }
  const params = { id: webhook.id };
  const attempts = async () =>
    (await webhooks.listWebhookDeliveries({ params, query: {} })).data.map(({ attempt }) => attempt);
  const reach = (attempt: number) =>
    until(attempts, (all) => all.length === deliveries && all.every((made) => made === attempt), `attempt ${attempt}`);
  await reach(1);
  const workflowId = `webhook-endpoint/${webhook.id}`;
  const observe = (state: string) =>
    stage.observe(`webhookEndpoint: ${state}`, workflowId, { subject: webhook.id, webhook: webhook.id });
  await observe(label);
  return { params, workflowId, reach, observe };
}

/** Business time moves by `gaps`, one attempt each. */
const retried =
  (journey: string, failures: number, gapsMs: readonly number[]): Journey =>
  async (stage, actors) => {
    const { params, workflowId, reach, observe } = await failing(stage, actors, {
      failures,
      deliveries: 1,
      label: 'waiting',
    });
    for (const [index, ms] of gapsMs.entries()) {
      await actors.clock.advanceSandboxClock({ body: { ms: ms + 1_000 } });
      await reach(index + 2);
    }
    await observe('ended');
    await actors.webhooks.deleteWebhook({ params });
    return [{ workflow: 'webhookEndpoint', journey, workflowId }];
  };

const secondAttempt = retried('second-attempt', 1, [minute]);
const deadLetter = retried('dead-letter', 5, [minute, 5 * minute, 15 * minute, hour]);

/** What an operator sends is ignored when it names nothing, tries all again, and ends what still fails. */
const givenUp: Journey = async (stage, actors) => {
  const { params, workflowId, reach, observe } = await failing(stage, actors, {
    failures: 6,
    deliveries: 3,
    label: 'several waiting',
  });
  await stage.signal(workflowId, { delivrey: 'whd_1' }, 'give-up');
  await stage.signal(workflowId, undefined, 'retry-now');
  await reach(2);
  await stage.signal(workflowId, { delivery: 'all' }, 'give-up');
  await observe('given up');
  await actors.webhooks.deleteWebhook({ params });
  return [{ workflow: 'webhookEndpoint', journey: 'retried-then-given-up', workflowId }];
};
