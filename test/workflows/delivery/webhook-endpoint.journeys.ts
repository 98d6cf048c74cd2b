/** What may become of failed deliveries: attempted again, dead, or given up by an operator. @module */
import { randomUUID } from 'node:crypto';
import { hour, minute } from '../../../src/kernel/instant.ts';
import { type Actors, someone } from '../../support/record/actors.ts';
import { type Journey, type Stage, until, type WorkflowJourneys } from '../../support/record/stage.ts';

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
  (journey: string, end: 'ended' | 'dead letters', failures: number, gapsMs: readonly number[]): Journey =>
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
    await observe(end);
    await actors.webhooks.deleteWebhook({ params });
    return [{ workflow: 'webhookEndpoint', journey, workflowId }];
  };

const secondAttempt = retried('second-attempt', 'ended', 1, [minute]);
const deadLetter = retried('dead-letter', 'dead letters', 5, [minute, 5 * minute, 15 * minute, hour]);

/** An operator's message that names nothing is ignored; others attempt all deliveries again, and end those that still fail. */
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

export const journeys: WorkflowJourneys = {
  workflows: {
    webhookEndpoint: {
      queue: 'webhooks',
      id: 'webhook-endpoint/{subject}',
      summary: 'Subscription {subject}: failed deliveries, attempted again until none waits',
      hasAgent: false,
      histories: ['second-attempt', 'dead-letter', 'retried-then-given-up'],
      stages: {
        waiting: {
          stage: 'retrying',
          status: 'RUNNING',
          details: [
            '1 delivery to {webhook} waits, the oldest since {time}. Last failure: HTTP 503. Next attempt at {time} of business time.',
          ],
        },
        'several waiting': {
          stage: 'retrying',
          status: 'RUNNING',
          details: [
            '3 deliveries to {webhook} wait, the oldest since {time}. Last failure: HTTP 503. Next attempt at {time} of business time.',
          ],
        },
        ended: {
          stage: 'ended',
          status: 'COMPLETED',
          details: ['Done: no delivery to {webhook} waits for another attempt.'],
        },
        'dead letters': {
          stage: 'dead_letters',
          status: 'COMPLETED',
          details: ['Done: no delivery to {webhook} waits for another attempt.'],
        },
        'given up': {
          stage: 'dead_letters',
          status: 'COMPLETED',
          details: [
            'Done: no delivery to {webhook} waits for another attempt.',
            '- give-up was ignored: send {"delivery":"whd_…"} for one delivery, or "all" or nothing for all',
            '- retry-now: 3 deliveries',
            '- give-up: 3 deliveries',
          ],
        },
      },
    },
  },
  journeys: [secondAttempt, deadLetter, givenUp],
  waiting: () => ({}), // The run waits for activities that fail.
};
