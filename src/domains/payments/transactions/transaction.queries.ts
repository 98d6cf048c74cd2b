/** Transaction reads: one, pages by every filter, and what the network said. No decision is made here. @module */
import { LockMode, raw } from '@mikro-orm/core';
import { rows, type Tx } from '../../../db/tx.ts';
import { notFound } from '../../../kernel/errors.ts';
import { day, later } from '../../../kernel/instant.ts';
import type { PageQuery } from '../../../kernel/page.ts';
import { type Plan, planLimits } from '../../parties/index.ts';
import { TransactionRow } from './transaction.entity.ts';
import type { TransactionStatus } from './transaction.rules.ts';

export const findTransaction = (tx: Tx, id: string): Promise<TransactionRow | null> =>
  tx.findOne(TransactionRow, { id: id as TransactionRow['id'] });

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
  /** Where the owner's visible history begins; what is older is in no list. */
  readonly historyStart: Date;
};

/** As far back as the owner's plan shows, from business time `now`. */
export async function historyStartOf(tx: Tx, ownerId: string, now: Date): Promise<Date> {
  const [customer] = await rows<{ plan: Plan }>(tx, 'select plan from customers where owner_id = $1', [ownerId]);
  return later(now, -planLimits[customer?.plan ?? 'free'].historyDays * day);
}

/** Up to `limit + 1` rows, newest first. */
export function listTransactions(
  tx: Tx,
  filter: TransactionFilter,
  { limit, after }: PageQuery,
): Promise<TransactionRow[]> {
  const { ownerId, agentId, cardId, intentId, merchant, status, from, to, historyStart } = filter;
  return tx.find(
    TransactionRow,
    {
      ownerId,
      ...(agentId === undefined ? {} : { agentId }),
      ...(cardId === undefined ? {} : { cardId }),
      ...(intentId === undefined ? {} : { intentId }),
      ...(merchant === undefined ? {} : { [raw('lower(merchant)')]: merchant.toLowerCase() }),
      ...(status === undefined ? {} : { status }),
      $and: [
        { createdAt: { $gte: historyStart } },
        from === undefined ? {} : { createdAt: { $gte: from } },
        to === undefined ? {} : { createdAt: { $lt: to } },
        after === undefined
          ? {}
          : {
              $or: [
                { createdAt: { $lt: new Date(after.createdAt) } },
                { createdAt: new Date(after.createdAt), id: { $lt: after.id as TransactionRow['id'] } },
              ],
            },
      ],
    },
    { orderBy: { createdAt: 'desc', id: 'desc' }, limit: limit + 1 },
  );
}

export type TransactionEventRow = {
  readonly transactionId: string;
  readonly kind: 'authorization' | 'clearing' | 'reversal' | 'expiry';
  readonly networkId: string | null;
  readonly amountCents: number;
  readonly isFinal: boolean | null;
  readonly at: Date;
};

/** Of each transaction asked for, in the order in which they happened. */
export async function eventsOf(tx: Tx, transactionIds: readonly string[]): Promise<Map<string, TransactionEventRow[]>> {
  const found = await rows<TransactionEventRow>(
    tx,
    `select transaction_id as "transactionId", kind, network_id as "networkId", amount_cents as "amountCents",
       is_final as "isFinal", at
     from transaction_events where transaction_id = any($1::text[]) order by transaction_id, seq`,
    [[...transactionIds]],
  );
  return Map.groupBy(found, ({ transactionId }) => transactionId);
}
