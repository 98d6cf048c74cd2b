/**
 * Reconciliation of MPP credentials: a used credential and the transaction that it paid for name each other, and both
 * belong to the same card and intent. Each query returns the differences of one owner.
 * @module
 */
import * as z from 'zod';
import { defineReconciliation, type ReconciliationQuery } from '../../platform/reconciliation.ts';

const transactionsOfCredentials = defineReconciliation({
  name: 'transactions of MPP credentials',
  sql: `select c.id, c.status, c.transaction_id as "transactionId", t.rail, t.card_id as "cardId"
    from mpp_credentials c
    left join transactions t on t.id = c.transaction_id and t.owner_id = c.owner_id
    where ($1::text is null or c.owner_id = $1) and c.transaction_id is not null
      and (t.id is null or t.rail <> 'mpp' or t.card_id is distinct from c.card_id or t.intent_id <> c.intent_id
        or c.status not in ('consumed', 'declined'))`,
  row: z.object({
    id: z.string(),
    status: z.string(),
    transactionId: z.string(),
    rail: z.string().nullable(),
    cardId: z.string().nullable(),
  }),
  describe: ({ id, status, transactionId, rail }) =>
    rail === null
      ? `credential ${id} is of transaction ${transactionId}, which is gone`
      : `credential ${id} is ${status}; its transaction ${transactionId} of the rail ${rail} says otherwise`,
});

const credentialsOfTransactions = defineReconciliation({
  name: 'MPP credentials of transactions',
  sql: `select t.id from transactions t
    where ($1::text is null or t.owner_id = $1) and t.rail = 'mpp' and t.type <> 'refund'
      and not exists (select from mpp_credentials c where c.transaction_id = t.id)
      -- What a receipt or an operator settled as paid after the credential's end; the network has not asked for it yet.
      and not exists (select from mpp_payments p where p.transaction_id = t.id and p.charge_source in ('receipt', 'operator'))
      -- A charge with a credential that was used before, or after its end, is declined and belongs to none.
      and t.status <> 'failed'`,
  row: z.object({ id: z.string() }),
  describe: ({ id }) => `transaction ${id} was paid with an MPP credential, and none names it`,
});

export const credentialReconciliation: readonly ReconciliationQuery[] = [
  transactionsOfCredentials,
  credentialsOfTransactions,
];
