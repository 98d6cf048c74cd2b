/** Reads of access events: one, and pages by every filter. The writer is src/events/access.ts. @module */
import { type Given, query } from '../../../db/db.ts';
import { type Filters, list, newestFirst, page } from '../../../db/page.ts';
import { columnsOf } from '../../../db/tables.ts';
import type { Tx } from '../../../db/tx.ts';
import { type AccessEventRow, AccessEventSchema } from '../../../events/access.entity.ts';
import type { AccessDecision, AccessKind } from '../../../events/access.rules.ts';
import type { Page, PageQuery } from '../../../kernel/page.ts';

const columns = columnsOf(AccessEventSchema);

const one = query((from, given: Given<{ id: string }>) =>
  from.selectFrom('access_events').select(columns).where('id', '=', given('id')),
);

export const findAccessEvent = (tx: Tx, id: string): Promise<Readonly<AccessEventRow> | null> => one.first(tx, { id });

export type AccessEventFilter = {
  readonly ownerId: string;
  readonly agentId?: string | undefined;
  readonly cardId?: string | undefined;
  readonly decision?: AccessDecision | undefined;
  readonly kind?: AccessKind | undefined;
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
};

const accessEvents = list((from, given: Filters<AccessEventFilter>) => {
  let wanted = from.selectFrom('access_events').select(columns).where('ownerId', '=', given('ownerId'));
  if (given.has('agentId')) wanted = wanted.where('agentId', '=', given('agentId'));
  if (given.has('cardId')) wanted = wanted.where('cardId', '=', given('cardId'));
  if (given.has('decision')) wanted = wanted.where('decision', '=', given('decision'));
  if (given.has('kind')) wanted = wanted.where('kind', '=', given('kind'));
  if (given.has('from')) wanted = wanted.where('createdAt', '>=', given('from'));
  if (given.has('to')) wanted = wanted.where('createdAt', '<', given('to'));
  return wanted;
}, newestFirst('access_events'));

/** Newest first. */
export const listAccessEvents = (
  tx: Tx,
  filter: AccessEventFilter,
  pageQuery: PageQuery,
): Promise<Page<Readonly<AccessEventRow>>> => page(tx, accessEvents, filter, pageQuery);

declare module '../../../http/reaches.ts' {
  interface Records {
    readonly accessEvent: Readonly<AccessEventRow>;
  }
}
