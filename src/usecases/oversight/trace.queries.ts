/**
 * The rows of a trace: a fixed number of statements, each bounded and confined to the owner and, for an agent's token,
 * to the agent. Decides nothing.
 * @module
 */
import * as z from 'zod';
import { firstRowOf, rowsOf } from '../../db/statement.ts';
import type { Tx } from '../../db/tx.ts';
import { shownStatus } from '../../domains/delivery/webhooks/delivery.lease.service.ts';
import { deliveryOrigins } from '../../domains/delivery/webhooks/delivery.rules.ts';
import { mostEvents, mostOfPart } from '../../domains/oversight/trace/trace.rules.ts';
import { traceOutcomes } from '../../domains/spending/policies/policy.rules.ts';

/** `agentId` null: of every agent. */
export type Whose = { readonly ownerId: string; readonly agentId: string | null };

const owned = z.object({
  ownerId: z.string(),
  agentId: z.string().nullable(),
  pointer: z.string().nullable(),
  createdAt: z.date(),
  status: z.string().nullable(),
});
export type PlainRow = z.output<typeof owned>;

const plainFrom = (pointer: string, table: string) =>
  `select owner_id as "ownerId", agent_id as "agentId", ${pointer} as pointer, created_at as "createdAt", null as status
   from ${table} where id = $1`;

/** Records whose rows no lookup of the edge returns. */
const plain: Readonly<Record<string, string>> = {
  checkout: plainFrom('intent_id', 'checkouts'),
  journal: plainFrom('reference_id', 'journals'),
  event: plainFrom('subject_id', 'events'),
  agent: `select owner_id as "ownerId", id as "agentId", null as pointer, created_at as "createdAt", status
    from agents where id = $1 and not is_provisioning`,
};

/** Undefined for a kind that is not read here. */
export function findPlain(tx: Tx, kind: string, id: string): Promise<PlainRow | undefined> | undefined {
  const statement = plain[kind];
  return statement === undefined ? undefined : firstRowOf(tx, owned, statement, [id]);
}

const record = z.object({
  part: z.enum(['checkout', 'machine_payment', 'credential', 'transaction', 'evidence', 'access', 'record']),
  id: z.string(),
  at: z.date(),
  status: z.string().nullable(),
  amountCents: z.number().nullable(),
  url: z.string().nullable(),
  code: z.string().nullable(),
  reason: z.string().nullable(),
  merchant: z.string().nullable(),
  type: z.string().nullable(),
  transactionId: z.string().nullable(),
  paymentId: z.string().nullable(),
});
export type TracedRecord = z.output<typeof record>;

const ofIntent = (table: string) =>
  `from ${table} where owner_id = $1 and ($2::text is null or agent_id = $2) and intent_id = $3
   order by created_at desc, id desc limit ${mostOfPart + 1}`;

const recordsOf = `
  (select 'checkout' as part, id, created_at as at, status, amount_cents as "amountCents", target_url as url,
     outcome_code as code, outcome_reason as reason, merchant ->> 'name' as merchant, null as type,
     transaction_id as "transactionId", mpp_payment_id as "paymentId" ${ofIntent('checkouts')})
  union all
  (select 'machine_payment', id, created_at, status, amount_cents, url, outcome_code, outcome_reason, null, null,
     transaction_id, null ${ofIntent('mpp_payments')})
  union all
  (select 'credential', id, created_at, status, amount_cents, null, outcome_code, outcome_reason, host, null,
     transaction_id, payment_id ${ofIntent('mpp_credentials')})
  union all
  (select 'evidence', id, created_at, null, amount_cents, null, null, null, merchant, type, null, null
     ${ofIntent('evidence')})
  union all
  (select 'access', id, created_at, decision, expected_amount_cents, null, rule, reasons ->> 0, null,
     kind, null, null ${ofIntent('access_events')})
  union all
  (select 'transaction', id, created_at, status, amount_cents, null, decline_rule, decline_reason, merchant, rail, id,
     null from transactions
     where owner_id = $1 and ($2::text is null or agent_id = $2) and (intent_id = $3 or id = $3)
     order by created_at desc, id desc limit ${mostOfPart + 1})
  union all
  (select 'record', id, created_at, status, amount_cents, null, null, null, null, 'transfer', null, null from transfers
     where owner_id = $1 and ($2::text is null or agent_id = $2) and (split_id = $3 or intent_id = $3) order by created_at, split_line
     limit ${mostOfPart + 1})`;

/** What was made for an intent, a transaction without one, and the transfers of a split. */
export const readRecords = (tx: Tx, { ownerId, agentId }: Whose, rootId: string): Promise<TracedRecord[]> =>
  rowsOf(tx, record, recordsOf, [ownerId, agentId, rootId]);

const decision = z.object({
  transactionId: z.string(),
  at: z.date(),
  outcome: z.string(),
  rule: z.string(),
  reason: z.string(),
  policyVersion: z.number().nullable(),
  trace: z.array(
    z.object({
      rule: z.string(),
      outcome: z.enum(traceOutcomes),
      figures: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
    }),
  ),
});
export type TracedDecision = z.output<typeof decision>;

