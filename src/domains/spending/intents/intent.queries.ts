/** Intent reads: one, and pages by owner or agent. No decision is made here. @module */
import { sql } from 'kysely';
import { type Given, query } from '../../../db/db.ts';
import { type Filters, list, newestFirst, page } from '../../../db/page.ts';
import { columnsOf } from '../../../db/tables.ts';
import type { Tx } from '../../../db/tx.ts';
import { notFound } from '../../../kernel/errors.ts';
import type { Page, PageQuery } from '../../../kernel/page.ts';
import { IntentRow, IntentSchema } from './intent.entity.ts';
import type { IntentStatus } from './intent.rules.ts';
import { type PublishedIntent, publishedFields } from './intent.wire.ts';

const wholeIntent = query((from, given: Given<{ id: string }>) =>
  from.selectFrom('intents').select(columnsOf(IntentSchema)).where('id', '=', given('id')),
);

/** To be read: lock the row before changing it. */
export const findIntent = (tx: Tx, id: string): Promise<Readonly<IntentRow> | null> => wholeIntent.first(tx, { id });

const allowing = query((from, given: Given<{ transactionId: string }>) =>
  from.selectFrom('intents').select(columnsOf(IntentSchema)).where('allowsOnceOf', '=', given('transactionId')),
);

/** The intent that lets this declined charge pass once; there is at most one. */
export const findAllowing = (tx: Tx, transactionId: string): Promise<Readonly<IntentRow> | null> =>
  allowing.first(tx, { transactionId });

const holder = query((from, given: Given<{ id: string }>) =>
  from.selectFrom('intents').select(['ownerId', 'agentId']).where('id', '=', given('id')),
);

/** The owner and the agent of an intent, which never change; any other field is read under lock. */
export async function holderOf(tx: Tx, id: string): Promise<{ ownerId: string; agentId: string }> {
  const found = await holder.first(tx, { id });
  if (found === null) throw notFound('intent', id);
  return found;
}

export const findByClientId = (tx: Tx, agentId: string, clientIntentId: string): Promise<IntentRow | null> =>
  tx.findOne(IntentRow, { agentId, clientIntentId });

export type IntentFilter = {
  ownerId: string;
  agentId?: string | undefined;
  status?: IntentStatus | undefined;
  now: Date;
};

const published = query((from, given: Given<{ id: string }>) =>
  from.selectFrom('intents').select(publishedFields).where('id', '=', given('id')),
);

/** The published fields of one intent. */
export const readIntent = (tx: Tx, id: string): Promise<PublishedIntent | null> => published.first(tx, { id });

type ListedBy = {
  readonly ownerId: string;
  readonly agentId?: string | undefined;
  /** An open intent past its deadline counts as expired, so these three exclude each other. */
  readonly open?: string | undefined;
  readonly expired?: string | undefined;
  readonly final?: string | undefined;
  readonly now?: Date | undefined;
};

const intents = list((from, given: Filters<ListedBy>) => {
  const isPast = sql<boolean>`(expires_at <= ${given('now')} and matched_transaction_id is null
    and transfer_id is null and open_payment_id is null)`;
  let wanted = from.selectFrom('intents').select(publishedFields).where('ownerId', '=', given('ownerId'));
  if (given.has('agentId')) wanted = wanted.where('agentId', '=', given('agentId'));
  if (given.has('final')) wanted = wanted.where('status', '=', given('final'));
  if (given.has('open')) wanted = wanted.where('status', '=', given('open')).where((eb) => eb.not(isPast));
  if (given.has('expired')) {
    wanted = wanted.where((eb) =>
      eb.or([eb('status', '=', given('expired')), eb.and([eb('status', 'in', openStatuses), isPast])]),
    );
  }
  return wanted;
}, newestFirst('intents'));

/** Newest first. */
export const listIntents = (
  tx: Tx,
  { ownerId, agentId, status, now }: IntentFilter,
  pageQuery: PageQuery,
): Promise<Page<PublishedIntent>> => page(tx, intents, { ownerId, agentId, ...byStatus(status, now) }, pageQuery);

function byStatus(status: IntentStatus | undefined, now: Date): Partial<ListedBy> {
  if (status === undefined) return {};
  if (status === 'expired') return { expired: status, now };
  return openStatuses.some((open) => open === status) ? { open: status, now } : { final: status };
}

const openStatuses = ['pending_approval', 'approved'] as const;

declare module '../../../http/reaches.ts' {
  interface Records {
    readonly intent: Readonly<IntentRow>;
  }
}
