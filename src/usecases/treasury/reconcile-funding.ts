/**
 * Reconciliation of incoming money: fundings, budgets of agents and their journals must agree, and each must have its
 * audit row. Each query returns the differences of one owner.
 * @module
 */
import * as z from 'zod';
import { inWords } from '../../kernel/money.ts';
import { defineReconciliation, type ReconciliationQuery } from '../../platform/reconciliation.ts';

const fundings = defineReconciliation({
  name: 'fundings',
  sql: `select f.id, j.id as "journalId", j.kind, f.amount_cents as "fundedCents", j.cents::bigint as "bookedCents"
    from (
      select id, journal_id, amount_cents from fundings
      where ($1::text is null or owner_id = $1) and status = 'completed'
    ) f full join (
      select j.id, j.kind, sum(greatest(l.amount_cents, 0)) as cents
      from journals j join ledger_entries l on l.journal_id = j.id
      where ($1::text is null or j.owner_id = $1) and j.kind in ('fund', 'internal_transfer')
        and j.reference_type = 'fund'
      group by j.id
    ) j on j.id = f.journal_id
    where f.id is null or j.id is null or f.amount_cents <> j.cents`,
  row: z.object({
    id: z.string().nullable(),
    journalId: z.string().nullable(),
    kind: z.string().nullable(),
    fundedCents: z.number().nullable(),
    bookedCents: z.number().nullable(),
  }),
  describe: ({ id, journalId, kind, fundedCents, bookedCents }) => {
    if (id === null)
      return `journal ${journalId} of the kind ${kind} moves ${inWords(bookedCents ?? 0)} without a funding`;
    if (journalId === null) return `funding ${id} of ${inWords(fundedCents ?? 0)} has no journal`;
    return `funding ${id} is of ${inWords(fundedCents ?? 0)}; its journal ${journalId} moves ${inWords(bookedCents ?? 0)}`;
  },
});

const fundingAudits = defineReconciliation({
  name: 'audit rows of fundings',
  sql: `select f.id, f.amount_cents as "fundedCents" from fundings f
    where ($1::text is null or f.owner_id = $1) and f.status = 'completed'
      and not exists (
        select from audit a where a.subject_id = f.wallet_id and a.action = 'wallet.funded'
          and a.details ->> 'fundingId' = f.id and a.details -> 'amountCents' = to_jsonb(f.amount_cents))`,
  row: z.object({ id: z.string(), fundedCents: z.number() }),
  describe: ({ id, fundedCents }) => `funding ${id} of ${inWords(fundedCents)} has no audit row with this amount`,
});

const budgets = defineReconciliation({
  name: 'budgets of agents',
  sql: `select j.id, j.kind, j.reference_id as "agentId", m.cents::bigint as "bookedCents"
    from journals j
    cross join lateral (
      select coalesce(sum(greatest(amount_cents, 0)), 0) as cents from ledger_entries where journal_id = j.id
    ) m
    where ($1::text is null or j.owner_id = $1) and j.kind in ('agent_fund', 'agent_return')
      and not exists (
        select from audit a where a.subject_id = j.reference_id and a.request_id = j.request_id
          and case j.kind when 'agent_fund'
            then a.action = 'wallet.credited' and a.details -> 'amountCents' = to_jsonb(m.cents::bigint)
            else a.action = 'agent.closed' end)`,
  row: z.object({ id: z.string(), kind: z.string(), agentId: z.string(), bookedCents: z.number() }),
  describe: ({ id, kind, agentId, bookedCents }) =>
    `journal ${id} of the kind ${kind} moves ${inWords(bookedCents)} of agent ${agentId}, and no audit row says so`,
});

/** Kinds of journals whose document a reconciliation query looks for. An area that posts a further kind adds it here. */
const documentedKinds: readonly string[] = [
  'sepa_transfer',
  ...['authorization', 'increment', 'clearing', 'reversal', 'refund', 'hold_expiry'],
  ...['fund', 'internal_transfer', 'agent_fund', 'agent_return', 'sepa_credit'],
];

const undocumented = defineReconciliation({
  name: 'journals without a document',
  sql: `select j.id, j.kind from journals j where ($1::text is null or j.owner_id = $1)
    and (j.kind not in (${documentedKinds.map((kind) => `'${kind}'`).join(', ')})
      or j.kind in ('fund', 'internal_transfer') and j.reference_type not in ('fund', 'transfer')
      or j.kind = 'sepa_credit' and j.reference_type not in ('bank_entry', 'transfer'))
    and not (j.kind = 'adjustment' and exists (
      select from audit a where a.subject_id = j.id and a.owner_id = j.owner_id))`,
  row: z.object({ id: z.string(), kind: z.string() }),
  describe: ({ id, kind }) =>
    `journal ${id} of the kind ${kind} has no document: ${kind === 'adjustment' ? 'no audit row names it' : 'no area posts this kind'}`,
});

export const fundingReconciliation: readonly ReconciliationQuery[] = [fundings, fundingAudits, budgets, undocumented];
