/**
 * Reconciliation of checkouts: an intent has one payment under way, at a shop or at a merchant that sells by HTTP 402,
 * and a checkout that was handed over has its machine payment. Each query returns the differences of one owner.
 * @module
 */
import * as z from 'zod';
import { defineReconciliation, type ReconciliationQuery } from '../../platform/reconciliation.ts';

const underWayTwice = defineReconciliation({
  name: 'payments of one intent under way',
  sql: `select c.intent_id as "intentId", c.id as "checkoutId", p.id as "paymentId"
    from checkouts c join mpp_payments p on p.intent_id = c.intent_id
    where ($1::text is null or c.owner_id = $1)
      and c.status in ('open', 'offered', 'paying')
      and p.status in ('requested', 'challenged', 'allowed', 'minted', 'presenting', 'accepted', 'unknown')`,
  row: z.object({ intentId: z.string(), checkoutId: z.string(), paymentId: z.string() }),
  describe: ({ intentId, checkoutId, paymentId }) =>
    `intent ${intentId} is being paid by checkout ${checkoutId} and by machine payment ${paymentId}`,
});

const handedOver = defineReconciliation({
  name: 'checkouts that were handed over',
  sql: `select c.id, p.id as "paymentId"
    from checkouts c join mpp_payments p on p.id = c.mpp_payment_id
    where ($1::text is null or c.owner_id = $1)
      and (p.owner_id, p.agent_id, p.intent_id, p.card_id, p.url)
        <> (c.owner_id, c.agent_id, c.intent_id, c.card_id, c.target_url)`,
  row: z.object({ id: z.string(), paymentId: z.string() }),
  describe: ({ id, paymentId }) =>
    `checkout ${id} was handed over to machine payment ${paymentId}, which pays for something else`,
});

export const checkoutReconciliation: readonly ReconciliationQuery[] = [underWayTwice, handedOver];
