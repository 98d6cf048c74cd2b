/** Checkout reads, and a checkout as its workflow sees it. No decision is made here. @module */
import type { Tx } from '../../../db/tx.ts';
import { CheckoutRow } from './checkout.entity.ts';
import type { CheckoutView } from './checkout.messages.ts';

export const findCheckout = (tx: Tx, id: string): Promise<CheckoutRow | null> =>
  tx.findOne(CheckoutRow, { id: id as CheckoutRow['id'] }, { refresh: true });

/** The checkout that an intent's process works on. */
export const latestCheckout = (tx: Tx, intentId: string): Promise<CheckoutRow | null> =>
  tx.findOne(CheckoutRow, { intentId }, { orderBy: { createdAt: 'desc', id: 'desc' }, refresh: true });

export const checkoutView = (row: CheckoutRow): CheckoutView => ({
  checkoutId: row.id,
  intentId: row.intentId,
  agentId: row.agentId,
  status: row.status,
  amountCents: row.amountCents ?? null,
  transactionId: row.transactionId ?? null,
  code: row.outcomeCode ?? null,
});
