/** Webhook subscriptions, the delivery of events to them, and the feed of events. @module */

import { webhookEndpointActivities } from '../../../activities/delivery/webhook-endpoint.activities.ts';
import { eventsArea } from '../../domains/delivery/events/event.contract.ts';
import { eventHandlers } from '../../domains/delivery/events/event.routes.ts';
import { findDelivery } from '../../domains/delivery/webhooks/delivery.queries.ts';
import { endpointWorkflow } from '../../domains/delivery/webhooks/endpoint.messages.ts';
import { webhooksArea } from '../../domains/delivery/webhooks/webhook.contract.ts';
import { WebhookRow } from '../../domains/delivery/webhooks/webhook.entity.ts';
import { findWebhook } from '../../domains/delivery/webhooks/webhook.queries.ts';
import { webhookHandlers } from '../../domains/delivery/webhooks/webhook.routes.ts';
import { claimLimits } from '../../relay/deliveries.ts';
import { urlRulesOf } from '../config.ts';
import { defineModule, servedArea } from './module.ts';

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
        receivers: { ...urlRulesOf(config), httpsOnly: config.BURSAR_WEBHOOKS_HTTPS_ONLY },
      }),
    entities: [WebhookRow],
    tables: ['webhooks', 'webhook_deliveries', 'webhook_health'],
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
  servedArea('events', {
    contract: eventsArea,
    position: 520,
    handlers: ({ database, stopping }) => eventHandlers({ database, stopping }),
    tables: [],
  }),
]);
