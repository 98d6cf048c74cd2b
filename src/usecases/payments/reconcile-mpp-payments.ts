/**
 * Reconciliation of machine payments: a paid payment has its transaction, one transaction pays for one payment, and a
 * payment that was never sent has no charge. Each query returns the differences of one owner.
 * @module
 */
import * as z from 'zod';
import { openMppPaymentStatuses } from '../../domains/payments/mpp-payments/mpp-payment.rules.ts';
import { defineReconciliation, type ReconciliationQuery } from '../../platform/reconciliation.ts';

const paidWithoutTransaction = defineReconciliation({
  name: 'paid machine payments',
  sql: `select p.id, p.transaction_id as "transactionId", t.id is not null as "hasTransaction"
    from mpp_payments p
    left join transactions t on t.id = p.transaction_id and t.owner_id = p.owner_id and t.card_id = p.card_id
    where ($1::text is null or p.owner_id = $1) and p.charge_outcome = 'approved'
      and (t.id is null or t.intent_id is distinct from p.intent_id)`,
  row: z.object({ id: z.string(), transactionId: z.string().nullable(), hasTransaction: z.boolean() }),
  describe: ({ id, transactionId, hasTransaction }) =>
    hasTransaction
      ? `payment ${id} was charged with transaction ${transactionId}, which pays for another intent`
      : `payment ${id} was charged, and its transaction ${transactionId ?? ''} is not there`,
});

const chargedTwice = defineReconciliation({
  name: 'machine payments of one transaction',
  sql: `select transaction_id as "transactionId", count(*)::int as payments from mpp_payments
    where ($1::text is null or owner_id = $1) and transaction_id is not null group by 1 having count(*) > 1`,
  row: z.object({ transactionId: z.string(), payments: z.number() }),
  describe: ({ transactionId, payments }) => `transaction ${transactionId} is that of ${payments} machine payments`,
});

const chargedUnsent = defineReconciliation({
  name: 'charges of machine payments that were never sent',
  sql: `select id, transaction_id as "transactionId" from mpp_payments
    where ($1::text is null or owner_id = $1) and charge_source = 'network' and sent_at is null`,
  row: z.object({ id: z.string(), transactionId: z.string().nullable() }),
  describe: ({ id, transactionId }) =>
    `payment ${id} was never sent to the merchant, and the network charged it as transaction ${transactionId ?? ''}`,
});

const unrecorded = defineReconciliation({
  name: 'charges of machine payments',
  sql: `select p.id, p.status, p.charge_outcome as "chargeOutcome" from mpp_payments p
    where ($1::text is null or p.owner_id = $1)
      and (p.charge_outcome = 'approved') <> (p.status = 'paid')
      and not (p.charge_outcome is null and p.status <> 'paid')
      -- Its run is about to record it.
      and not exists (select from workflow_runs r where r.id = 'mpp-payment/' || p.id and r.is_open)`,
  row: z.object({ id: z.string(), status: z.string(), chargeOutcome: z.string().nullable() }),
  describe: ({ id, status, chargeOutcome }) =>
    `payment ${id} is ${status}; its charge was ${chargeOutcome ?? 'never reported'}, and no run records it`,
});

const intentsKept = defineReconciliation({
  name: 'intents kept for machine payments',
  sql: `select coalesce(i.id, p.intent_id) as id, i.open_payment_id as "keptFor", p.id as "openPayment"
    from (select id, owner_id, open_payment_id from intents
      where ($1::text is null or owner_id = $1) and open_payment_id is not null) i
    full join (select id, intent_id, owner_id from mpp_payments
      where ($1::text is null or owner_id = $1) and status = any ('{${openMppPaymentStatuses.join(',')}}')) p
      on p.intent_id = i.id
    where i.open_payment_id is distinct from p.id`,
  row: z.object({ id: z.string(), keptFor: z.string().nullable(), openPayment: z.string().nullable() }),
  describe: ({ id, keptFor, openPayment }) =>
    `intent ${id} is kept for ${keptFor ?? 'no payment'}, and the payment of it that has not ended is ${openPayment ?? 'none'}`,
});

export const mppPaymentReconciliation: readonly ReconciliationQuery[] = [
  paidWithoutTransaction,
  chargedTwice,
  chargedUnsent,
  unrecorded,
  intentsKept,
];
