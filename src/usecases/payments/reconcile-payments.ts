/**
 * Reconciliation of payments: spending counters, clearings, holds, journals, decisions and events must agree with the
 * transactions. Each query returns the differences of one owner.
 * @module
 */
import * as z from 'zod';
import { operatorOwnerId } from '../../domains/treasury/bank-files/bank-entry.rules.ts';
import { inWords } from '../../kernel/money.ts';
import { defineReconciliation, type ReconciliationQuery } from '../../platform/reconciliation.ts';

const spendingCounters = defineReconciliation({
  name: 'spending counters',
  sql: `select agent_id as "agentId", card_id as "cardId", day::text as day,
      coalesce(kept.spent, 0)::bigint as "countedCents", coalesce(due.spent, 0)::bigint as "spentCents",
      coalesce(kept.payments, 0)::bigint as counted, coalesce(due.payments, 0)::bigint as payments
    from (
      select d.agent_id, d.card_id, d.day, d.spent_cents as spent, d.payments
      from spending_days d join agents a on a.id = d.agent_id
      where ($1::text is null or a.owner_id = $1) and (d.spent_cents <> 0 or d.payments <> 0)
    ) kept full join (
      select p.agent_id, p.card_id, (p.at at time zone 'UTC')::date as day, sum(p.cents) as spent, sum(p.uses) as payments
      from (
        select agent_id, coalesce(card_id, '') as card_id, authorized_at as at, spent_cents as cents, 1 as uses
        from transactions where ($1::text is null or owner_id = $1) and spent_cents > 0
        union all
        select agent_id, '', created_at, amount_cents,
          case when split_id is null or row_number() over (partition by split_id order by split_line) = 1 then 1 else 0 end
        from transfers where ($1::text is null or owner_id = $1) and agent_id is not null
          and status not in ('failed', 'denied', 'cancelled')
      ) p group by 1, 2, 3
    ) due using (agent_id, card_id, day)
    where (coalesce(kept.spent, 0), coalesce(kept.payments, 0)) <> (coalesce(due.spent, 0), coalesce(due.payments, 0))`,
  row: z.object({
    agentId: z.string(),
    cardId: z.string(),
    day: z.string(),
    countedCents: z.number(),
    spentCents: z.number(),
    counted: z.number(),
    payments: z.number(),
  }),
  describe: ({ agentId, cardId, day, countedCents, spentCents, counted, payments }) =>
    `of agent ${agentId}, card ${cardId === '' ? 'none' : cardId}, ${day}: counted are ${inWords(countedCents)} in ${counted} payments; the transactions and transfers make ${inWords(spentCents)} in ${payments}`,
});

const clearings = defineReconciliation({
  name: 'clearings',
  sql: `select t.id, t.cleared_cents as "clearedCents", e.cents as "reportedCents", coalesce(j.cents, 0)::bigint as "bookedCents"
    from transactions t
    cross join lateral (
      select coalesce(sum(amount_cents), 0)::bigint as cents from transaction_events
      where transaction_id = t.id and kind = 'clearing'
    ) e
    left join (
      select j.reference_id, sum(l.amount_cents) as cents
      from journals j join ledger_entries l on l.journal_id = j.id
      where ($1::text is null or j.owner_id = $1) and j.kind = 'clearing'
        and l.account = 'external:cards:' || j.owner_id
      group by 1
    ) j on j.reference_id = t.id
    where ($1::text is null or t.owner_id = $1) and (t.cleared_cents <> e.cents or t.cleared_cents <> coalesce(j.cents, 0))`,
  row: z.object({ id: z.string(), clearedCents: z.number(), reportedCents: z.number(), bookedCents: z.number() }),
  describe: ({ id, clearedCents, reportedCents, bookedCents }) =>
    `transaction ${id} says ${inWords(clearedCents)} cleared; its clearing messages make ${inWords(reportedCents)}, its journals ${inWords(bookedCents)}`,
});

