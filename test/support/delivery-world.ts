/**
 * A world with real receivers, and relays on demand; with `retries` its worker runs too, on the real dev server. Tests
 * that need other limits run workers for retries alone.
 * Everything that it starts, `close` stops.
 * @module
 */
import { webhookEndpointActivities } from '../../activities/delivery/webhook-endpoint.activities.ts';
import type { Client } from '../../src/client/client.ts';
import { startListener } from '../../src/db/listener.ts';
import { createSender, type SendDelivery } from '../../src/domains/delivery/webhooks/delivery.send.service.ts';
import { webhooksArea } from '../../src/domains/delivery/webhooks/webhook.contract.ts';
import type { EventsLike } from '../../src/events/catalog.ts';
import { recordChanges } from '../../src/events/record.ts';
import { uuidv7 } from '../../src/kernel/ids.ts';
import { type Infrastructure, openInfrastructure } from '../../src/main/infrastructure.ts';
import { entities, workflows } from '../../src/main/modules/index.ts';
import { createOutbound, type Outbound } from '../../src/outbound/outbound.ts';
import type { Cause } from '../../src/platform/cause.ts';
import { type Loop, startLoop } from '../../src/platform/loop.ts';
import {
  claimLimits,
  type DeliveryRelayOptions,
  deliveriesChannel,
  startDeliveryRelay,
} from '../../src/relay/deliveries.ts';
import { createRetrySender, type RetryOptions } from '../../src/relay/retries.ts';
import { createRelay } from '../../src/relay/workflow-runs.ts';
import { taskQueues } from '../../src/temporal/task-queues.ts';
import { startWorker } from '../../src/temporal/worker.ts';
import { policyEventData } from './factories/event-data.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { startWorld, type World } from './world.ts';

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
  emit(ownerId: string, count?: number, event?: EventsLike<'policy.created'>): Promise<void>;
  relay(
    options?: Partial<DeliveryRelayOptions> & { timeoutMs?: number; isDeaf?: boolean; httpsOnly?: boolean },
  ): Promise<Loop>;
  /** A worker for retries alone, with its own process relay. `wrapSend` sees every attempt that it makes. */
  retryWorker(options?: RetryWorkerOptions): Promise<{ stop(): Promise<void> }>;
  stopRelays(): Promise<void>;
  close(): Promise<void>;
};

type RetryWorkerOptions = Partial<RetryOptions> & {
  readonly timeoutMs?: number;
  readonly wrapSend?: (send: SendDelivery) => SendDelivery;
};

/** `allowedOrigins`: of receivers that the test starts itself. `env`: settings of the deployment. */
export async function startDeliveryWorld({
  retries = false,
  allowedOrigins: others = [],
  env = {},
}: {
  readonly retries?: boolean;
  readonly allowedOrigins?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
} = {}): Promise<DeliveryWorld> {
  const stops: (() => Promise<unknown>)[] = [];
  const receiver = await startReceiver();
  stops.push(() => receiver.close());
  const allowedOrigins = [receiver.origin, ...others];
  const world = await startWorld({
    worker: retries,
    env: { ...env, BURSAR_ALLOWED_ORIGINS: allowedOrigins.join(',') },
  });
  stops.push(() => world.close());
  const infrastructure = await openInfrastructure(world.config, { name: 'delivery-test', entities, workflows });
  stops.push(() => infrastructure.close());
  // No test asks a real name server: every public name is one that does not resolve.
  const outbound = createOutbound({ allowedOrigins, resolve: async () => [] });
  stops.push(() => outbound.close());
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
    apiUrl: world.apiUrl,
    subscriber: async () => {
      const { ownerId, key, client } = await world.owner();
      return { ownerId, key, webhooks: client(webhooksArea) };
    },
    emit: async (ownerId, count = 1, event = 'policy.created') => {
      const changes = Array.from({ length: count }, (_, i) => ({
        event,
        ownerId,
        subjectId: `po_${String(i).padStart(8, '0')}`,
        data: policyEventData(`po_${String(i).padStart(8, '0')}`, ownerId),
      }));
      const cause: Cause = { causeId: uuidv7(), requestId: uuidv7(), actor: { kind: 'system' }, at: await clock.now() };
      await database.write((tx) => recordChanges(tx, cause, changes));
    },
    relay: async ({ timeoutMs = 30_000, isDeaf = false, httpsOnly = false, ...options } = {}) => {
      const loop = startDeliveryRelay({
        database,
        clock,
        log,
        send: createSender({ outbound, vault, timeoutMs, httpsOnly }),
        ...options,
      });
      const listener = isDeaf
        ? undefined
        : startListener({
            url: world.config.DATABASE_URL,
            log,
            channels: { [deliveriesChannel]: loop.wake },
            applicationName: 'bursar-test-listener',
            onListening: loop.wake,
          });
      const stop = async (): Promise<void> => {
        await listener?.stop();
        await loop.stop();
      };
      relays.push(stop);
      return { ...loop, stop };
    },
    retryWorker: async ({ timeoutMs = 30_000, wrapSend = (send: SendDelivery) => send, ...options } = {}) => {
      const retries = createRetrySender({
        database,
        clock,
        log,
        limits: claimLimits,
        send: wrapSend(createSender({ outbound, vault, timeoutMs })),
        ...options,
      });
      const { perReceiver } = options.limits ?? claimLimits;
      const worker = startWorker({
        address: world.config.TEMPORAL_ADDRESS,
        namespace: world.config.TEMPORAL_NAMESPACE,
        security: world.config.temporalSecurity,
        taskQueue: taskQueues(world.config.BURSAR_TASK_QUEUE_PREFIX).webhooks,
        activities: webhookEndpointActivities({ database, clock, attemptDue: retries.attemptDue, perReceiver }),
        workflowBundle: { codePath: process.env.TEST_BUNDLE ?? '' },
        log,
      });
      const relay = startLoop({ name: 'relay', everyMs: 200, log, pass: createRelay(infrastructure).pass });
      const stop = async (): Promise<void> => {
        await Promise.all([relay.stop(), retries.stop()]);
        await worker.stop();
      };
      relays.push(stop);
      return { stop };
    },
    stopRelays,
    close: async () => {
      await stopRelays();
      for (const stop of stops.reverse()) await within10Seconds(stop);
    },
  };
}

/** A part that does not stop is named, instead of a hook that takes too long. */
async function within10Seconds(stop: () => Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((_, fail) => {
    timer = setTimeout(() => fail(new Error(`does not stop: ${stop}`)), 10_000);
  });
  await Promise.race([stop(), late]);
  clearTimeout(timer);
}
