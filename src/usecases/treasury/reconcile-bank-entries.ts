/**
 * Reconciliation of banks' files: each line that was booked has its journal with its amount, each assignment has two,
 * and no journal of a bank entry is without its line. Each query returns the differences of one owner.
 * @module
 */
import * as z from 'zod';
import { operatorOwnerId } from '../../domains/treasury/bank-files/bank-entry.rules.ts';
import { inWords } from '../../kernel/money.ts';
import { defineReconciliation, type ReconciliationQuery } from '../../platform/reconciliation.ts';

/** What a line must have posted: in the wallet's book, and in the operator's for what is or was in suspense. */
const expected = `
  select e.id, e.journal_id, e.amount_cents,
    case when e.status = 'credited' then e.owner_id else '${operatorOwnerId}' end as owner_id,
    case when e.status = 'credited' then 'external:sepa:' || e.owner_id else 'external:sepa:${operatorOwnerId}' end as account
  from bank_entries e where e.status <> 'unbooked'
  union all
  select e.id, e.assigned_journal_id, e.amount_cents, e.owner_id, 'interowner:' || e.owner_id
  from bank_entries e where e.status = 'assigned'`;

const lines = defineReconciliation({
  name: 'lines of bank files',
  sql: `select x.id, x.amount_cents as "lineCents", (
      select -sum(l.amount_cents) from journals j join ledger_entries l on l.journal_id = j.id
      where j.id = x.journal_id and j.owner_id = x.owner_id and l.account = x.account
    )::bigint as "bookedCents"
    from (${expected}) x
    where ($1::text is null or x.owner_id = $1) and x.amount_cents is distinct from (
      select -sum(l.amount_cents) from journals j join ledger_entries l on l.journal_id = j.id
      where j.id = x.journal_id and j.owner_id = x.owner_id and l.account = x.account)`,
  row: z.object({ id: z.string(), lineCents: z.number(), bookedCents: z.number().nullable() }),
  describe: ({ id, lineCents, bookedCents }) =>
    bookedCents === null
      ? `bank entry ${id} of ${inWords(lineCents)} has no journal`
      : `bank entry ${id} is of ${inWords(lineCents)}; its journal moves ${inWords(bookedCents)}`,
});

const journals = defineReconciliation({
  name: 'journals of bank files',
  sql: `select j.id, j.reference_id as "entryId" from journals j
    where ($1::text is null or j.owner_id = $1) and j.reference_type = 'bank_entry'
      and not exists (
        select from bank_entries e where e.id = j.reference_id
          and (j.id in (e.journal_id, e.assigned_journal_id)
            or e.status = 'assigned' and j.owner_id = '${operatorOwnerId}'))`,
  row: z.object({ id: z.string(), entryId: z.string() }),
  describe: ({ id, entryId }) => `journal ${id} names bank entry ${entryId}, which does not name it`,
});

const assignments = defineReconciliation({
  name: 'assignments of bank entries',
  sql: `select e.id, e.amount_cents as "lineCents" from bank_entries e
    where ($1::text is null or e.owner_id = $1) and e.status = 'assigned'
      and (not exists (
          select from journals j join ledger_entries l on l.journal_id = j.id
          where j.reference_type = 'bank_entry' and j.reference_id = e.id and j.owner_id = '${operatorOwnerId}'
            and l.account = 'suspense:${operatorOwnerId}' and l.amount_cents = -e.amount_cents)
        or not exists (
          select from audit a where a.subject_id = e.wallet_id and a.action = 'wallet.credited'
            and a.details ->> 'bankEntryId' = e.id))`,
  row: z.object({ id: z.string(), lineCents: z.number() }),
  describe: ({ id, lineCents }) =>
    `the assignment of bank entry ${id} of ${inWords(lineCents)} did not leave suspense, or has no audit row`,
});

export const bankEntryReconciliation: readonly ReconciliationQuery[] = [lines, journals, assignments];
