/** Transaction reads: one, pages by every filter, and what the network said. No decision is made here. @module */
import { LockMode } from '@mikro-orm/core';
import { type Condition, plainPage, plainRow, rowVersion } from '../../../db/plain-rows.ts';
import type { Tx } from '../../../db/tx.ts';
import { notFound } from '../../../kernel/errors.ts';
import type { PageQuery } from '../../../kernel/page.ts';
import { planLimits } from '../../parties/index.ts';
import type { TransactionWire } from './transaction.contract.ts';
import { TransactionRow } from './transaction.entity.ts';
import type { TransactionStatus } from './transaction.rules.ts';
import { type ShownField, type ShownFields, shownFields, transactionWire } from './transaction.wire.ts';

export type ShownTransaction = ShownFields & WithEvents;
type WithEvents = { readonly events: string };

/** One text for all of them: columns, or JSON, would cost the reader of a page more than the rest of it. */
const eventsOfTransaction = `coalesce((
    select string_agg(concat_ws(' ', kind, amount_cents, coalesce(is_final::text, ''), at, coalesce(network_id, ''), request_id), E'\\n')
    from (select * from transaction_events where transaction_id = transactions.id order by seq) e), '') as events`;

/** A message of the network may leave the transaction as it was. */
const version = `${rowVersion} || '/' || (
    select count(*) from transaction_events where transaction_id = transactions.id)`;

const shown = {
  entity: TransactionRow,
  fields: shownFields,
  also: eventsOfTransaction,
  version,
  form: (row: ShownTransaction) => transactionWire(row, row.events),
};

export const findTransaction = (tx: Tx, id: string): Promise<TransactionRow | null> =>
  tx.findOne(TransactionRow, { id: id as TransactionRow['id'] });

/** One with what happened to it, to be shown and not to be changed. */
export const readTransaction = (tx: Tx, id: string): Promise<ShownTransaction | null> =>
  plainRow<TransactionRow, ShownField, WithEvents>(tx, shown, ['id = ?', id]);

export async function lockTransaction(tx: Tx, id: string): Promise<TransactionRow> {
  const row = await tx.findOne(
    TransactionRow,
    { id: id as TransactionRow['id'] },
    { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
  );
  if (row === null) throw notFound('transaction', id);
  return row;
}

export const findByAuthorization = (tx: Tx, adapter: string, authorizationId: string): Promise<TransactionRow | null> =>
  tx.findOne(TransactionRow, { adapter, authorizationId });

/** The transaction that pays, or has paid, for an intent; the newest when there are several. */
export const findPayingFor = (tx: Tx, intentId: string): Promise<TransactionRow | null> =>
  tx.findOne(
    TransactionRow,
    { intentId, $or: [{ heldCents: { $gt: 0 } }, { clearedCents: { $gt: 0 } }, { confirmedAt: { $ne: null } }] },
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

/** As far back as the owner's plan shows; what is older is in no list. */
const withinHistory = (ownerId: string, now: Date): Condition => [
  `created_at >= ?::timestamptz - (?::jsonb ->> coalesce((select plan from customers where owner_id = ?), 'free'))::interval`,
  now,
  historyOfPlan,
  ownerId,
];

const historyOfPlan = JSON.stringify(
  Object.fromEntries(Object.entries(planLimits).map(([plan, { historyDays }]) => [plan, `${historyDays * 24} hours`])),
);

/** Up to `limit + 1`, newest first. */
export function listTransactions(tx: Tx, filter: TransactionFilter, page: PageQuery): Promise<TransactionWire[]> {
  const { ownerId, agentId, cardId, intentId, merchant, status, from, to, now } = filter;
  const asked = (text: string, value: unknown): Condition => (value === undefined ? undefined : [text, value]);
  return plainPage<TransactionRow, ShownField, WithEvents, TransactionWire>(
    tx,
    shown,
    page,
    ['owner_id = ?', ownerId],
    withinHistory(ownerId, now),
    asked('agent_id = ?', agentId),
    asked('card_id = ?', cardId),
    asked('intent_id = ?', intentId),
    asked('lower(merchant) = ?', merchant?.toLowerCase()),
    asked('status = ?', status),
    asked('created_at >= ?', from),
    asked('created_at < ?', to),
  );
}
