/**
 * The one way to get the right to deliver: a claim with a lease and a fencing token, within the receiver's free
 * places. First attempts and retries both come through here, so two processes never deliver one at once.
 * @module
 */
import * as z from 'zod';
import { idRow, idValue } from '../../../db/row-values.ts';
import { oneRowOf, rowsOf } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import type { Id } from '../../../kernel/ids.ts';
import { type Backlog, throughIndexes, unknownBacklog } from './delivery.backlog.service.ts';
import { endWithoutEvent } from './delivery.end.service.ts';
import { type ClaimedPlace, leaveClaims, lockHealth, releaseExpired } from './delivery.lease.service.ts';
import { freeForgotten, mostUncrowded, parkBlocked, type SubjectPlace } from './delivery.order.service.ts';
import { placesForRetries, unansweredUntilProbing } from './webhook.rules.ts';
import { bodyOf } from './webhook.signature.ts';

const receiver = z.object({
  webhookId: idValue('webhook'),
  ownerId: z.string(),
  url: z.string(),
  sealedSecret: z.string(),
  /** Signs too, after a rotation. */
  previousSealedSecret: z.string().nullable(),
});

const claimedEvent = z.object({
  eventId: z.string(),
  event: z.string(),
  requestId: z.string(),
  runId: z.string().nullable(),
  /** The event's number; 0 of a test. */
  sequence: z.int(),
  createdAt: z.string().transform((text) => new Date(text)),
  data: z.record(z.string(), z.unknown()),
});

/** What stands at one position of the columns belongs together. A document costs a third of rows that repeat receiver and event. */
const claimedDocument = z.object({
  deliveries: z.object({
    id: z.array(idValue('delivery')),
    seq: z.array(z.int()),
    webhookId: z.array(idValue('webhook')),
    eventId: z.array(z.string()),
    isOrdered: z.array(z.boolean()),
    plan: z.array(z.string()),
    attempt: z.array(z.int()),
    claimCount: z.array(z.int()),
    claim: z.array(z.int()),
  }),
  receivers: z.array(receiver),
  events: z.array(claimedEvent),
});
type ClaimedDocument = z.output<typeof claimedDocument>;

type ClaimedEvent = z.output<typeof claimedEvent>;
export type Claimed = Readonly<
  z.output<typeof receiver> &
    Pick<ClaimedEvent, 'event' | 'requestId' | 'runId' | 'sequence'> & {
      id: Id<'delivery'>;
      /** The next one of its subject waits until this one is over. */
      isOrdered: boolean;
      plan: string;
      /** The number of the attempt that this claim is for. */
      attempt: number;
      /** How often the delivery was claimed, with this claim: the number in `X-Service-Delivery-Id`. */
      claimCount: number;
      /** The fencing token: a result counts only while this claim has the delivery. */
      claim: number;
      /** The delivery's number. */
      seq: number;
      /** Of the request: the same text for all deliveries of an event. */
      body: string;
    }
>;

export type ClaimLimits = {
  /** Attempts under way to one receiver, over all processes. */
  readonly perReceiver: number;
  readonly leaseMs: number;
};

/** `hasMore`: some were parked, or ended without their event, so that the next claim may find others behind them. */
export type FirstAttempts = { readonly claimed: Claimed[]; readonly hasMore: boolean };

export type Circumstances = {
  readonly backlog?: Backlog;
  /** Take no place of their receiver any more: they succeeded, which is recorded soon. */
  readonly over?: readonly ClaimedPlace[];
};

/** `lost`: claimed without an event to send. `crowded`: receivers that `claimCrowded` claims for. */
type Claim = { readonly claimed: Claimed[]; readonly lost: readonly Lost[]; readonly crowded: readonly string[] };
type Lost = Pick<Claimed, 'id' | 'webhookId' | 'claim' | 'seq'>;

/**
 * Up to `most` deliveries never attempted, oldest first per receiver, receivers in no order. One statement, which needs
 * no transaction around it. Locks the health of receivers, and waits for no lock.
 */
export async function claimFirstAttempts(
  tx: Tx,
  most: number,
  { perReceiver, leaseMs }: ClaimLimits,
  { backlog: { newFrom, older } = unknownBacklog, over = [] }: Circumstances = {},
): Promise<Claim> {
  const { claimed, crowded } = await oneRowOf(
    tx,
    firstAttemptsRow,
    'select claimed, crowded from claim_first_attempts($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)',
    [
      ...[newFrom, Object.keys(older), Object.values(older), mostUncrowded],
      ...[...placesOf(perReceiver, shareOf(most), over), most, leaseMs],
    ],
  );
  return { ...withBodies(claimed), crowded };
}

const firstAttemptsRow = z.object({ claimed: claimedDocument.nullable(), crowded: z.array(z.string()) });

/** No receiver gets more than a quarter of the free places, so that the others find room however many receivers hang. */
const shareOf = (most: number): number => Math.max(1, Math.floor(most / 4));

/** As the functions take them. */
const placesOf = (perReceiver: number, share: number, over: readonly ClaimedPlace[]) =>
  [
    ...[perReceiver, placesForRetries(perReceiver), share, unansweredUntilProbing],
    ...[over.map(({ claim }) => claim), over.map(({ seq }) => seq)],
  ] as const;

/**
 * After `claimFirstAttempts` of `most`, for the receivers that it found crowded: the `left` ones of `most`. A receiver
 * without a free place is not looked at. Waits for no lock.
 */
