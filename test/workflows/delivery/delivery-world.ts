/**
 * A Bursar with real receivers: the API with the webhooks area, relays on demand, and on request the retry workflow
 * on the real dev server. Everything that it starts, `close` stops.
 * @module
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { webhookDeliveryActivities } from '../../../activities/delivery/webhook-delivery.activities.ts';
import { type Client, createClient, sendTo } from '../../../src/client/client.ts';
import { createSender, deliveryEntities, webhookHandlers, webhooksArea } from '../../../src/domains/delivery/index.ts';
import { identityEntities, openCredentials } from '../../../src/domains/identity/index.ts';
import type { EventName } from '../../../src/events/catalog.ts';
import { recordChanges } from '../../../src/events/record.ts';
import { createIdempotency } from '../../../src/http/idempotency.ts';
import { createRateLimit } from '../../../src/http/rate-limit.ts';
import { mounted } from '../../../src/http/route.ts';
import { createApp, createHttpServer } from '../../../src/http/server.ts';
import { uuidv7 } from '../../../src/kernel/ids.ts';
import { type Infrastructure, openInfrastructure } from '../../../src/main/infrastructure.ts';
import { createOutbound, type Outbound } from '../../../src/outbound/outbound.ts';
import type { Cause } from '../../../src/platform/cause.ts';
import {
  claimLimits,
  type DeliveryRelayOptions,
  deliveriesChannel,
  startDeliveryRelay,
} from '../../../src/relay/deliveries.ts';
import { startListener } from '../../../src/relay/listener.ts';
import { type Loop, startLoop } from '../../../src/relay/loop.ts';
import { reconcileProcesses } from '../../../src/relay/processes.ts';
import { converterPath } from '../../../src/temporal/connection.ts';
import { taskQueues } from '../../../src/temporal/task-queues.ts';
import { startWorker } from '../../../src/temporal/worker.ts';
import { startWorld, type World } from '../../support/world.ts';
import { type Receiver, startReceiver } from './receiver.ts';

export type Subscriber = {
  readonly ownerId: string;
  readonly key: string;
  readonly webhooks: Client<typeof webhooksArea>;
};

export type DeliveryWorld = {
  readonly world: World;
  readonly infrastructure: Infrastructure;
  readonly receiver: Receiver;
  readonly outbound: Outbound;
  readonly apiUrl: string;
  subscriber(): Promise<Subscriber>;
  /** Records changes as a service would, and answers when they are committed. */
  emit(ownerId: string, count?: number, event?: EventName): Promise<void>;
  relay(options?: Partial<DeliveryRelayOptions> & { timeoutMs?: number; isDeaf?: boolean }): Promise<Loop>;
  stopRelays(): Promise<void>;
  close(): Promise<void>;
};

export async function startDeliveryWorld({ retries = false } = {}): Promise<DeliveryWorld> {
  const stops: (() => Promise<unknown>)[] = [];
  const receiver = await startReceiver();
  stops.push(() => receiver.close());
  const world = await startWorld({ env: { BURSAR_ALLOWED_ORIGINS: receiver.origin } });
  stops.push(() => world.close());
  const entities = [...identityEntities, ...deliveryEntities];
  const infrastructure = await openInfrastructure(world.config, { name: 'delivery-test', entities });
  stops.push(() => infrastructure.close());
  const outbound = createOutbound({ allowedOrigins: [receiver.origin] });
  stops.push(() => outbound.close());
  const apiUrl = await serveWebhooks(infrastructure, stops);
  if (retries) await runRetries(infrastructure, outbound, stops);
  const { database, clock, vault, log } = infrastructure;
  const relays: (() => Promise<void>)[] = [];
  const stopRelays = async (): Promise<void> => {
    await Promise.all(relays.splice(0).map((stop) => stop()));
  };

  return {
    world,
    infrastructure,
    receiver,
    outbound,
    apiUrl,
    subscriber: async () => {
      const { ownerId, key } = await world.owner();
      return { ownerId, key, webhooks: createClient(webhooksArea, sendTo(apiUrl, key)) };
    },
    emit: async (ownerId, count = 1, event = 'policy.created') => {
      const changes = Array.from({ length: count }, (_, i) => ({
        event,
        ownerId,
        subjectId: `po_${String(i).padStart(8, '0')}`,
        data: { id: `po_${String(i).padStart(8, '0')}`, name: `Policy ${i}` },
      }));
      const cause: Cause = { causeId: uuidv7(), requestId: uuidv7(), actor: { kind: 'system' }, at: await clock.now() };
      await database.write((tx) => recordChanges(tx, cause, changes));
    },
    relay: async ({ timeoutMs = 30_000, isDeaf = false, ...options } = {}) => {
      const loop = startDeliveryRelay({
        database,
        clock,
        log,
        send: createSender({ outbound, vault, timeoutMs }),
        ...options,
      });
      const listener = isDeaf
        ? undefined
        : startListener({
            url: world.config.DATABASE_URL,
            log,
            channels: { [deliveriesChannel]: loop.nudge },
            onConnected: loop.nudge,
          });
      const stop = async (): Promise<void> => {
        await listener?.stop();
        await loop.stop();
      };
      relays.push(stop);
      return { ...loop, stop };
    },
    stopRelays,
    close: async () => {
      await stopRelays();
      for (const stop of stops.reverse()) await stop();
    },
  };
}

async function serveWebhooks(infrastructure: Infrastructure, stops: (() => Promise<unknown>)[]): Promise<string> {
  const { config, database, vault, clock, log } = infrastructure;
  const mode = config.BURSAR_MODE;
  const credentials = openCredentials({
    database,
    databaseUrl: config.DATABASE_URL,
    mode,
    log,
    dashboardSecret: undefined,
  });
  const handlers = webhookHandlers({ database, vault, mode, allowedOrigins: config.BURSAR_ALLOWED_ORIGINS });
  const app = createApp({
    areas: [mounted(webhooksArea, handlers)],
    mode,
    version: 'test',
    publicUrl: 'http://localhost',
    edge: {
      credentials,
      idempotency: createIdempotency(database, vault),
      rateLimit: createRateLimit({ perMinute: 1_000_000, trustedProxies: [] }),
      clock,
      log,
      validatesAnswers: true,
    },
  });
  const server = createHttpServer(app);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stops.push(async () => {
    server.closeAllConnections();
    server.close();
    await credentials.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function runRetries(
  infrastructure: Infrastructure,
  outbound: Outbound,
  stops: (() => Promise<unknown>)[],
): Promise<void> {
  const { config, database, clock, vault, log } = infrastructure;
  const { code } = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('../../../workflows/delivery/webhook-delivery.workflow.ts', import.meta.url)),
    payloadConverterPath: converterPath,
    logger: new DefaultLogger('ERROR'),
  });
  const worker = startWorker({
    address: config.TEMPORAL_ADDRESS,
    namespace: config.TEMPORAL_NAMESPACE,
    taskQueue: taskQueues(config.BURSAR_TASK_QUEUE_PREFIX).webhooks,
    activities: webhookDeliveryActivities({ database, clock, send: createSender({ outbound, vault }), claimLimits }),
    workflowBundle: { code },
    log,
  });
  const relay = startLoop({ name: 'relay', everyMs: 30_000, log, pass: () => reconcileProcesses(infrastructure) });
  const listener = startListener({
    url: config.DATABASE_URL,
    log,
    channels: { bursar_processes: relay.nudge },
    onConnected: relay.nudge,
  });
  stops.push(async () => {
    await listener.stop();
    await relay.stop();
    await worker.stop();
  });
}
