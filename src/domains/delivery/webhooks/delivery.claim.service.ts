/**
 * The one way to get the right to deliver: a claim with a lease and a fencing token, within the receiver's free
 * places. First attempts and retries both come through here, so two processes never deliver one at once.
 * @module
 */
import * as z from 'zod';
import { idRow, idValue } from '../../../db/row-values.ts';
import { rowsOf, runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import type { Id } from '../../../kernel/ids.ts';
import { type Backlog, firstWaiting, throughIndexes, unknownBacklog } from './delivery.backlog.service.ts';
import { endWithoutEvent } from './delivery.end.service.ts';
import {
  freeForgotten,
  isCrowded,
  isNextOfSubject,
  type Looked,
  mostUncrowded,
  parkBlocked,
  type SubjectPlace,
  waitsUnparked,
} from './delivery.order.service.ts';
import { unansweredUntilProbing } from './webhook.rules.ts';
import { bodyOf } from './webhook.signature.ts';

const claimedDelivery = z.object({
  id: idValue('delivery'),
  webhookId: idValue('webhook'),
  /** The next one of its subject waits until this one is over. */
  isOrdered: z.boolean(),
  ownerId: z.string(),
  plan: z.string(),
  /** The number of the attempt that this claim is for. */
  attempt: z.int(),
  /** The fencing token: a result is recorded only while it is the row's. */
  fence: z.int(),
  url: z.string(),
  sealedSecret: z.string(),
  /** Signs too, after a rotation. */
  previousSealedSecret: z.string().nullable(),
  event: z.string(),
  requestId: z.string(),
  runId: z.string().nullable(),
  /** The event's number; 0 of a test. */
  sequence: z.int(),
  eventId: z.string(),
  createdAt: z.date(),
  data: z.string(),
});
type ClaimedRow = z.output<typeof claimedDelivery>;
/** `body`: of the request, the same text for all deliveries of an event. */
export type Claimed = Readonly<Omit<ClaimedRow, 'eventId' | 'createdAt' | 'data'>> & { readonly body: string };

/** Its event was purged while it waited: there is nothing to send. */
const claimedWithoutEvent = z.object({ id: idValue('delivery'), webhookId: idValue('webhook'), createdAt: z.null() });
const claimedRow = z.union([claimedDelivery, claimedWithoutEvent]);

export type ClaimLimits = {
  /** Attempts under way to one receiver, over all processes. */
  readonly perReceiver: number;
  readonly leaseMs: number;
};

/** `hasMore`: some were parked, so that the next claim may find others behind them. */
export type FirstAttempts = { readonly claimed: Claimed[]; readonly hasMore: boolean };

/** Up to `most` deliveries never attempted, oldest first per receiver, receivers in no order. */
export async function claimFirstAttempts(
  tx: Tx,
  most: number,
  limits: ClaimLimits,
  { newFrom, older }: Backlog = unknownBacklog,
): Promise<FirstAttempts> {
  await throughIndexes(tx);
  const receivers = await rowsOf(tx, receiverRow, lockReceiversWithWork, [mostUncrowded, newFrom, Object.keys(older)]);
  if (receivers.length === 0) return { claimed: [], hasMore: false };
  // No receiver gets more than a quarter of the free slots, so that the others find room however many receivers hang.
  const share = Math.max(1, Math.floor(most / 4));
  const crowded = receivers.flatMap(({ id, isCrowded }) => (isCrowded ? [id] : []));
  const looked = await parkWhereFree(tx, crowded, limits, share);
  const claimed = await claim(tx, claimOf(waiting), [
    receivers.map(({ id }) => id),
    limits.perReceiver,
    unansweredUntilProbing,
    share,
    most,
    limits.leaseMs,
    receivers.map(({ id }) => older[id] ?? newFrom),
    receivers.map(({ id, isCrowded }) => (isCrowded ? lookedThrough(looked, id) : endOfQueue)),
  ]);
  return { claimed, hasMore: looked.some(({ parked }) => parked > 0) };
}

/** A receiver without a free place is not looked at, so that nothing is claimed for it here. */
async function parkWhereFree(
  tx: Tx,
  crowded: readonly string[],
  { perReceiver }: ClaimLimits,
  share: number,
): Promise<Looked[]> {
  if (crowded.length === 0) return [];
  const free = await rowsOf(tx, idRow, receiversWithPlaces, [crowded, perReceiver, unansweredUntilProbing, share]);
  return free.length === 0
    ? []
    : parkBlocked(
        tx,
        free.map(({ id }) => id),
      );
}

/** Less, and greater, than the number of any delivery. */
const startOfQueue = '0';
const endOfQueue = '9223372036854775807';
const lookedThrough = (looked: readonly Looked[], id: string): string =>
  looked.find(({ webhookId }) => webhookId === id)?.through ?? '0';

const receiverRow = z.object({ id: idValue('webhook'), isCrowded: z.boolean() });

/**
 * Up to `most` deliveries of one subscription that were attempted before and are due at business time `now`, oldest
 * first. None where the receiver has no free place or takes nothing. Waits for other claims on the same receiver.
 */
export async function claimRetries(
  tx: Tx,
  webhookId: Id<'webhook'>,
  now: Date,
  most: number,
  limits: ClaimLimits,
): Promise<Claimed[]> {
  await throughIndexes(tx);
  await runSql(tx, 'select 1 from webhook_health where webhook_id = $1 for update', [webhookId]);
  await releaseExpiredRetries(tx, webhookId);
  return claim(tx, claimOf(due), [
    [webhookId],
    limits.perReceiver,
    unansweredUntilProbing,
    limits.perReceiver,
    most,
    limits.leaseMs,
    [startOfQueue],
    [endOfQueue],
    now,
  ]);
}

/**
 * Deliveries whose event is not kept any more end here, in the claim's transaction: otherwise they would be claimed
 * again and again, and what waits behind them would never be sent.
 */
async function claim(tx: Tx, statement: string, params: readonly unknown[]): Promise<Claimed[]> {
  const rows = await rowsOf(tx, claimedRow, statement, params);
  const lost = rows.flatMap((row) => (row.createdAt === null ? [row] : []));
  const kept = withBodies(rows.flatMap((row) => (row.createdAt === null ? [] : [row])));
  if (lost.length === 0) return kept;
  await endWithoutEvent(tx, lost);
  // Places are free again; the caller takes an empty answer for an empty queue.
  return kept.length > 0 ? kept : claim(tx, statement, params);
}

/** An event mostly goes to several receivers: its body is written once. */
function withBodies(rows: readonly ClaimedRow[]): Claimed[] {
  const bodies = new Map<string, string>();
  return rows.map(({ eventId, createdAt, data, ...row }) => {
    const { event, sequence } = row;
    const body = bodies.get(eventId) ?? bodyOf({ event, createdAt, data: eventData.parse(JSON.parse(data)), sequence });
    bodies.set(eventId, body);
    return { ...row, body };
  });
}

const eventData = z.record(z.string(), z.unknown());

/** Retries whose holder died can be claimed again. Skips a row that a late result is being written to. */
const releaseExpiredRetries = (tx: Tx, webhookId: string): Promise<number> =>
  runSql(
    tx,
    `update webhook_deliveries set status = 'pending', lease_until = null where id in (
       select id from webhook_deliveries
       where webhook_id = $1 and status = 'delivering' and attempts_made > 0 and lease_until < now()
       for update skip locked)`,
    [webhookId],
  );

/** First attempts whose holder died become claimable again; retries do when the next ones are claimed. */
export async function releaseExpired(tx: Tx): Promise<number> {
  await throughIndexes(tx);
  const released = await runSql(
    tx,
    `update webhook_deliveries set status = 'pending', lease_until = null where id in (
       select id from webhook_deliveries where status = 'delivering' and attempts_made = 0 and lease_until < now()
       for update skip locked)
     returning id`,
  );
  return released;
}

/** Frees what is parked behind nothing, some subjects at a time, and answers where the next call goes on. */
export async function freeForgottenFrom(tx: Tx, after: SubjectPlace): Promise<SubjectPlace> {
  await throughIndexes(tx);
  return (await freeForgotten(tx, after, subjectsAtOnce)).next;
}

const subjectsAtOnce = 1_000;

/** Held to the end of the transaction: the count of attempts under way is taken by the next statement, which sees
 * what an earlier holder claimed. A statement with parameters is planned once, and this plan took as long as the rest. */
const lockReceiversWithWork = `with recursive ${firstWaiting('$2::bigint')}
  select h.webhook_id as id, ${isCrowded} as "isCrowded" from webhook_health h join webhooks w on w.id = h.webhook_id
  where h.webhook_id in (select id from receiver union all select unnest($3::text[]))
    and w.status = 'active' and w.deleted_at is null
  for update of h skip locked`;

/** Closed subscriptions with deliveries that a change under way added meanwhile. */
export const closedReceivers = (tx: Tx, { receivers }: Backlog): Promise<{ id: string }[]> =>
  rowsOf(
    tx,
    idRow,
    `select id from webhooks where id = any($1::text[]) and (deleted_at is not null or status = 'disabled')`,
    [receivers],
  );

const waiting = `${waitsUnparked} and ${isNextOfSubject}`;
const due = `d.status = 'pending' and d.attempts_made > 0 and d.next_attempt_at <= $9`;

/** Attempts that may begin at receiver `w`, with its health `h`. */
const freePlaces = `least($4::int, case when h.timeouts_in_row >= $3::int then 1 else $2::int end)
        - (select count(*)::int from webhook_deliveries d
           where d.webhook_id = w.id and d.status = 'delivering' and d.lease_until > now())`;

const receiversWithPlaces = `select w.id from unnest($1::text[]) as w(id) join webhook_health h on h.webhook_id = w.id
  where ${freePlaces} > 0`;

const claimOf = (condition: string): string => `
  with receiver as (
    select w.id, w.url, w.sealed_secret,
      case when w.previous_secret_until > now() then w.previous_sealed_secret end as previous_sealed_secret,
      ${freePlaces} as places,
      wanted.first, wanted.through
    from unnest($1::text[], $7::bigint[], $8::bigint[]) as wanted(id, first, through)
    join webhook_health h on h.webhook_id = wanted.id join webhooks w on w.id = h.webhook_id
    where w.status = 'active' and w.deleted_at is null),
  picked as (
    select p.id, r.url, r.sealed_secret, r.previous_sealed_secret
    from (select * from receiver order by random()) r cross join lateral (
      select d.id from webhook_deliveries d where d.webhook_id = r.id and d.seq between r.first and r.through and ${condition}
      order by d.seq limit greatest(r.places, 0) for update skip locked) p
    limit $5::int),
  claimed as (
    update webhook_deliveries d
    set status = 'delivering', claims = d.claims + 1, lease_until = now() + $6::int * interval '1 millisecond'
    from picked p where d.id = p.id
    returning d.*, p.url, p.sealed_secret, p.previous_sealed_secret)
  select c.id, c.webhook_id as "webhookId", c.subject_id is not null as "isOrdered", c.owner_id as "ownerId", c.plan,
    c.attempts_made + 1 as attempt,
    c.claims as fence, c.url, c.sealed_secret as "sealedSecret", c.previous_sealed_secret as "previousSealedSecret",
    c.event, coalesce(e.request_id, t.request_id) as "requestId", coalesce(e.run_id, t.run_id) as "runId",
    coalesce(e.seq, 0) as sequence, c.event_id as "eventId", coalesce(e.created_at, t.created_at) as "createdAt",
    coalesce(e.data, t.data)::text as data
  from claimed c left join events e on e.id = c.event_id
  left join webhook_test_events t on e.id is null and t.id = c.event_id order by c.id`;
