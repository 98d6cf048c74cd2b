/** Webhook subscriptions, the delivery of events to them, and the feed of events. @module */

import { webhookEndpointActivities } from '../../../activities/delivery/webhook-endpoint.activities.ts';
import { createWebPush } from '../../adapters/push/web-push.ts';
import { eventsArea } from '../../domains/delivery/events/event.contract.ts';
import { eventHandlers } from '../../domains/delivery/events/event.routes.ts';
import { pushSubscriptionsArea } from '../../domains/delivery/push-subscriptions/push-subscription.contract.ts';
import { findPushSubscription } from '../../domains/delivery/push-subscriptions/push-subscription.queries.ts';
import { pushHandlers } from '../../domains/delivery/push-subscriptions/push-subscription.routes.ts';
import { webhookPagesArea } from '../../domains/delivery/webhook-pages/webhook-page.contract.ts';
import { webhookPageSheet } from '../../domains/delivery/webhook-pages/webhook-page.page.ts';
import { webhookPageHandlers } from '../../domains/delivery/webhook-pages/webhook-page.routes.ts';
import { findDelivery } from '../../domains/delivery/webhooks/delivery.queries.ts';
import { endpointWorkflow } from '../../domains/delivery/webhooks/endpoint.messages.ts';
import { webhooksArea } from '../../domains/delivery/webhooks/webhook.contract.ts';
import { WebhookRow } from '../../domains/delivery/webhooks/webhook.entity.ts';
import { findWebhook } from '../../domains/delivery/webhooks/webhook.queries.ts';
import { webhookHandlers } from '../../domains/delivery/webhooks/webhook.routes.ts';
import { businessNameOf } from '../../domains/parties/customers/customer.queries.ts';
import { minute } from '../../kernel/instant.ts';
import { createOutbound } from '../../outbound/outbound.ts';
import { type Loop, startLoop } from '../../platform/loop.ts';
import { claimLimits } from '../../relay/deliveries.ts';
import { startPushLoop } from '../../relay/push.ts';
import { abandonWaitingDeliveries, retryWaitingDeliveries } from '../../usecases/delivery/command-retries.ts';
import { purgeDeliveries } from '../../usecases/delivery/purge-deliveries.ts';
import { invitedDevices } from '../../usecases/delivery/subscribe-invited-device.ts';
import { type Config, urlRulesOf } from '../config.ts';
import { defineModule, type LoopRegistration, servedArea } from './module.ts';

type PurgeDeps = Pick<Parameters<LoopRegistration['start']>[0], 'database' | 'clock' | 'log'> & {
  readonly config: Pick<Config, 'BURSAR_DELIVERIES_KEPT_DAYS' | 'BURSAR_EVENTS_KEPT_DAYS'>;
  readonly purgedAtOnce?: number;
};

/** Goes on at once while a pass leaves old rows, because rows may come faster than one pass in ten minutes takes them. */
export function startPurge({ database, clock, log, config, purgedAtOnce }: PurgeDeps): Loop {
  const kept = { deliveries: config.BURSAR_DELIVERIES_KEPT_DAYS, events: config.BURSAR_EVENTS_KEPT_DAYS };
  const purge = purgeDeliveries({ database, ...(purgedAtOnce !== undefined && { purgedAtOnce }) });
  const loop = startLoop({
    name: 'deliveries-purge',
    everyMs: 10 * minute,
    log,
    pass: async () => {
      const purged = await purge(kept, await clock.now());
      if (purged.deliveries + purged.tests + purged.events > 0) log.info(purged, 'old deliveries and events removed');
      if (purged.hasMore) loop.wake();
    },
  });
  return loop;
}

const contactOf = (publicUrl: string): string =>
  publicUrl.startsWith('https:') ? publicUrl : 'mailto:operator@bursar.invalid';

const pushLoop: LoopRegistration = {
  group: 'deliveries',
  start: ({ database, clock, vault, links, config, log }, approvals) => {
    const outbound = createOutbound(urlRulesOf(config));
    const push = createWebPush({ outbound, contact: contactOf(config.publicUrl) });
    const loop = startPushLoop({ database, clock, vault, links, approvals, push, log });
    return {
      stop: async () => {
        await loop.stop();
        await outbound.close();
      },
    };
  },
};

export const delivery = defineModule('delivery', [
  servedArea('webhooks', {
    contract: webhooksArea,
    position: 510,
    lookups: ({ database }) => ({
      webhook: (id) => findWebhook(database.read(), id),
      delivery: (id) => findDelivery(database.read(), id),
    }),
    handlers: ({ database, vault, config }) =>
      webhookHandlers({
        database,
        vault,
        mode: config.BURSAR_MODE,
        deliveriesKeptDays: config.BURSAR_DELIVERIES_KEPT_DAYS,
        receivers: { ...urlRulesOf(config), httpsOnly: config.BURSAR_WEBHOOKS_HTTPS_ONLY },
      }),
    entities: [WebhookRow],
    loops: [{ group: 'purge', start: startPurge }],
    tables: [
      'webhooks',
      'webhook_deliveries',
      'delivery_claims',
      'webhook_health',
      'webhook_hours',
      'webhook_test_events',
    ],
    activities: ({ database, clock, retries }) =>
      webhookEndpointActivities({
        database,
        clock,
        attemptDue: retries.attemptDue,
        perReceiver: claimLimits.perReceiver,
      }),
    workflows: [
      {
        type: endpointWorkflow,
        idPrefix: 'webhook-endpoint',
        queue: 'webhooks',
        summary: ({ subjectId }) => `Subscription ${subjectId}: failed deliveries, attempted again until none waits`,
      },
    ],
  }),
  servedArea('webhook-pages', {
    contract: webhookPagesArea,
    position: 515,
    handlers: ({ database, gateway, config: { BURSAR_MODE: mode, publicUrl } }) =>
      webhookPageHandlers({
        database,
        mode,
        publicUrl,
        businessNameOf,
        retry: retryWaitingDeliveries({ gateway }),
        abandon: abandonWaitingDeliveries({ gateway }),
      }),
    pages: { getWebhookPage: webhookPageSheet },
    tables: ['webhook_page_links'],
  }),
  servedArea('push-subscriptions', {
    contract: pushSubscriptionsArea,
    position: 530,
    lookups: ({ database }) => ({ pushSubscription: (id) => findPushSubscription(database.read(), id) }),
    handlers: ({ database, vault, relyingParty, config }) => {
      const writes = { database, vault, devices: urlRulesOf(config) };
      return pushHandlers({ ...writes, invited: invitedDevices({ ...writes, relyingParty }) });
    },
    tables: ['push_keys', 'push_subscriptions', 'push_messages'],
    loops: [pushLoop],
  }),
  servedArea('events', {
    contract: eventsArea,
    position: 520,
    handlers: ({ database, stopping }) => eventHandlers({ database, stopping }),
    tables: ['purged_events'],
  }),
]);
