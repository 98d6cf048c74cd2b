/** Transaction reads: one, pages by every filter, and the messages of the network. No decision is made here. @module */
import { LockMode } from '@mikro-orm/core';
import { sql } from 'kysely';
import * as z from 'zod';
import { type Given, query } from '../../../db/db.ts';
import { type Filters, list, newestFirst, page } from '../../../db/page.ts';
import { rowsOf } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { notFound } from '../../../kernel/errors.ts';
import { zero } from '../../../kernel/money.ts';
import type { Page, PageQuery } from '../../../kernel/page.ts';
import { planLimits } from '../../parties/index.ts';
import { TransactionRow } from './transaction.entity.ts';
import { noReversals, type Reversals, type TransactionStatus } from './transaction.rules.ts';
import { type PublishedFields, publishedFields } from './transaction.wire.ts';

export type PublishedTransaction = PublishedFields & { readonly events: string };

/** The events as one text: columns, or JSON, would cost the reader of a page more than all other fields. */
const events = sql<string>`coalesce((
    select string_agg(concat_ws(' ', kind, amount_cents, coalesce(is_final::text, ''), at, coalesce(merchant_amount::text, ''),
      coalesce(merchant_currency, ''), coalesce(network_id, ''), request_id), E'\\n')
    from (select * from transaction_events where transaction_id = transactions.id order by seq) e), '')`.as('events');

export const findTransaction = (tx: Tx, id: string): Promise<TransactionRow | null> =>
  tx.findOne(TransactionRow, { id: id as TransactionRow['id'] });

const published = query((from, given: Given<{ id: string }>) =>
  from.selectFrom('transactions').select(publishedFields).select(events).where('id', '=', given('id')),
);

/** The published fields of one transaction, with its events. */
export const readTransaction = (tx: Tx, id: string): Promise<PublishedTransaction | null> =>
  published.first(tx, { id });

/** For a command of a caller: `ownerId` of another owner finds nothing. */
type OfOwner = { readonly ownerId?: string };

export async function lockTransaction(tx: Tx, id: string, { ownerId }: OfOwner = {}): Promise<TransactionRow> {
  const row = await tx.findOne(
    TransactionRow,
    { id: id as TransactionRow['id'], ...(ownerId !== undefined && { ownerId }) },
    { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
  );
  if (row === null) throw notFound('transaction', id);
  return row;
}

export const lockTransactions = (tx: Tx, ids: readonly string[]): Promise<TransactionRow[]> =>
  tx.find(
    TransactionRow,
    { id: { $in: ids as TransactionRow['id'][] } },
    { orderBy: { id: 'asc' }, lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
  );

export const findByAuthorization = (tx: Tx, adapter: string, authorizationId: string): Promise<TransactionRow | null> =>
  tx.findOne(TransactionRow, { adapter, authorizationId });

const reversals = query((from, given: Given<{ transactionId: string }>) =>
  from
    .selectFrom('transaction_events')
    .select(sql<number>`coalesce(sum(amount_cents), 0)::float8`.as('cents'))
    // Without an amount, or from before amounts of payments that were not approved were kept.
    .select(sql<boolean>`coalesce(bool_or(amount_cents = 0), false)`.as('isWhole'))
    .where('transactionId', '=', given('transactionId'))
    .where('kind', '=', sql.lit('reversal')),
);

/** What the network reversed of a payment that was not approved here, as the reversals named it. */
export async function reversalsOf(tx: Tx, transactionId: string): Promise<Reversals> {
  return (await reversals.first(tx, { transactionId })) ?? noReversals;
}

/** The transaction that pays, or has paid, for an intent; the newest when there are several. */
export const findPayingFor = (tx: Tx, intentId: string): Promise<TransactionRow | null> =>
  tx.findOne(
    TransactionRow,
    { intentId, $or: [{ heldCents: { $gt: zero } }, { clearedCents: { $gt: zero } }, { confirmedAt: { $ne: null } }] },
    { orderBy: { createdAt: 'desc', id: 'desc' } },
  );

/** The transaction that this very confirm made or linked. */
export const findConfirmedBy = (tx: Tx, intentId: string, causeId: string): Promise<TransactionRow | null> =>
  tx.findOne(TransactionRow, { intentId, confirmCause: causeId });

export type TransactionFilter = {
  readonly ownerId: string;
  readonly agentId?: string | undefined;
  readonly cardId?: string | undefined;
  readonly intentId?: string | undefined;
  readonly merchant?: string | undefined;
  readonly status?: TransactionStatus | undefined;
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
  /** Business time: how far back the owner sees is counted from it. */
  readonly now: Date;
};

type ListedBy = Omit<TransactionFilter, 'merchant'> & {
  readonly merchantLower?: string | undefined;
  readonly historyOfPlan: string;
};

const transactions = list((from, given: Filters<ListedBy>) => {
  /** As far back as the owner's plan shows; an older transaction is in no list. */
  const history = sql<Date>`${given('now')}::timestamptz - (${given('historyOfPlan')}::jsonb
    ->> coalesce((select plan from customers where owner_id = ${given('ownerId')}), 'free'))::interval`;
  let wanted = from
    .selectFrom('transactions')
    .select(publishedFields)
    .select(events)
    .where('ownerId', '=', given('ownerId'))
    .where('createdAt', '>=', history);
  if (given.has('agentId')) wanted = wanted.where('agentId', '=', given('agentId'));
  if (given.has('cardId')) wanted = wanted.where('cardId', '=', given('cardId'));
  if (given.has('intentId')) wanted = wanted.where('intentId', '=', given('intentId'));
  if (given.has('merchantLower')) wanted = wanted.where(sql`lower(merchant)`, '=', given('merchantLower'));
  if (given.has('status')) wanted = wanted.where('status', '=', given('status'));
  if (given.has('from')) wanted = wanted.where('createdAt', '>=', given('from'));
  if (given.has('to')) wanted = wanted.where('createdAt', '<', given('to'));
  return wanted;
}, newestFirst('transactions'));

const historyOfPlan = JSON.stringify(
  Object.fromEntries(Object.entries(planLimits).map(([plan, { historyDays }]) => [plan, `${historyDays * 24} hours`])),
);

/** Newest first. */
export const listTransactions = (
  tx: Tx,
  { merchant, ...filter }: TransactionFilter,
  pageQuery: PageQuery,
): Promise<Page<PublishedTransaction>> =>
  page(tx, transactions, { ...filter, merchantLower: merchant?.toLowerCase(), historyOfPlan }, pageQuery);

declare module '../../../http/reaches.ts' {
  interface Records {
    readonly transaction: PublishedTransaction;
  }
}

const namesLately = 500;

export type PaidMerchant = { readonly id: string | null; readonly name: string; readonly mcc: string | null };

/** As the network named those that the agent has paid lately, newest first, each once. */
export const merchantsPaidBy = (tx: Tx, agentId: string): Promise<PaidMerchant[]> =>
  rowsOf(
    tx,
    z.object({ id: z.string().nullable(), name: z.string(), mcc: z.string().nullable() }),
    `select merchant_id as id, merchant as name, merchant_mcc as mcc from (
       select merchant_id, merchant, merchant_mcc, authorized_at from transactions
       where agent_id = $1 and spent_cents > 0 order by authorized_at desc limit ${namesLately}) lately
     where merchant is not null group by merchant_id, merchant, merchant_mcc order by max(authorized_at) desc`,
    [agentId],
  );
