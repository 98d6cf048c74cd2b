/** Card request reads: one, and pages by owner or agent. No decision is made here. @module */
import { type Given, query } from '../../../db/db.ts';
import { type Filters, list, newestFirst, page } from '../../../db/page.ts';
import { columnsOf } from '../../../db/tables.ts';
import type { Tx } from '../../../db/tx.ts';
import type { Page, PageQuery } from '../../../kernel/page.ts';
import { type CardRequestRow, CardRequestSchema } from './card-request.entity.ts';
import type { CardRequestStatus, CardRequestType } from './card-request.rules.ts';

const one = query((from, given: Given<{ id: string }>) =>
  from.selectFrom('card_requests').select(columnsOf(CardRequestSchema)).where('id', '=', given('id')),
);

/** To be read: lock the row before changing it. */
export const findCardRequest = (tx: Tx, id: string): Promise<Readonly<CardRequestRow> | null> => one.first(tx, { id });

export type CardRequestFilter = {
  readonly ownerId: string;
  readonly agentId?: string | undefined;
  readonly type?: CardRequestType | undefined;
  readonly status?: CardRequestStatus | undefined;
  readonly now: Date;
};

type ListedBy = {
  readonly ownerId: string;
  readonly agentId?: string | undefined;
  readonly type?: CardRequestType | undefined;
  /** A pending request past its deadline counts as expired, so these three exclude each other. */
  readonly pending?: CardRequestStatus | undefined;
  readonly expired?: CardRequestStatus | undefined;
  readonly decided?: CardRequestStatus | undefined;
  readonly now?: Date | undefined;
};

const cardRequests = list((from, given: Filters<ListedBy>) => {
  let wanted = from
    .selectFrom('card_requests')
    .select(columnsOf(CardRequestSchema))
    .where('ownerId', '=', given('ownerId'));
  if (given.has('agentId')) wanted = wanted.where('agentId', '=', given('agentId'));
  if (given.has('type')) wanted = wanted.where('type', '=', given('type'));
  if (given.has('decided')) wanted = wanted.where('status', '=', given('decided'));
  if (given.has('pending'))
    wanted = wanted.where('status', '=', given('pending')).where('expiresAt', '>', given('now'));
  if (given.has('expired')) {
    wanted = wanted.where((eb) =>
      eb.or([
        eb('status', '=', given('expired')),
        eb.and([eb('status', '=', eb.val<CardRequestStatus>('pending')), eb('expiresAt', '<=', given('now'))]),
      ]),
    );
  }
  return wanted;
}, newestFirst('card_requests'));

/** Newest first. */
export function listCardRequests(
  tx: Tx,
  { status, now, ...filter }: CardRequestFilter,
  pageQuery: PageQuery,
): Promise<Page<Readonly<CardRequestRow>>> {
  const pending = status === 'pending' ? status : undefined;
  const expired = status === 'expired' ? status : undefined;
  const decided = pending === undefined && expired === undefined ? status : undefined;
  const at = pending === undefined && expired === undefined ? undefined : now;
  return page(tx, cardRequests, { ...filter, pending, expired, decided, now: at }, pageQuery);
}

declare module '../../../http/reaches.ts' {
  interface Records {
    readonly cardRequest: Readonly<CardRequestRow>;
  }
}
