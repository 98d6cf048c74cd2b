/** The shape of a subscription's page, and its link. Shapes only. @module */
import { businessTimeInWords } from '../../../http/business-time.ts';
import { isoOrNull } from '../../../kernel/instant.ts';
import { tierOf } from '../webhooks/delivery.rules.ts';
import { isProbed } from '../webhooks/webhook.rules.ts';
import type { WebhookPageWire } from './webhook-page.contract.ts';
import { type DeadLetter, type LinkedWebhook, lettersCounted, type Queue } from './webhook-page.queries.ts';
import { hostOf, type Part, type Period, type Sum } from './webhook-page.rules.ts';

export type ShownPage = {
  readonly webhook: LinkedWebhook;
  readonly businessName: string | null;
  readonly plan: string;
  readonly period: Period;
  readonly whole: Sum;
  readonly parts: readonly Part[];
  readonly queue: Queue;
  readonly letters: { readonly counted: number; readonly newest: readonly DeadLetter[] };
  readonly now: Date;
};

export const pageUrlOf = (publicUrl: string, token: string): string =>
  `${publicUrl.replace(/\/$/, '')}/webhook-pages/${token}`;

export const webhookPageWire = ({ webhook, businessName, plan, now, ...shown }: ShownPage): WebhookPageWire => ({
  webhookId: webhook.id,
  businessName,
  host: hostOf(webhook.url),
  status: webhook.status,
  disabledReason: webhook.disabledReason,
  ordered: webhook.ordered,
  plan,
  maxAttempts: tierOf(plan).maxAttempts,
  createdAt: webhook.createdAt.toISOString(),
  linkExpiresAt: webhook.linkExpiresAt.toISOString(),
  now: now.toISOString(),
  businessTime: businessTimeInWords(now) ?? null,
  failing: failingOf(webhook),
  period: shown.period,
  whole: shown.whole,
  parts: shown.parts.map(({ from, ...sum }) => ({ from: from.toISOString(), ...sum })),
  queue: {
    unsent: shown.queue.unsent,
    retrying: shown.queue.retrying,
    underWay: shown.queue.underWay,
    oldestAt: isoOrNull(shown.queue.oldestAt),
    nextAttemptAt: isoOrNull(shown.queue.nextAttemptAt),
  },
  deadLetters: tierOf(plan).hasDeadLetters || shown.letters.counted > 0 ? lettersOf(shown.letters) : null,
});

const failingOf = ({ failingSince, failuresInRow, unansweredInRow, lastStatus }: LinkedWebhook) =>
  failingSince === null
    ? null
    : {
        since: failingSince.toISOString(),
        failures: failuresInRow,
        isProbed: isProbed(unansweredInRow),
        lastStatus,
      };

const lettersOf = ({ counted, newest }: ShownPage['letters']) => ({
  letters: Math.min(counted, lettersCounted),
  hasMore: counted > lettersCounted,
  newest: newest.map(({ createdAt, ...letter }) => ({ ...letter, createdAt: createdAt.toISOString() })),
});