export async function claimCrowded(
  tx: Tx,
  webhookIds: readonly string[],
  { most, left }: { readonly most: number; readonly left: number },
  { perReceiver, leaseMs }: ClaimLimits,
  { over = [] }: Circumstances = {},
): Promise<FirstAttempts> {
  const places = placesOf(perReceiver, shareOf(most), over);
  await throughIndexes(tx);
  const locked = await rowsOf(tx, idRow, lockFreeHealth, [webhookIds]);
  // A statement after the lock: it sees what an earlier holder claimed.
  const free = await rowsOf(
    tx,
    idRow,
    'select webhook_id as id from free_delivery_places($1, false, $2, $3, $4, $5, $6, $7) where places > 0',
    [locked.map(({ id }) => id), ...places],
  );
  if (free.length === 0) return { claimed: [], hasMore: false };
  const looked = await parkBlocked(
    tx,
    free.map(({ id }) => id),
  );
  const { claimed, hasMore } = await claim(
    tx,
    [looked.map(({ webhookId }) => webhookId), looked.map(() => '0'), looked.map(({ through }) => through), null],
    [...places, left, leaseMs],
  );
  return { claimed, hasMore: hasMore || looked.some(({ parked }) => parked > 0) };
}

const lockFreeHealth = `select h.webhook_id as id from webhook_health h join webhooks w on w.id = h.webhook_id
  where h.webhook_id = any($1::text[]) and w.status = 'active' and w.deleted_at is null for update of h skip locked`;

/**
 * Up to `most` deliveries of one subscription that were attempted before and are due at business time `now`, oldest
 * first. None where the receiver has no free place or takes nothing. Waits for other claims on the same receiver.
 */
export async function claimRetries(
  tx: Tx,
  webhookId: Id<'webhook'>,
  now: Date,
  most: number,
  { perReceiver, leaseMs }: ClaimLimits,
): Promise<Claimed[]> {
  await lockHealth(tx, [webhookId]);
  await releaseExpired(tx, [webhookId]);
  const terms = [...placesOf(perReceiver, perReceiver, []), most, leaseMs];
  for (;;) {
    const { claimed, hasMore } = await claim(tx, [[webhookId], [], [], now], terms);
    if (claimed.length > 0 || !hasMore) return claimed;
  }
}

type Which = readonly [
  receivers: readonly string[],
  from: readonly string[],
  through: readonly string[],
  due: Date | null,
];

async function claim(tx: Tx, which: Which, terms: readonly unknown[]): Promise<FirstAttempts> {
  const { claimed } = await oneRowOf(
    tx,
    z.object({ claimed: claimedDocument.nullable() }),
    'select claim_deliveries($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) as claimed',
    [...which, ...terms],
  );
  const taken = withBodies(claimed);
  await endLost(tx, taken.lost);
  return { claimed: taken.claimed, hasMore: taken.lost.length > 0 };
}

/**
 * Deliveries whose event is not kept any more end here: otherwise they would be claimed again and again, and what waits
 * behind them would never be sent.
 */
export async function endLost(tx: Tx, lost: readonly Lost[]): Promise<void> {
  if (lost.length === 0) return;
  // Claims are locked before deliveries.
  await leaveClaims(tx, lost);
  await endWithoutEvent(tx, lost);
}

function withBodies(document: ClaimedDocument | null): Pick<Claim, 'claimed' | 'lost'> {
  if (document === null) return { claimed: [], lost: [] };
  const { deliveries, receivers, events } = document;
  const receiverOf = new Map(receivers.map((one) => [one.webhookId, one]));
  // An event mostly goes to several receivers: its body is written once.
  const eventOf = new Map(
    events.map(({ eventId, createdAt, data, ...rest }) => [
      eventId,
      { ...rest, body: bodyOf({ event: rest.event, createdAt, data, sequence: rest.sequence }) },
    ]),
  );
  const lost: Lost[] = [];
  const claimed: Claimed[] = [];
  for (const [at, id] of deliveries.id.entries()) {
    const [to, event] = [receiverOf.get(column(deliveries.webhookId, at)), eventOf.get(column(deliveries.eventId, at))];
    if (to === undefined) throw new Error(`${id} was claimed without its subscription`);
    const place = { id, seq: column(deliveries.seq, at), claim: column(deliveries.claim, at) };
    if (event === undefined) lost.push({ ...place, webhookId: to.webhookId });
    else {
      claimed.push({
        ...place,
        ...to,
        ...event,
        isOrdered: column(deliveries.isOrdered, at),
        plan: column(deliveries.plan, at),
        attempt: column(deliveries.attempt, at),
        claimCount: column(deliveries.claimCount, at),
      });
    }
  }
  return { claimed, lost };
}

function column<Value>(values: readonly Value[], place: number): Value {
  const value = values[place];
  if (value === undefined) throw new Error(`a claim of ${values.length} deliveries has none at ${place}`);
  return value;
}

/** Frees what is parked behind nothing, some subjects at a time, and answers where the next call goes on. */
export async function freeForgottenFrom(tx: Tx, after: SubjectPlace): Promise<SubjectPlace> {
  await throughIndexes(tx);
  return (await freeForgotten(tx, after, subjectsAtOnce)).next;
}

const subjectsAtOnce = 1_000;

/** Closed subscriptions with deliveries that a change under way added meanwhile. */
export const closedReceivers = (tx: Tx, { receivers }: Backlog): Promise<{ id: string }[]> =>
  rowsOf(
    tx,
    idRow,
    `select id from webhooks where id = any($1::text[]) and (deleted_at is not null or status = 'disabled')`,
    [receivers],
  );
