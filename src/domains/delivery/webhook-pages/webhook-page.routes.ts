/** Answers the operations of a subscription's page: the link finds the subscription, the service does the rest. No decision is made here. @module */
import type { Database } from '../../../db/database.ts';
import type { Tx } from '../../../db/tx.ts';
import { inTransaction } from '../../../http/in-transaction.ts';
import type { Handlers } from '../../../http/route.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { Cause } from '../../../platform/cause.ts';
import type { Mode } from '../../../platform/mode.ts';
import { findPlan } from '../../parties/index.ts';
import { assertDeadLetters } from '../webhooks/dead-letter.service.ts';
import { redeliverDeadLetters, sendTest } from '../webhooks/delivery.repeat.service.ts';
import { requestAbandon, requestRetry } from './retry-request.service.ts';
import type { webhookPagesArea } from './webhook-page.contract.ts';
import {
  countDeadLetters,
  hoursOf,
  type LinkedWebhook,
  lockWebhookBehind,
  newestDeadLetters,
  queueOf,
  webhookBehind,
} from './webhook-page.queries.ts';
import { type Period, partsOf, spanOf, sumOf } from './webhook-page.rules.ts';
import { createPageLink, revokePageLink } from './webhook-page.service.ts';
import { pageUrlOf, webhookPageWire } from './webhook-page.wire.ts';

export type WebhookPageDeps = {
  readonly database: Database;
  readonly mode: Mode;
  readonly publicUrl: string;
  /** As people know the owner; null where no business is named. */
  readonly businessNameOf: (tx: Tx, ownerId: string) => Promise<string | null>;
  /** Each asks the workflow run of the retries, and throws `unavailable` where it does not answer. */
  readonly retry: (webhookId: Id<'webhook'>, cause: Cause) => Promise<void>;
  readonly abandon: (webhookId: Id<'webhook'>, cause: Cause) => Promise<void>;
};

export const webhookPageHandlers = (deps: WebhookPageDeps): Handlers<typeof webhookPagesArea> => {
  const { database, mode, publicUrl } = deps;
  const behind = (token: string): Promise<LinkedWebhook> => webhookBehind(database.read(), token);
  return {
    createWebhookPageLink: async ({ params, body, own: { ownerId } }, call) => {
      const name = { id: params.id, ownerId };
      const { token, expiresAt } = await inTransaction(deps, call, (tx, cause) =>
        createPageLink(tx, name, body, cause),
      );
      return { webhookId: params.id, url: pageUrlOf(publicUrl, token), expiresAt: expiresAt.toISOString() };
    },

    revokeWebhookPageLink: async ({ params, own: { ownerId } }, call) => {
      const name = { id: params.id, ownerId };
      await inTransaction(deps, call, (tx, cause) => revokePageLink(tx, name, cause));
      return undefined;
    },

    getWebhookPage: async ({ params, query }, call) =>
      shown(deps, await behind(params.token), query.period, await call.now()),

    testByLink: async ({ params }, call) => {
      const ids = { delivery: call.newId('delivery'), event: call.newId('event') };
      await inTransaction(deps, call, async (tx, cause) => {
        const webhook = await lockWebhookBehind(tx, params.token);
        await sendTest(tx, webhook, { ids, event: 'transaction.completed' }, causedBy(webhook, cause));
      });
      return { deliveryId: ids.delivery };
    },

    retryByLink: async ({ params }, call) => {
      const asked = await inTransaction(deps, call, async (tx, cause) => {
        const webhook = await lockWebhookBehind(tx, params.token);
        return requestRetry(tx, webhook, causedBy(webhook, cause));
      });
      await deps.retry(asked.webhookId, call.cause);
      return { deliveries: asked.deliveries };
    },

    abandonByLink: async ({ params }, call) => {
      const asked = await inTransaction(deps, call, async (tx, cause) => {
        const webhook = await lockWebhookBehind(tx, params.token);
        return requestAbandon(tx, webhook, causedBy(webhook, cause));
      });
      await deps.abandon(asked.webhookId, call.cause);
      return { deliveries: asked.deliveries };
    },

    redeliverByLink: async ({ params, body }, call) => {
      const { queued, hasMore } = await inTransaction(deps, call, async (tx, cause) => {
        const webhook = await lockWebhookBehind(tx, params.token);
        await assertDeadLetters(tx, mode, webhook.ownerId);
        const letters = { webhookId: webhook.id, ids: body.ids };
        return redeliverDeadLetters(tx, webhook.ownerId, letters, causedBy(webhook, cause));
      });
      return { queued, hasMore };
    },
  };
};

/** Audit rows say that it came from the page. */
const causedBy = ({ id }: LinkedWebhook, cause: Cause): Cause => ({ ...cause, actor: { kind: 'webhook-page', id } });

async function shown({ database, businessNameOf }: WebhookPageDeps, webhook: LinkedWebhook, period: Period, now: Date) {
  const tx = database.read();
  const span = spanOf(period, now);
  const [businessName, plan, hours, queue, counted, newest] = await Promise.all([
    businessNameOf(tx, webhook.ownerId),
    findPlan(tx, webhook.ownerId),
    hoursOf(tx, webhook.id, span),
    queueOf(tx, webhook.id),
    countDeadLetters(tx, webhook.id),
    newestDeadLetters(tx, webhook.id),
  ]);
  return webhookPageWire({
    webhook,
    businessName,
    plan: plan ?? webhook.assumedPlan,
    period,
    whole: sumOf(hours),
    parts: partsOf(span, hours),
    queue,
    letters: { counted, newest },
    now,
  });
}