const clearingMessages = defineReconciliation({
  name: 'clearing messages',
  sql: `select t.id, e.kind, e.adapter, e.network_id as "networkId"
    from transactions t join transaction_events e on e.transaction_id = t.id
    where ($1::text is null or t.owner_id = $1) and e.kind <> 'expiry'
      and not exists (
        select from network_messages m where m.adapter = e.adapter and m.id = e.network_id and m.kind = e.kind)`,
  row: z.object({
    id: z.string(),
    kind: z.string(),
    adapter: z.string().nullable(),
    networkId: z.string().nullable(),
  }),
  describe: ({ id, kind, adapter, networkId }) =>
    `transaction ${id} has the ${kind} ${networkId} of ${adapter}, which the network never sent or which was deleted`,
});

const refunds = defineReconciliation({
  name: 'refunds',
  sql: `select t.id, t.refunded_cents as "refundedCents", r.cents as "givenBackCents"
    from transactions t cross join lateral (
      select coalesce(sum(amount_cents), 0)::bigint as cents from transactions r
      where r.original_transaction_id = t.id and r.type = 'refund'
    ) r
    where ($1::text is null or t.owner_id = $1) and t.refunded_cents <> r.cents
    union all
    select t.id, t.amount_cents, coalesce(j.cents, 0)::bigint
    from transactions t
    left join (
      select j.reference_id, -sum(l.amount_cents) as cents
      from journals j join ledger_entries l on l.journal_id = j.id
      where ($1::text is null or j.owner_id = $1) and j.kind = 'refund' and l.account = 'external:cards:' || j.owner_id
      group by 1
    ) j on j.reference_id = t.id
    where ($1::text is null or t.owner_id = $1) and t.type = 'refund' and t.amount_cents <> coalesce(j.cents, 0)`,
  row: z.object({ id: z.string(), refundedCents: z.number(), givenBackCents: z.number() }),
  describe: ({ id, refundedCents, givenBackCents }) =>
    `transaction ${id} says ${inWords(refundedCents)} refunded; its refunds, or its journal, make ${inWords(givenBackCents)}`,
});

const holds = defineReconciliation({
  name: 'holds',
  sql: `select t.id, t.held_cents as "heldCents", coalesce(j.cents, 0)::bigint as "bookedCents"
    from transactions t
    left join (
      select j.reference_id, sum(l.amount_cents) as cents
      from journals j join ledger_entries l on l.journal_id = j.id
      where ($1::text is null or j.owner_id = $1) and j.reference_type = 'transaction' and l.account like '%:held'
      group by 1
    ) j on j.reference_id = t.id
    where ($1::text is null or t.owner_id = $1) and t.held_cents <> coalesce(j.cents, 0)`,
  row: z.object({ id: z.string(), heldCents: z.number(), bookedCents: z.number() }),
  describe: ({ id, heldCents, bookedCents }) =>
    `transaction ${id} holds ${inWords(heldCents)}; its journals hold ${inWords(bookedCents)}`,
});

/** Of the operator's journal by which a message enters suspense. */
const suspenseCause = `m.kind || ':' || m.adapter || ':' || m.id`;