export const readDecisions = (tx: Tx, { ownerId, agentId }: Whose, transactionIds: readonly string[]) =>
  rowsOf(
    tx,
    decision,
    `select transaction_id as "transactionId", at, outcome, rule, reason, policy_version as "policyVersion", trace
     from decisions where transaction_id = any($3::text[]) and owner_id = $1 and ($2::text is null or agent_id = $2)
     order by seq desc limit ${mostOfPart + 1}`,
    [ownerId, agentId, [...transactionIds]],
  );

const message = z.object({
  transactionId: z.string(),
  at: z.date(),
  kind: z.string(),
  networkId: z.string().nullable(),
  amountCents: z.number(),
  isFinal: z.boolean().nullable(),
});
export type TracedMessage = z.output<typeof message>;

/** `transactionIds` are the caller's. */
export const readMessages = (tx: Tx, transactionIds: readonly string[]): Promise<TracedMessage[]> =>
  rowsOf(
    tx,
    message,
    `select transaction_id as "transactionId", at, kind, network_id as "networkId", amount_cents as "amountCents",
       is_final as "isFinal"
     from transaction_events where transaction_id = any($1::text[]) order by seq desc limit ${mostOfPart + 1}`,
    [[...transactionIds]],
  );

const posting = z.object({
  id: z.string(),
  at: z.date(),
  kind: z.string(),
  referenceId: z.string(),
  lines: z.array(z.object({ account: z.string(), amountCents: z.number() })),
});
export type TracedPosting = z.output<typeof posting>;

export const readPostings = (tx: Tx, { ownerId, agentId }: Whose, ids: readonly string[]): Promise<TracedPosting[]> =>
  rowsOf(
    tx,
    posting,
    `select j.id, j.created_at as at, j.kind, j.reference_id as "referenceId", (
       select json_agg(json_build_object('account', e.account, 'amountCents', e.amount_cents) order by e.line)
       from ledger_entries e where e.journal_id = j.id) as lines
     from journals j where j.reference_id = any($3::text[]) and j.owner_id = $1
       and ($2::text is null or j.agent_id = $2)
     order by j.created_at desc, j.id desc limit ${mostOfPart + 1}`,
    [ownerId, agentId, [...ids]],
  );

const event = z.object({
  id: z.string(),
  at: z.date(),
  name: z.string(),
  subjectId: z.string(),
  position: z.number(),
});
export type TracedEvent = z.output<typeof event>;

export const readEvents = (tx: Tx, { ownerId, agentId }: Whose, ids: readonly string[]): Promise<TracedEvent[]> =>
  rowsOf(
    tx,
    event,
    `select id, created_at as at, name, subject_id as "subjectId", seq as position
     from events where subject_id = any($3::text[]) and owner_id = $1 and ($2::text is null or agent_id = $2)
     order by seq desc limit ${mostEvents + 1}`,
    [ownerId, agentId, [...ids]],
  );

const delivery = z.object({
  id: z.string(),
  at: z.date(),
  webhookId: z.string(),
  eventId: z.string(),
  event: z.string(),
  status: z.string(),
  attempts: z.number(),
  responseStatus: z.number().nullable(),
  origin: z.enum(deliveryOrigins),
});
export type TracedDelivery = z.output<typeof delivery>;

/**
 * A delivery that was made with its event has the time of its event, which is how the index of a subscription finds it;
 * one that was made again has an index of its own.
 */
export const readDeliveries = (tx: Tx, ownerId: string, eventIds: readonly string[]): Promise<TracedDelivery[]> =>
  rowsOf(
    tx,
    delivery,
    `select d.id, d.created_at as at, d.webhook_id as "webhookId", d.event_id as "eventId", d.event, ${shownStatus('d')} as status,
       d.attempts_made as attempts,
       coalesce(d.success_status, (d.attempts -> -1 ->> 'responseStatus')::int) as "responseStatus",
       coalesce(d.origin, 'event') as origin
     from (select id from webhooks where owner_id = $1 and deleted_at is null order by created_at desc, id desc limit ${mostOfPart}) w
     cross join unnest($2::text[]) as asked (id)
     join events e on e.id = asked.id
     cross join lateral (
       select * from webhook_deliveries
       where webhook_id = w.id and created_at = e.created_at and event_id = e.id and origin is null
       union all
       select * from webhook_deliveries where webhook_id = w.id and event_id = e.id and origin is not null) d
     order by d.created_at desc, d.id desc limit ${mostEvents + 1}`,
    [ownerId, [...eventIds]],
  );

const run = z.object({
  id: z.string(),
  at: z.date(),
  workflow: z.string(),
  subjectId: z.string(),
  stage: z.string(),
  isOpen: z.boolean(),
});
export type TracedRun = z.output<typeof run>;

export const readRuns = (tx: Tx, { ownerId, agentId }: Whose, ids: readonly string[]): Promise<TracedRun[]> =>
  rowsOf(
    tx,
    run,
    `select id, created_at as at, workflow, subject_id as "subjectId", stage, is_open as "isOpen"
     from workflow_runs where id = any($3::text[]) and owner_id = $1 and ($2::text is null or agent_id = $2)
     order by created_at desc, id desc limit ${mostOfPart + 1}`,
    [ownerId, agentId, [...ids]],
  );
