/**
 * Checkout whole: the API, the worker with the real workflow on the real dev server, and the sandbox with its shops,
 * processor and network.
 * @module
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { checkoutActivities } from '../../activities/payments/checkout.activities.ts';
import { createSandboxCardProcessor } from '../../src/adapters/card-processor/sandbox.ts';
import { createBursarCheckout } from '../../src/adapters/merchant-checkout/bursar-checkout.ts';
import { freePort } from '../../src/main/local/ports.ts';
import { createOutbound } from '../../src/outbound/outbound.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { taskQueues } from '../../src/temporal/task-queues.ts';
import { startWorker } from '../../src/temporal/worker.ts';
import { startPaymentsApi } from './payments-api.ts';
import { aPayer, type Payer } from './payments-world.ts';
import { startWorld, type World } from './world.ts';

export type CheckoutWorld = {
  readonly world: World;
  readonly api: Awaited<ReturnType<typeof startPaymentsApi>>;
  readonly sandboxUrl: string;
  shop(name: string, amountCents: number): string;
  /** An agent whose card the sandbox's processor has issued. */
  payer(options?: Parameters<typeof aPayer>[1]): Promise<Payer>;
  startWorker(): void;
  stopWorker(): Promise<void>;
  close(): Promise<void>;
};

export async function checkoutBundle(dir: string): Promise<string> {
  const workflowsPath = fileURLToPath(new URL('../../workflows/payments/checkout.workflow.ts', import.meta.url));
  const { code } = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') });
  const codePath = join(dir, 'checkout-bundle.js');
  await writeFile(codePath, code);
  return codePath;
}

export async function startCheckoutWorld(): Promise<CheckoutWorld> {
  const dir = await mkdtemp(join(tmpdir(), 'bursar-checkout-'));
  const codePath = await checkoutBundle(dir);
  const world = await startWorld();
  const sandboxPort = await freePort();
  const sandboxUrl = `http://127.0.0.1:${sandboxPort}`;
  const api = await startPaymentsApi(world, [sandboxUrl]);
  const { database, clock, log } = api.infrastructure;
  const outbound = createOutbound({ allowedOrigins: [api.apiUrl, sandboxUrl] });
  const { networkKey, dashboardSecret } = world;
  const reach = { apiUrl: api.apiUrl, networkKey, dashboardSecret, outbound, log };
  const sandbox = await startSandbox(
    { databasePath: join(dir, 'sandbox.sqlite'), ...reach },
    { host: '127.0.0.1', port: sandboxPort },
  );
  const activities = checkoutActivities({
    database,
    clock,
    merchantCheckout: createBursarCheckout({ outbound }),
    cardProcessor: createSandboxCardProcessor({ sandboxUrl, outbound }),
  });
  let worker: ReturnType<typeof startWorker> | undefined;
  const start = () => {
    worker = startWorker({
      address: process.env.TEST_TEMPORAL ?? '',
      namespace: 'default',
      taskQueue: taskQueues(world.config.BURSAR_TASK_QUEUE_PREFIX).main,
      activities,
      workflowBundle: { codePath },
      log,
    });
  };
  start();
  return {
    world,
    api,
    sandboxUrl,
    shop: (name, amountCents) => `${sandboxUrl}/shops/${name}?amountCents=${amountCents}`,
    payer: async (options = {}) => {
      const payer = await aPayer(world, options);
      const answer = await fetch(`${sandboxUrl}/processor/cards`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'Idempotency-Key': payer.cardId },
        body: JSON.stringify({ cardId: payer.cardId, usage: 'multi' }),
      });
      const { cardRef } = (await answer.json()) as { cardRef: string };
      await world.sql('update cards set card_ref = $1 where id = $2', [cardRef, payer.cardId]);
      return { ...payer, cardRef };
    },
    startWorker: start,
    stopWorker: async () => worker?.stop(),
    close: async () => {
      await worker?.stop();
      await sandbox.close();
      await outbound.close();
      await api.close();
      await world.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