/** In the operator's book: while it waits, between the cards and suspense; assigned, nothing; dismissed, in fees. */
const suspended = defineReconciliation({
  name: 'network messages of unknown cards',
  sql: `select m.kind, m.id, m.settled_as as "settledAs", x.cents as "movedCents", b.cards as "cardsCents",
      b.suspense as "suspenseCents", b.fees as "feesCents"
    from network_messages m
    cross join lateral (
      select case m.kind when 'clearing' then 1 else -1 end * (m.body ->> 'amountCents')::bigint as cents
    ) x
    cross join lateral (
      select coalesce(sum(l.amount_cents) filter (where l.account = 'external:cards:${operatorOwnerId}'), 0)::bigint as cards,
        coalesce(sum(l.amount_cents) filter (where l.account = 'suspense:${operatorOwnerId}'), 0)::bigint as suspense,
        coalesce(sum(l.amount_cents) filter (where l.account = 'fees:${operatorOwnerId}'), 0)::bigint as fees
      from journals j join ledger_entries l on l.journal_id = j.id
      where j.owner_id = '${operatorOwnerId}' and j.cause in (${suspenseCause}, ${suspenseCause} || '/' || m.settled_as)
    ) b
    where ($1::text is null or $1 = '${operatorOwnerId}') and m.unbooked_reason = 'unknown_card' and m.kind in ('clearing', 'refund')
      and (b.cards, b.suspense, b.fees) is distinct from (
        case when m.settled_as = 'assigned' then 0 else x.cents end,
        case when m.settled_as is null then -x.cents else 0 end,
        case when m.settled_as = 'dismissed' then -x.cents else 0 end)`,
  row: z.object({
    kind: z.string(),
    id: z.string(),
    settledAs: z.string().nullable(),
    movedCents: z.number(),
    cardsCents: z.number(),
    suspenseCents: z.number(),
    feesCents: z.number(),
  }),
  describe: ({ kind, id, settledAs, movedCents, cardsCents, suspenseCents, feesCents }) =>
    `the ${kind} ${id} of an unknown card moved ${inWords(movedCents)} and is ${settledAs ?? 'in suspense'}; the operator's book has ${inWords(cardsCents)} at the cards, ${inWords(suspenseCents)} in suspense and ${inWords(feesCents)} in fees`,
});

const journalsOfPayments = defineReconciliation({
  name: 'journals of payments',
  sql: `select j.id, j.kind, j.reference_id as "transactionId", j.cause from journals j
    where ($1::text is null or j.owner_id = $1) and j.kind in ('authorization', 'increment', 'clearing', 'reversal', 'refund', 'hold_expiry')
      and not exists (
        select from transactions t join transaction_events e on e.transaction_id = t.id
        where t.id = j.reference_id and t.owner_id = j.owner_id
          and j.cause = case e.kind when 'expiry' then 'hold_expiry' else e.kind end || ':' || e.adapter || ':' || e.network_id)
      -- Of an unknown card, the message itself is the document of the journals that it enters and leaves suspense by.
      and not (j.kind in ('clearing', 'refund') and j.reference_type = 'adjustment'
        and j.owner_id = '${operatorOwnerId}' and exists (
          select from network_messages m
          where m.kind = j.kind and m.id = j.reference_id and m.unbooked_reason = 'unknown_card'
            and j.cause in (${suspenseCause}, ${suspenseCause} || '/' || m.settled_as)))`,
  row: z.object({ id: z.string(), kind: z.string(), transactionId: z.string(), cause: z.string() }),
  describe: ({ id, kind, transactionId, cause }) =>
    `journal ${id} of the kind ${kind} has no message ${cause} of transaction ${transactionId}`,
});

const settledMessages = defineReconciliation({
  name: 'network messages that waited for an operator',
  sql: `select m.kind, m.id, m.settled_as as "settledAs" from network_messages m
    left join transaction_events e on e.adapter = m.adapter and e.network_id = m.id and e.kind = m.kind
    left join transactions t on t.id = coalesce(e.transaction_id, m.transaction_id)
    where m.unbooked_reason is not null and ($1::text is null or t.owner_id = $1)
      and (m.settled_as is not distinct from 'assigned') <> (e.seq is not null)`,
  row: z.object({ kind: z.string(), id: z.string(), settledAs: z.string().nullable() }),
  describe: ({ kind, id, settledAs }) =>
    settledAs === 'assigned'
      ? `the ${kind} ${id} was assigned by an operator, and no transaction has it`
      : `the ${kind} ${id} waited for an operator and was not assigned, and a transaction has it`,
});

