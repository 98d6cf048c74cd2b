/**
 * Deliveries that an owner asks for: one again, a test, what was missed, and dead letters. Each makes new deliveries, so
 * that the ones before stay as they were. A repeat of a call finds the deliveries that it made, by its cause.
 * @module
 */
import * as z from 'zod';
import { idRow } from '../../../db/row-values.ts';
import { firstRowOf, oneRowOf, rowsOf, runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import type { EventName } from '../../../events/catalog.ts';
import { exampleOf } from '../../../events/example.ts';
import { recordChanges } from '../../../events/record.ts';
import type { ReachedId } from '../../../http/reaches.ts';
import { DomainError, notFound } from '../../../kernel/errors.ts';
import type { Id } from '../../../kernel/ids.ts';
import { day, later } from '../../../kernel/instant.ts';
import { assertBelowLimit } from '../../../platform/assert-limit.ts';
import type { Cause } from '../../../platform/cause.ts';
import { eventIsKept } from './delivery.end.service.ts';
import { shownStatus } from './delivery.lease.service.ts';
import { type DeliveryRecord, findDelivery, type WholeDelivery } from './delivery.queries.ts';
import { type DeliveryOrigin, type DeliveryStatus, deliveryStatuses, whyNotRedelivered } from './delivery.rules.ts';
import type { WebhookName } from './webhook.service.ts';

/** How many deliveries, or events to look at, one call takes on. */
export const requestedAtOnce = 5_000;

export type Queued = {
  readonly queued: number;
  /** The first of them. */
  readonly deliveryIds: string[];
  readonly hasMore: boolean;
};

type Former = { readonly id: ReachedId<'delivery'>; readonly row: WholeDelivery };

/** Makes one delivery again, as `id`. A dead letter leaves the queue, so that it is not sent from there too. */
export async function redeliver(tx: Tx, former: Former, id: Id<'delivery'>, cause: Cause): Promise<DeliveryRecord> {
  const { webhookId, ownerId, eventId, event } = former.row;
  if ((await madeBy(tx, cause)) === 0) {
    const subscription = await subscriptionOf(tx, webhookId, ownerId);
    const standing = { status: subscription?.status ?? 'deleted', isDeleted: subscription?.isDeleted ?? true };
    const whyNot = whyNotRedelivered(await statusOf(tx, former.id), standing, former.row.data !== null);
    if (whyNot !== undefined) {
      throw new DomainError('invalid_state', `delivery ${former.id} is not sent again: ${whyNot}`);
    }
    await leaveQueue(tx, webhookId, { deliveryIds: [former.id] }, cause);
    await add(tx, 'redelivery', ownerId, [{ webhookId, eventId, event, id }], cause);
  }
  const made = await findDelivery(tx, id);
  if (made === null) throw new Error(`delivery ${id} is gone`);
  return made;
}

type Sample = {
  readonly ids: { readonly delivery: Id<'delivery'>; readonly event: Id<'event'> };
  readonly event: EventName;
};

/** Sends a sample of that event, as `ids.delivery`; its `data` is the catalog's example with `test: true`. */
export async function sendTest(
  tx: Tx,
  { id: webhookId, ownerId }: WebhookName,
  { ids, event }: Sample,
  cause: Cause,
): Promise<void> {
  if ((await madeBy(tx, cause)) > 0) return;
  const subscription = await subscriptionOf(tx, webhookId, ownerId);
  if (subscription === undefined || subscription.isDeleted) throw notFound('webhook', webhookId);
  if (subscription.status !== 'active') throw inactive(webhookId, subscription.status);
  await assertBelowLimit(tx, 'webhook_tests', { ownerId, subject: ownerId, at: cause.at });
  await runSql(
    tx,
    `insert into webhook_test_events (id, owner_id, name, data, request_id, run_id, created_at)
     values ($1, $2, $3, $4::jsonb, $5, $6, $7)`,
    [
      ids.event,
      ownerId,
      event,
      JSON.stringify({ ...exampleOf(event), test: true }),
      cause.requestId,
      cause.runId ?? null,
      cause.at,
    ],
  );
  await add(tx, 'test', ownerId, [{ webhookId, eventId: ids.event, event, id: ids.delivery }], cause);
}

/** Longer ago, what was received is not known any more, so that it would be sent again. */
export type Retention = { readonly deliveriesKeptDays: number };

type Missed = {
  readonly since: Date;
  readonly until: Date;
  /** Events up to this number were looked at by an earlier call. */
  readonly after: number;
};

/** Sends the events of a time that the subscription wants and neither received nor waits for. */
export async function recoverMissed(
  tx: Tx,
  { id: webhookId, ownerId }: WebhookName,
  { since, until, after }: Missed,
  { deliveriesKeptDays }: Retention,
  cause: Cause,
): Promise<Queued & { readonly position: number }> {
  const subscription = await subscriptionOf(tx, webhookId, ownerId);
  if (subscription === undefined || subscription.isDeleted) throw notFound('webhook', webhookId);
  if (subscription.status !== 'active') throw inactive(webhookId, subscription.status);
  const earliest = later(cause.at, -deliveriesKeptDays * day);
  if (since < earliest) {
    const kept = `deliveries are kept for ${deliveriesKeptDays} days, and what was received before is not known`;
    throw new DomainError('invalid_request', `body.since: ${kept}; name an instant from ${earliest.toISOString()} on`);
  }
  const { eventIds, names, last, more } = await oneRowOf(
    tx,
    missedRow,
    `select event_ids as "eventIds", names, last, more from missed_events($1, $2, $3, $4, $5, $6)`,
    [webhookId, since, until, after, requestedAtOnce, cause.causeId],
  );
  const missed = eventIds.map((eventId, place) => ({ webhookId, eventId, event: names[place] ?? '' }));
  await leaveQueue(tx, webhookId, { eventIds }, cause);
  await add(tx, 'recovery', ownerId, missed, cause);
  return { ...(await queuedBy(tx, cause)), hasMore: more, position: last };
}

const missedRow = z.object({
  eventIds: z.array(z.string()),
  names: z.array(z.string()),
  last: z.int(),
  more: z.boolean(),
});

type WantedLetters = {
  readonly ids?: readonly Id<'delivery'>[] | undefined;
  readonly webhookId?: ReachedId<'webhook'> | undefined;
};

/**
 * Makes dead letters again and takes them out of the queue; those whose subscription is not active, or whose event is
 * not kept any more, stay in it.
 */
export async function redeliverDeadLetters(
  tx: Tx,
  ownerId: string,
  { ids, webhookId }: WantedLetters,
  cause: Cause,
): Promise<Queued> {
  if (webhookId !== undefined) {
    const subscription = await readSubscription(tx, webhookId, ownerId);
    if (subscription?.isDeleted === false && subscription.status !== 'active')
      throw inactive(webhookId, subscription.status);
  }
  const which = `d.owner_id = $1 and d.status = 'dead' and d.dismissed_at is null
    and ($2::text[] is null or d.id = any($2::text[])) and ($3::text is null or d.webhook_id = $3)
    and w.status = 'active' and w.deleted_at is null and (${eventIsKept('d')})`;
  const queue = 'webhook_deliveries d join webhooks w on w.id = d.webhook_id';
  const params = [ownerId, ids === undefined ? null : [...ids], webhookId ?? null];
  // Before their letters, as everywhere here, and in one order, so that no two calls wait for each other.
  const subscriptions = await rowsOf(
    tx,
    idRow,
    `select id from webhooks where id in (select d.webhook_id from ${queue} where ${which})
     order by id for no key update`,
    params,
  );
  const isRepeated = (await madeBy(tx, cause)) > 0;
  const letters = await rowsOf(
    tx,
    letterRow,
    `update webhook_deliveries d set dismissed_at = $4 where not $7::boolean and d.id in (
       select d.id from ${queue} where ${which} and w.id = any($6::text[])
       order by d.created_at, d.id limit $5::int for update of d)
     returning d.webhook_id as "webhookId", d.event_id as "eventId", d.event, d.seq`,
    [...params, cause.at, requestedAtOnce, subscriptions.map(({ id }) => id), isRepeated],
  );
  letters.sort((one, other) => one.seq - other.seq);
  await add(tx, 'redelivery', ownerId, letters, cause);
  const { hasMore } = await oneRowOf(
    tx,
    z.object({ hasMore: z.boolean() }),
    `select exists (select from ${queue} where ${which}) as "hasMore"`,
    params,
  );
  return { ...(await queuedBy(tx, cause)), hasMore };
}

const letterRow = z.object({ webhookId: z.string(), eventId: z.string(), event: z.string(), seq: z.int() });

/** The delivery stays in the list of its subscription. */
export async function dismissDeadLetter(
  tx: Tx,
  { id, ownerId }: { readonly id: ReachedId<'delivery'>; readonly ownerId: string },
  cause: Cause,
): Promise<void> {
  const letter = await firstRowOf(
    tx,
    letterRow,
    `update webhook_deliveries set dismissed_at = $3
     where id = $1 and owner_id = $2 and status = 'dead' and dismissed_at is null
     returning webhook_id as "webhookId", event_id as "eventId", event, seq`,
    [id, ownerId, cause.at],
  );
  if (letter === undefined) throw notFound('dead letter', id);
  const { webhookId, eventId, event } = letter;
  const data = { id, ownerId, webhookId, eventId, event };
  await recordChanges(tx, cause, [{ event: 'dead_letter.deleted', ownerId, subjectId: id, data }]);
}

type Wanted = { readonly webhookId: string; readonly eventId: string; readonly event: string; readonly id?: string };

async function add(
  tx: Tx,
  origin: Exclude<DeliveryOrigin, 'event'>,
  ownerId: string,
  wanted: readonly Wanted[],
  cause: Cause,
): Promise<void> {
  if (wanted.length === 0) return;
  const { made } = await oneRowOf(tx, madeRow, 'select add_deliveries($1, $2, $3, $4, $5, $6, $7) as made', [
    wanted.map(({ webhookId }) => webhookId),
    wanted.map(({ eventId }) => eventId),
    wanted.map(({ event }) => event),
    wanted.map(({ id }) => id ?? null),
    origin,
    cause.causeId,
    cause.at,
  ]);
  // The subscriptions are locked and were active.
  if (made !== wanted.length) throw new Error(`${made} of ${wanted.length} deliveries made`);
  const perWebhook = Map.groupBy(wanted, ({ webhookId }) => webhookId);
  await recordChanges(
    tx,
    cause,
    [...perWebhook].map(([id, { length: deliveries }]) => ({
      event: 'webhook_delivery.requested',
      ownerId,
      subjectId: id,
      data: { id, ownerId, origin, deliveries },
    })),
  );
}

const queuedRow = z.object({ queued: z.int(), deliveryIds: z.array(z.string()) });

const queuedBy = (tx: Tx, { causeId }: Cause): Promise<z.output<typeof queuedRow>> =>
  oneRowOf(
    tx,
    queuedRow,
    `select count(*)::int as queued, coalesce((array_agg(id order by seq))[1:100], '{}') as "deliveryIds"
     from webhook_deliveries where cause_id = $1`,
    [causeId],
  );

const madeRow = z.object({ made: z.int() });

const madeBy = async (tx: Tx, { causeId }: Cause): Promise<number> =>
  (await oneRowOf(tx, madeRow, 'select count(*)::int as made from webhook_deliveries where cause_id = $1', [causeId]))
    .made;

const subscriptionRow = z.object({ status: z.string(), isDeleted: z.boolean() });

type Subscription = z.output<typeof subscriptionRow>;

const standing = `select status, deleted_at is not null as "isDeleted" from webhooks where id = $1 and owner_id = $2`;

/**
 * Locked, so that a deletion or a disabling ends what is added here, and so that of two calls the later one sees what
 * the earlier one made and numbers its events behind it.
 */
const subscriptionOf = (tx: Tx, id: string, ownerId: string): Promise<Subscription | undefined> =>
  firstRowOf(tx, subscriptionRow, `${standing} for no key update`, [id, ownerId]);

const readSubscription = (tx: Tx, id: string, ownerId: string): Promise<Subscription | undefined> =>
  firstRowOf(tx, subscriptionRow, standing, [id, ownerId]);

/** Dead letters that are made again in another way are sent from the queue no more. */
const leaveQueue = (
  tx: Tx,
  webhookId: string,
  { deliveryIds, eventIds }: { readonly deliveryIds?: readonly string[]; readonly eventIds?: readonly string[] },
  { at }: Cause,
): Promise<number> =>
  runSql(
    tx,
    `update webhook_deliveries set dismissed_at = $4
     where webhook_id = $1 and status = 'dead' and dismissed_at is null
       and (id = any($2::text[]) or event_id = any($3::text[]))`,
    [webhookId, deliveryIds ?? [], eventIds ?? [], at],
  );

const statusRow = z.object({ status: z.enum(deliveryStatuses) });

const statusOf = async (tx: Tx, id: string): Promise<DeliveryStatus> =>
  (
    await oneRowOf(tx, statusRow, `select ${shownStatus('d')} as status from webhook_deliveries d where d.id = $1`, [
      id,
    ])
  ).status;

const inactive = (id: string, status: string): DomainError =>
  new DomainError('invalid_state', `webhook ${id} is ${status}; make it active first`);
