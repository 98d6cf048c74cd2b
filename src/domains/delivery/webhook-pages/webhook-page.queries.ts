/**
 * What the page of a subscription shows, in a fixed number of statements whatever the subscription has: the subscription
 * behind a link, its hours, its queue and its newest dead letters. Never a URL's path, a payload or an answer's body.
 * @module
 */
import * as z from 'zod';
import { idValue } from '../../../db/row-values.ts';
import { firstRowOf, oneRowOf, rowsOf, runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import type { ReachedId } from '../../../http/reaches.ts';
import { DomainError } from '../../../kernel/errors.ts';
import { hashSecret } from '../../../vault/secret-hash.ts';
import { isNotUnderWay } from '../webhooks/delivery.lease.service.ts';
import { waitsForRetry, waitsUnparked } from '../webhooks/delivery.order.service.ts';
import { webhookStatuses } from '../webhooks/webhook.rules.ts';
import type { HourOfAttempts, Span } from './webhook-page.rules.ts';
import './webhook-page.entity.ts';

const linkedRow = z.object({
  id: idValue('webhook'),
  ownerId: z.string(),
  url: z.string(),
  status: z.enum(webhookStatuses),
  disabledReason: z.string().nullable(),
  ordered: z.boolean(),
  assumedPlan: z.string(),
  createdAt: z.date(),
  linkExpiresAt: z.date(),
  failuresInRow: z.int(),
  unansweredInRow: z.int(),
  failingSince: z.date().nullable(),
  lastStatus: z.int().nullable(),
  lastOutcome: z.enum(['failure', 'timeout', 'gone']).nullable(),
});
/** The link names this subscription, so its id counts as checked. */
export type LinkedWebhook = Readonly<Omit<z.output<typeof linkedRow>, 'id'>> & { readonly id: ReachedId<'webhook'> };

/** Throws the same for a link that is unknown, replaced, revoked or expired, and for a deleted subscription's. */
export async function webhookBehind(tx: Tx, token: string): Promise<LinkedWebhook> {
  const found = tokenForm.test(token)
    ? await firstRowOf(
        tx,
        linkedRow,
        `select w.id, w.owner_id as "ownerId", w.url, w.status, w.disabled_reason as "disabledReason", w.ordered,
           w.assumed_plan as "assumedPlan", w.created_at as "createdAt", l.expires_at as "linkExpiresAt",
           h.failures_in_row as "failuresInRow", h.timeouts_in_row as "unansweredInRow",
           h.failing_since as "failingSince", h.last_status as "lastStatus", h.last_outcome as "lastOutcome"
         from webhook_page_links l join webhooks w on w.id = l.webhook_id join webhook_health h on h.webhook_id = w.id
         where l.token_hash = $1 and l.expires_at > clock_timestamp() and w.deleted_at is null`,
        [hashSecret(token)],
      )
    : undefined;
  if (found === undefined) throw new DomainError('not_found', 'no subscription has this link, or its time is over');
  return { ...found, id: found.id as ReachedId<'webhook'> };
}

/** The same under the subscription's lock: no revocation is committed between this and the end of the transaction. */
export async function lockWebhookBehind(tx: Tx, token: string): Promise<LinkedWebhook> {
  const { id } = await webhookBehind(tx, token);
  await runSql(tx, 'select from webhooks where id = $1 for no key update', [id]);
  return webhookBehind(tx, token); // A statement after the lock sees what its last holder did.
}

/** Long enough to be left out of refusals, see http/sanitize-for-error.ts. */
const tokenForm = /^[0-9a-f]{32}$/;

const hourRow: z.ZodType<HourOfAttempts> = z.object({
  hour: z.date(),
  attempts: z.int(),
  failures: z.int(),
  answered: z.int(),
  answerMs: z.number(),
  slowestMs: z.int(),
});

/** At most one row for each hour of the span. */
export const hoursOf = (tx: Tx, webhookId: string, { from, to }: Span): Promise<HourOfAttempts[]> =>
  rowsOf(
    tx,
    hourRow,
    `select hour, attempts, failures, answered, answer_ms::float8 as "answerMs", slowest_ms as "slowestMs"
     from webhook_hours where webhook_id = $1 and hour >= $2 and hour < $3 order by hour`,
    [webhookId, from, to],
  );

const queueRow = z.object({
  unsent: z.int(),
  retrying: z.int(),
  underWay: z.int(),
  oldestAt: z.date().nullable(),
  nextAttemptAt: z.date().nullable(),
});
export type Queue = Readonly<z.output<typeof queueRow>>;

/** Counts read an index that holds nothing that is over; the oldest is its first entry. */
export const queueOf = (tx: Tx, webhookId: string): Promise<Queue> =>
  oneRowOf(
    tx,
    queueRow,
    `select first.unsent, again.retrying, again."nextAttemptAt", held."underWay",
       least((select d.created_at from webhook_deliveries d where d.webhook_id = $1 and ${isUnsent} order by d.seq limit 1),
         (select d.created_at from webhook_deliveries d where d.webhook_id = $1 and ${isRetried} order by d.seq limit 1)) as "oldestAt"
     from (select (select count(*)::int from webhook_deliveries d where d.webhook_id = $1 and ${isUnsent})
             + (select count(*)::int from webhook_deliveries where webhook_id = $1 and is_parked) as unsent) first
     cross join (select count(*)::int as retrying, min(d.next_attempt_at) as "nextAttemptAt" from webhook_deliveries d
           where d.webhook_id = $1 and ${isRetried}) again
     cross join (select coalesce(sum(cardinality(seqs)), 0)::int as "underWay" from delivery_claims
           where webhook_id = $1) held`,
    [webhookId],
  );

/** Besides those that are parked behind another one of their subject; that one is older and waits or is under way. */
const isUnsent = `${waitsUnparked} and ${isNotUnderWay('d', 'array[$1::text]')}`;
const isRetried = `${waitsForRetry} and ${isNotUnderWay('d', 'array[$1::text]')}`;

const letterRow = z.object({
  id: idValue('delivery'),
  event: z.string(),
  attempts: z.int(),
  createdAt: z.date(),
  lastStatus: z.int().nullable(),
  lostReason: z.string().nullable(),
});
export type DeadLetter = Readonly<z.output<typeof letterRow>>;

export const lettersShown = 50;
/** Beyond it the page says that there are more. */
export const lettersCounted = 10_000;

export const newestDeadLetters = (tx: Tx, webhookId: string): Promise<DeadLetter[]> =>
  rowsOf(
    tx,
    letterRow,
    `select id, event, attempts_made as attempts, created_at as "createdAt",
       (attempts -> -1 ->> 'responseStatus')::int as "lastStatus", lost_reason as "lostReason"
     from webhook_deliveries where webhook_id = $1 and ${isDeadLetter} order by created_at desc, id desc limit $2`,
    [webhookId, lettersShown],
  );

export const countDeadLetters = async (tx: Tx, webhookId: string): Promise<number> =>
  (
    await oneRowOf(
      tx,
      z.object({ letters: z.int() }),
      `select count(*)::int as letters from (
         select from webhook_deliveries where webhook_id = $1 and ${isDeadLetter} limit $2) counted`,
      [webhookId, lettersCounted + 1],
    )
  ).letters;

const isDeadLetter = `status = 'dead' and dismissed_at is null`;

/** How many deliveries wait for another attempt. */
export const countRetries = async (tx: Tx, webhookId: string): Promise<number> =>
  (
    await oneRowOf(
      tx,
      z.object({ retries: z.int() }),
      `select count(*)::int as retries from webhook_deliveries d where d.webhook_id = $1 and ${isRetried}`,
      [webhookId],
    )
  ).retries;
