/**
 * Every way a durable workflow can go, played over HTTP and by signals on a running sandbox deployment, one after
 * another. Judges nothing: an observer may.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { hour, minute } from '../../../src/kernel/instant.ts';
import { actorsAt, someone } from './actors.ts';
import { checkoutJourneys } from './checkout-journeys.ts';
import { intentJourneys } from './intent-journeys.ts';
import { policyJourneys } from './policy-journeys.ts';
import { simulationJourneys } from './simulation-journeys.ts';
import { type Journey, type Played, type Stage, until } from './stage.ts';

export async function playJourneys(stage: Stage): Promise<Played[]> {
  const actors = await actorsAt(stage);
  const played: Played[] = [];
  for (const journey of [
    ...intentJourneys,
    ...checkoutJourneys,
    ...policyJourneys,
    ...simulationJourneys,
    cardsLife,
    cardRotated,
    secondAttempt,
    deadLetter,
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

/** Fails `failures` times; business time moves by `gaps` after each look at the stage. */
const delivery =
  (journey: string, failures: number, gapsMs: readonly number[], end: string): Journey =>
  async (stage, { webhooks, policies, clock }) => {
    const box = `journey-${randomUUID().slice(0, 8)}`;
    await fetch(`${stage.sandboxUrl}/receiver/${box}/failures`, {
      method: 'PUT',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ count: failures, status: 503 }),
    });
    const url = `${stage.sandboxUrl}/receiver/${box}`;
    const webhook = await webhooks.createWebhook({ body: { url, events: ['policy.created'] } });
    await policies.createPolicy({ body: { name: `rules of ${someone}` } });
    const params = { id: webhook.id };
    const first = await until(
      async () => (await webhooks.listWebhookDeliveries({ params, query: {} })).data[0],
      (found) => found?.attempt === 1,
      'the first attempt',
    );
    const deliveryId = first?.id ?? '';
    const [id, names] = [`webhook-delivery/${deliveryId}`, { subject: deliveryId, webhook: webhook.id }];
    for (const [index, ms] of gapsMs.entries()) {
      if (index === 0) await stage.observe('webhookDelivery: waiting', id, names);
      await clock.advanceSandboxClock({ body: { ms: ms + 1_000 } });
      await until(
        () => webhooks.getWebhookDelivery({ params: { deliveryId } }),
        ({ attempt }) => attempt === index + 2,
        `attempt ${index + 2}`,
      );
    }
    await stage.observe(`webhookDelivery: ${end}`, id, names);
    await webhooks.deleteWebhook({ params });
    return [{ workflow: 'webhookDelivery', journey, workflowId: id }];
  };

const secondAttempt = delivery('second-attempt', 1, [minute], 'delivered');
const deadLetter = delivery('dead-letter', 5, [minute, 5 * minute, 15 * minute, hour], 'dead');
