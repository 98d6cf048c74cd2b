/** Checkout reads, and the view of a checkout for its workflow. No decision is made here. @module */
import { sql } from 'kysely';
import { type Given, query } from '../../../db/db.ts';
import type { Tx } from '../../../db/tx.ts';
import type { RowState } from '../../../kernel/row-state.ts';
import { CheckoutRow } from './checkout.entity.ts';
import type { CheckoutView } from './checkout.messages.ts';
import { type CheckoutDue, type CheckoutFact, checkoutFacts } from './checkout.rules.ts';

export const findCheckout = (tx: Tx, id: string): Promise<CheckoutRow | null> =>
  tx.findOne(CheckoutRow, { id: id as CheckoutRow['id'] }, { refresh: true });

const latest = query((from, given: Given<{ intentId: string }>) =>
  from
    .selectFrom('checkouts')
    .select(['id', 'status'])
    .where('intentId', '=', given('intentId'))
    .orderBy('createdAt', 'desc')
    .orderBy('id', 'desc')
    .limit(sql.lit(1)),
);

/** The newest checkout of an intent. At most one of an intent is open. */
export const latestCheckout = (tx: Tx, intentId: string): Promise<Pick<CheckoutRow, 'id' | 'status'> | null> =>
  latest.first(tx, { intentId });

export const checkoutView = (row: CheckoutRow): CheckoutView => ({
  checkoutId: row.id,
  intentId: row.intentId,
  agentId: row.agentId,
  status: row.status,
  amountCents: row.amountCents ?? null,
  transactionId: row.transactionId ?? null,
  mppPaymentId: row.mppPaymentId ?? null,
  code: row.outcomeCode ?? null,
  nextAttemptAt: row.status === 'paying' ? (row.nextAttemptAt?.toISOString() ?? null) : null,
});

/** The checkout as its workflow follows it. */
export const checkoutState = (row: CheckoutRow, now: Date): RowState<CheckoutView, CheckoutFact, CheckoutDue> => ({
  version: row.version,
  ...checkoutFacts({ ...row, nextAttemptAt: row.nextAttemptAt ?? null }, now),
  view: checkoutView(row),
});