const decisions = defineReconciliation({
  name: 'decisions',
  sql: `select d.seq, d.transaction_id as "transactionId", d.outcome, m.answer ->> 'decision' as answered,
      t.decline_rule as "declineRule", t.id is not null as "hasTransaction"
    from decisions d
    left join transactions t on t.id = d.transaction_id and t.owner_id = d.owner_id
    left join network_messages m on m.adapter = t.adapter and m.kind = d.message_kind
      and m.id = coalesce(d.message_id, t.authorization_id)
    where ($1::text is null or d.owner_id = $1)
      and (t.id is null or m.answer ->> 'decision' is distinct from d.outcome
        or d.message_kind = 'authorization' and (d.outcome = 'declined') <> (t.decline_rule is not null))`,
  row: z.object({
    seq: z.number(),
    transactionId: z.string().nullable(),
    outcome: z.string(),
    answered: z.string().nullable(),
    declineRule: z.string().nullable(),
    hasTransaction: z.boolean(),
  }),
  describe: ({ seq, transactionId, outcome, answered, declineRule, hasTransaction }) =>
    hasTransaction
      ? `decision ${seq} says ${outcome}; the network was answered ${answered ?? 'nothing'}, and transaction ${transactionId} ${declineRule === null ? 'was not declined' : `was declined by ${declineRule}`}`
      : `decision ${seq} is of transaction ${transactionId}, which is gone`,
});

const undecided = defineReconciliation({
  name: 'authorizations without a decision',
  sql: `select t.id, e.kind, e.network_id as "networkId"
    from transactions t join transaction_events e on e.transaction_id = t.id and e.kind in ('authorization', 'increment')
    where ($1::text is null or t.owner_id = $1)
      and not exists (select from decisions d where d.transaction_id = t.id and d.message_kind = e.kind
        and coalesce(d.message_id, t.authorization_id) = e.network_id)`,
  row: z.object({ id: z.string(), kind: z.string(), networkId: z.string().nullable() }),
  describe: ({ id, kind, networkId }) =>
    `transaction ${id} has the ${kind} ${networkId}, and there is no decision on it`,
});

const statuses = defineReconciliation({
  name: 'events of payments',
  sql: `select t.id, t.status, last.name, last.status as "eventStatus"
    from transactions t cross join lateral (
      select e.name, e.data ->> 'status' as status from events e
      where e.subject_id = t.id and e.name like 'transaction.%' order by e.seq desc limit 1
    ) last
    where ($1::text is null or t.owner_id = $1) and last.status <> t.status`,
  row: z.object({ id: z.string(), status: z.string(), name: z.string(), eventStatus: z.string() }),
  describe: ({ id, status, name, eventStatus }) =>
    `transaction ${id} is ${status}; its last event, ${name}, says ${eventStatus}`,
});

const permissions = defineReconciliation({
  name: 'one charge per permission',
  sql: `select i.id, count(*) as charges
    from intents i join transactions t on t.intent_id = i.id and t.held_cents + t.cleared_cents + t.reversed_cents > 0
    where ($1::text is null or i.owner_id = $1) and i.allows_once_of is not null
    group by i.id having count(*) > 1`,
  row: z.object({ id: z.string(), charges: z.number() }),
  describe: ({ id, charges }) => `intent ${id} lets one charge pass once, and ${charges} charges have used it`,
});

const matchedIntents = defineReconciliation({
  name: 'intents and what pays for them',
  sql: `select i.id, i.status, i.matched_transaction_id as "transactionId", t.status as "transactionStatus"
    from intents i left join transactions t on t.id = i.matched_transaction_id and t.owner_id = i.owner_id and t.intent_id = i.id
    where ($1::text is null or i.owner_id = $1) and i.matched_transaction_id is not null
      and (t.id is null or i.status = 'approved' and t.status in ('reversed', 'completed'))`,
  row: z.object({
    id: z.string(),
    status: z.string(),
    transactionId: z.string(),
    transactionStatus: z.string().nullable(),
  }),
  describe: ({ id, status, transactionId, transactionStatus }) =>
    transactionStatus === null
      ? `intent ${id} names transaction ${transactionId} as its payment, which does not name the intent`
      : `intent ${id} is ${status}; transaction ${transactionId}, which pays for it, is ${transactionStatus}`,
});

export const paymentReconciliation: readonly ReconciliationQuery[] = [
  spendingCounters,
  clearings,
  clearingMessages,
  refunds,
  holds,
  suspended,
  journalsOfPayments,
  settledMessages,
  decisions,
  undecided,
  statuses,
  permissions,
  matchedIntents,
];
