/**
 * Checkout whole: an API, the worker with the real workflows on the real dev server, and the sandbox with its shops,
 * processor and network. Unlike the tests' world it lets a test take the worker away.
 * @module
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApi } from '../../src/main/api-server.ts';
import { type RunningWorkerProcess, startWorkerProcess } from '../../src/main/worker-process.ts';
import { createOutbound } from '../../src/outbound/outbound.ts';
import { createLogger } from '../../src/platform/log.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { freePort } from '../../src/supervisor/ports.ts';
import { aPayer, type Payer } from './payments-world.ts';
import { startWorld, type World } from './world.ts';

export type CheckoutWorld = {
  readonly world: World;
  readonly apiUrl: string;
  readonly sandboxUrl: string;
  shop(name: string, amountCents: number): string;
  /** An agent whose card the sandbox's processor has issued. */
  payer(options?: Parameters<typeof aPayer>[1]): Promise<Payer>;
  startWorker(): Promise<void>;
  stopWorker(): Promise<void>;
  close(): Promise<void>;
};

export async function startCheckoutWorld({
  allowedOrigins = [],
}: {
  /** Private origins that may be dialled besides the sandbox's. */
  readonly allowedOrigins?: readonly string[];
} = {}): Promise<CheckoutWorld> {
  const dir = await mkdtemp(join(tmpdir(), 'bursar-checkout-'));
  const world = await startWorld();
  const sandboxPort = await freePort();
  const sandboxUrl = `http://127.0.0.1:${sandboxPort}`;
  const config = {
    ...world.config,
    PORT: 0,
    BURSAR_SANDBOX_URL: sandboxUrl,
    BURSAR_ALLOWED_ORIGINS: [sandboxUrl, ...allowedOrigins],
  };
  const api = await startApi(config);
  const outbound = createOutbound({ allowedOrigins: [api.url] });
  const { networkKey, clockKey } = world;
  const log = createLogger({ name: 'sandbox', level: 'fatal' });
  const reach = { apiUrl: api.url, networkKey, clockKey, outbound, log };
  const databasePath = join(dir, 'sandbox.sqlite');
  const sandbox = await startSandbox({ databasePath, ...reach }, { host: '127.0.0.1', port: sandboxPort });
  let worker: RunningWorkerProcess | undefined;
  const startWorker = async (): Promise<void> => {
    worker = await startWorkerProcess(config, process.env.TEST_BUNDLE);
  };
  const stopWorker = async (): Promise<void> => {
    await worker?.stop();
    worker = undefined;
  };
  await startWorker();
  return {
    world,
    apiUrl: api.url,
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
    startWorker,
    stopWorker,
    close: async () => {
      await stopWorker();
      await sandbox.close();
      await outbound.close();
      await api.stop();
      await world.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
