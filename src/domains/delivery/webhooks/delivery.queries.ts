/** Delivery reads: one with its payload and attempts, and pages of one subscription. @module */
import { sql } from 'kysely';
import { type Given, query } from '../../../db/db.ts';
import { type Filters, list, newestFirst, page } from '../../../db/page.ts';
import type { RowOf } from '../../../db/tables.ts';
import type { Tx } from '../../../db/tx.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { Page, PageQuery } from '../../../kernel/page.ts';
import type { AttemptRecord } from './delivery.entity.ts';
import { isUnderWay, shownStatus } from './delivery.lease.service.ts';
import type { DeliveryStatus } from './delivery.rules.ts';

const columns = [
  'd.id',
  'd.webhookId',
  'd.ownerId',
  'd.event',
  'd.eventId',
  'd.plan',
  'd.attemptsMade',
  'd.claims',
  'd.successStatus',
  'd.successMs',
  'd.nextAttemptAt',
  'd.lostReason',
  'd.origin',
  'd.createdAt',
  'd.deliveredAt',
] as const;
type Column = (typeof columns)[number] extends `d.${infer Name}` ? Name : never;

const status = sql.raw<DeliveryStatus>(shownStatus('d')).as('status');

export type DeliveryRecord = Readonly<Pick<RowOf<'webhook_deliveries'>, Column>> & {
  readonly status: DeliveryStatus;
  /** Of those in `attempts`. */
  readonly lastRecorded: AttemptRecord | null;
};
export type WholeDelivery = DeliveryRecord & {
  /** Without the one that succeeded, where that is in columns. */
  readonly attempts: readonly AttemptRecord[];
  /** Null, with `occurredAt`, where the event is not kept any more. */
  readonly data: Record<string, unknown> | null;
  readonly occurredAt: Date | null;
  readonly sequence: number;
};

export type DeliveryFilter = {
  readonly webhookId: Id<'webhook'>;
  readonly status?: DeliveryStatus | undefined;
  readonly event?: string | undefined;
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
};

const lastRecorded = sql<AttemptRecord | null>`d.attempts -> -1`.as('lastRecorded');

const whole = query((from, given: Given<{ id: string }>) =>
  from
    .selectFrom('webhook_deliveries as d')
    .leftJoin('events as e', 'e.id', 'd.eventId')
    .leftJoin('webhook_test_events as t', 't.id', 'd.eventId')
    .select(columns)
    .select([
      status,
      lastRecorded,
      'd.attempts',
      sql<Record<string, unknown> | null>`coalesce(e.data, t.data)`.as('data'),
      sql<Date | null>`coalesce(e.created_at, t.created_at)`.as('occurredAt'),
      sql<number>`coalesce(e.seq, 0)`.as('sequence'),
    ])
    .where('d.id', '=', given('id')),
);

export const findDelivery = (tx: Tx, id: Id<'delivery'>): Promise<WholeDelivery | null> => whole.first(tx, { id });

/** Under way is not a status that is stored. */
type StoredFilter = DeliveryFilter & {
  readonly underWayTo?: Id<'webhook'> | undefined;
  readonly isWaiting?: true | undefined;
};

const deliveries = list((from, given: Filters<StoredFilter>) => {
  let wanted = from
    .selectFrom('webhook_deliveries as d')
    .select(columns)
    .select([status, lastRecorded])
    .where('d.webhookId', '=', given('webhookId'));
  if (given.has('status')) wanted = wanted.where('d.status', '=', given('status'));
  if (given.has('underWayTo')) {
    wanted = wanted.where(sql<boolean>`d.id = any(array(select o.id from open_deliveries(${given('underWayTo')}, array(
      select c.seq from claimed_deliveries(array[${given('underWayTo')}]) c)) o))`);
  }
  if (given.has('isWaiting')) wanted = wanted.where(sql<boolean>`not ${sql.raw(isUnderWay('d'))}`);
  if (given.has('event')) wanted = wanted.where('d.event', '=', given('event'));
  if (given.has('from')) wanted = wanted.where('d.createdAt', '>=', given('from'));
  if (given.has('to')) wanted = wanted.where('d.createdAt', '<', given('to'));
  return wanted;
}, newestFirst('d'));

/** Newest first. */
export const listDeliveries = (tx: Tx, filter: DeliveryFilter, pageQuery: PageQuery): Promise<Page<DeliveryRecord>> =>
  page(tx, deliveries, storedFilter(filter), pageQuery);

function storedFilter({ status, ...rest }: DeliveryFilter): StoredFilter {
  if (status === 'delivering') return { ...rest, underWayTo: rest.webhookId };
  return status === 'pending' ? { ...rest, status, isWaiting: true } : { ...rest, status };
}

const deadLetters = list((from, given: Filters<DeadLetterFilter>) => {
  let wanted = from
    .selectFrom('webhook_deliveries as d')
    .select(columns)
    .select([status, lastRecorded])
    .innerJoin('webhooks as w', 'w.id', 'd.webhookId')
    .where('d.ownerId', '=', given('ownerId'))
    .where('d.status', '=', sql.lit('dead'))
    .where('d.dismissedAt', 'is', null)
    // A deletion dismisses its letters, but for one whose last attempt ends in the same moment.
    .where('w.deletedAt', 'is', null);
  if (given.has('webhookId')) wanted = wanted.where('d.webhookId', '=', given('webhookId'));
  return wanted;
}, newestFirst('d'));

export type DeadLetterFilter = { readonly ownerId: string; readonly webhookId?: Id<'webhook'> | undefined };

/** Those that were neither sent again nor deleted, newest first. */
export const listDeadLetters = (
  tx: Tx,
  filter: DeadLetterFilter,
  pageQuery: PageQuery,
): Promise<Page<DeliveryRecord>> => page(tx, deadLetters, filter, pageQuery);

declare module '../../../http/reaches.ts' {
  interface Records {
    readonly delivery: NonNullable<Awaited<ReturnType<typeof findDelivery>>>;
  }
}
