/**
 * Reconciliation of transfers: each must have its journals and audit row, each journal of a transfer its transfer, and
 * the transfers of a split must sum to it. Each query returns the differences of one owner.
 * @module
 */
import * as z from 'zod';
import { inWords } from '../../kernel/money.ts';
import { defineReconciliation, type ReconciliationQuery } from '../../platform/reconciliation.ts';

const transfers = defineReconciliation({
  name: 'transfers',
  sql: `select t.id, j.id as "journalId", t.amount_cents as "transferredCents", j.cents::bigint as "bookedCents"
    from (
      select id, journal_id, amount_cents, 'wallet:' || to_wallet_id || ':available' as target,
        coalesce('wallet:' || from_wallet_id, 'agent:' || agent_id) || ':available' as source
      from transfers where ($1::text is null or owner_id = $1) and type = 'internal'
    ) t full join (
      select j.id, j.reference_id, sum(greatest(l.amount_cents, 0)) as cents,
        min(l.account) filter (where l.amount_cents < 0) as source,
        min(l.account) filter (where l.amount_cents > 0) as target
      from journals j join ledger_entries l on l.journal_id = j.id
      where ($1::text is null or j.owner_id = $1) and j.kind = 'internal_transfer' and j.reference_type = 'transfer'
      group by j.id
    ) j on j.id = t.journal_id and j.reference_id = t.id
    where t.id is null or j.id is null or (t.amount_cents, t.source, t.target) is distinct from (j.cents, j.source, j.target)`,
  row: z.object({
    id: z.string().nullable(),
    journalId: z.string().nullable(),
    transferredCents: z.number().nullable(),
    bookedCents: z.number().nullable(),
  }),
  describe: ({ id, journalId, transferredCents, bookedCents }) => {
    if (id === null) return `journal ${journalId} moves ${inWords(bookedCents ?? 0)} without a transfer`;
    if (journalId === null) return `transfer ${id} of ${inWords(transferredCents ?? 0)} has no journal`;
    return `transfer ${id} is of ${inWords(transferredCents ?? 0)}; its journal ${journalId} moves ${inWords(bookedCents ?? 0)}, or between other accounts`;
  },
});

const bankTransfers = defineReconciliation({
  name: 'transfers to bank accounts',
  sql: `select coalesce(t.id, j.id) as id, t.id is not null as "isThere", t.held as "heldCents", t.paid as "paidCents",
      coalesce(j.held, 0)::bigint as "bookedHeldCents", coalesce(j.paid, 0)::bigint as "bookedPaidCents"
    from (
      select id, coalesce('wallet:' || from_wallet_id, 'agent:' || agent_id) || ':held' as source,
        case when status in ('pending_approval', 'pending', 'submitted') then amount_cents else 0 end as held,
        case when status = 'completed' then amount_cents else 0 end as paid
      from transfers where ($1::text is null or owner_id = $1) and type = 'sepa'
    ) t full join (
      select j.reference_id as id, min(l.account) filter (where l.account like '%:held') as source,
        sum(l.amount_cents) filter (where l.account like '%:held') as held,
        sum(l.amount_cents) filter (where l.account = 'external:sepa:' || j.owner_id) as paid
      from journals j join ledger_entries l on l.journal_id = j.id
      where ($1::text is null or j.owner_id = $1) and j.kind = 'sepa_transfer'
      group by 1
    ) j on j.id = t.id
    where t.id is null or j.id is null
      or (t.source, t.held, t.paid) is distinct from (j.source, coalesce(j.held, 0), coalesce(j.paid, 0))`,
  row: z.object({
    id: z.string(),
    isThere: z.boolean(),
    heldCents: z.number().nullable(),
    paidCents: z.number().nullable(),
    bookedHeldCents: z.number(),
    bookedPaidCents: z.number(),
  }),
  describe: ({ id, isThere, heldCents, paidCents, bookedHeldCents, bookedPaidCents }) =>
    isThere
      ? `transfer ${id} holds ${inWords(heldCents ?? 0)} and has sent ${inWords(paidCents ?? 0)}; its journals hold ${inWords(bookedHeldCents)} and have sent ${inWords(bookedPaidCents)}, or from another account`
      : `journals of ${id} have no transfer`,
});

const transferAudits = defineReconciliation({
  name: 'audit rows of transfers',
  sql: `select t.id, t.amount_cents as "amountCents" from transfers t
    where ($1::text is null or t.owner_id = $1) and t.status = 'completed'
      and not exists (
        select from audit a where a.subject_id = t.id and a.action = 'transfer.completed'
          and a.details -> 'amountCents' = to_jsonb(t.amount_cents))`,
  row: z.object({ id: z.string(), amountCents: z.number() }),
  describe: ({ id, amountCents }) => `transfer ${id} of ${inWords(amountCents)} has no audit row with this amount`,
});

const splits = defineReconciliation({
  name: 'splits of transfers',
  sql: `select coalesce(s.id, t.split_id) as id, s.total_amount_cents as "totalCents", t.cents::bigint as "sumCents"
    from (
      select id, total_amount_cents from transfer_splits where $1::text is null or owner_id = $1
    ) s full join (
      select split_id, sum(amount_cents) as cents from transfers
      where ($1::text is null or owner_id = $1) and split_id is not null group by 1
    ) t on t.split_id = s.id
    where s.total_amount_cents is distinct from t.cents`,
  row: z.object({ id: z.string(), totalCents: z.number().nullable(), sumCents: z.number().nullable() }),
  describe: ({ id, totalCents, sumCents }) =>
    totalCents === null
      ? `transfers of ${inWords(sumCents ?? 0)} belong to the split ${id}, which is gone`
      : `split ${id} is of ${inWords(totalCents)}; its transfers sum to ${inWords(sumCents ?? 0)}`,
});

export const transferReconciliation: readonly ReconciliationQuery[] = [
  transfers,
  bankTransfers,
  transferAudits,
  splits,
];
