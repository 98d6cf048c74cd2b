/**
 * Goal: an update whose workflow run ends or begins anew in the same moment is still answered. Method: people approve
 * while others cancel the same intents and wakes arrive, over HTTP, on the real worker and server.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { WithStartWorkflowOperation } from '@temporalio/client';
import { newId } from '../../../src/kernel/ids.ts';
import { clientsOf } from '../../support/factories/records.ts';
import { type OpenTemporal, openTemporal } from '../../support/operator-view.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
let temporal: OpenTemporal;
beforeAll(async () => {
  world = await startWorld({ worker: true });
  temporal = await openTemporal();
}, 120_000);
afterAll(async () => {
  await temporal.close();
  await world.close();
});

const rounds = 6;
const atOnce = 30;

test('a workflow run with ten updates in flight: the next one answers 503 at once and says so', async () => {
  const { agents, intents, checkout } = clientsOf(await world.owner());
  const { id: agentId } = await agents.createAgent({ body: { name: 'buyer' } });
  const { id, status } = await intents.declareIntent({
    body: {
      agentId,
      purpose: 'dear',
      expectedAmountEuros: 5,
      expectedMerchant: 'Sandbox Shop',
    },
  });
  expect(status).toBe('approved');
  // Each waits 8 s for a checkout that there is not; the first one starts the run.
  const startWorkflowOperation = () =>
    new WithStartWorkflowOperation('checkout', {
      workflowId: `checkout/${id}`,
      taskQueue: `${world.config.BURSAR_TASK_QUEUE_PREFIX}-main`,
      args: [{ id }],
      workflowIdConflictPolicy: 'USE_EXISTING',
    });
  const pay = () =>
    temporal.client.workflow.startUpdateWithStart('pay', {
      args: [{ checkoutId: newId('checkout') }],
      waitForStage: 'ACCEPTED',
      startWorkflowOperation: startWorkflowOperation(),
    });
  await pay();
  await Promise.all(Array.from({ length: 9 }, pay));
  const targetUrl = `${world.sandboxUrl}/shops/sandbox-shop?amountCents=500`;
  const before = performance.now();
  await expect(checkout.executeCheckout({ body: { intentId: id, targetUrl } })).rejects.toMatchObject({
    status: 503,
    message: expect.stringMatching(/as many updates in flight as Temporal takes \(10\).*repeat/),
  });
  expect(performance.now() - before).toBeLessThan(5_000);
}, 60_000);

test('approving, cancelling and waking 180 intents at once never answers 503', async () => {
  const owner = await world.owner();
  const { agents, intents } = clientsOf(owner);
  const { id: agentId } = await agents.createAgent({ body: { name: 'buyer' } });
  await world.sql(
    `insert into owner_limits (owner_id, name, most, updated_at)
     select $1, unnest(array['open_intents', 'waiting_intents']), 1000, now()`,
    [owner.ownerId],
  );
  const outcomes: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const ids = await Promise.all(
      Array.from({ length: atOnce }, async () => {
        const { id } = await intents.declareIntent({
          body: { agentId, purpose: 'dear', expectedAmountEuros: 80, expectedMerchant: 'Sandbox Shop' },
        });
        await temporal.started(`intent/${id}`);
        return id;
      }),
    );
    const answers = await Promise.all(
      ids.flatMap((id, n) => {
        const params = { id };
        const later = (call: () => Promise<unknown>) =>
          new Promise((done) => setTimeout(done, (n % 10) * 6)).then(call).then(
            () => '200',
            (error: { status?: number; message?: string }) => `${error.status} ${error.message}`,
          );
        const wake = temporal.client.workflow.getHandle(`intent/${id}`).signal('wake');
        return [
          wake.then(
            () => 'woken',
            () => 'ended',
          ),
          later(() => intents.cancelIntent({ params })),
          later(() => intents.approveIntent({ params })),
        ];
      }),
    );
    outcomes.push(...answers.filter((answer) => /^\d/.test(answer)));
  }
  const counts: Record<string, number> = {};
  for (const answer of outcomes) {
    const kind = answer.replace(/(int|req)_\w+/g, '$1');
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  expect(Object.keys(counts).filter((kind) => !/^(200|400 cannot approve)/.test(kind))).toEqual([]);
  expect(outcomes).toHaveLength(2 * rounds * atOnce);
}, 240_000);
