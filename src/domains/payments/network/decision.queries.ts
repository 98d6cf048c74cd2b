/** Reads the stored decisions on a charge. No decision is made here. @module */
import * as z from 'zod';
import { columnRow, jsonInstant } from '../../../db/column-row.ts';
import { firstRowOf, rowsOf } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { findPolicyVersion, type PolicyVersion } from '../../spending/policies/index.ts';
import { traceOutcomes } from '../../spending/policies/policy.rules.ts';

const figure = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const trace = z.array(
  z.object({ rule: z.string(), outcome: z.enum(traceOutcomes), figures: z.record(z.string(), figure) }),
);
const decision = columnRow({
  transactionId: z.string(),
  /** Null: of the authorization. */
  incrementId: z.string().nullable(),
  outcome: z.enum(['approved', 'partial', 'declined']),
  rule: z.string(),
  reason: z.string(),
  amountCents: z.number(),
  /** What was approved of it. Null in decisions on authorizations. */
  approvedCents: z.number().nullable(),
  intentId: z.string().nullable(),
  cardId: z.string().nullable(),
  policyId: z.string().nullable(),
  policyVersion: z.number().nullable(),
  trace,
  /** Of a declined charge: the intent that it was made for, and that alone could pay for it. */
  onlyIntentId: z.string().nullable(),
  /** Absent in decisions that are older than its computation, and of what was approved. */
  remedy: z
    .array(z.object({ field: z.string(), value: z.union([z.string(), z.number(), z.boolean()]), inWords: z.string() }))
    .nullable(),
  at: z.date(),
});
export type StoredDecision = z.output<typeof decision>;

export type StoredDecisions = {
  readonly decision: StoredDecision;
  readonly increments: readonly StoredDecision[];
};

/**
 * The decision on the authorization, the last one where it was decided again, and those on its increments, oldest first.
 * Null where the network has asked for none.
 */
async function findDecisions(tx: Tx, transactionId: string): Promise<StoredDecisions | null> {
  const found = await rowsOf(
    tx,
    decision,
    `select transaction_id, message_id as increment_id, outcome, rule, reason,
       (facts ->> 'amountCents')::float8 as amount_cents, (facts ->> 'approvedCents')::float8 as approved_cents, intent_id,
       card_id, policy_id, policy_version, trace, nullif(facts -> 'remedy', 'null') as remedy, at,
       (select t.intent_id from transactions t where t.id = decisions.transaction_id) as only_intent_id
     from decisions where transaction_id = $1 order by seq`,
    [transactionId],
  );
  const last = found.findLast(({ incrementId }) => incrementId === null);
  return last === undefined
    ? null
    : { decision: last, increments: found.filter(({ incrementId }) => incrementId !== null) };
}

/** With the version of the policy that it used, for an owner: an agent's token has a separate scope for policies. */
export async function readDecision(
  tx: Tx,
  transactionId: string,
  { agentId }: { readonly agentId: string | undefined },
): Promise<{ readonly decisions: StoredDecisions; readonly policy: PolicyVersion | null } | null> {
  const decisions = await findDecisions(tx, transactionId);
  if (decisions === null) return null;
  const { policyId, policyVersion } = decisions.decision;
  if (agentId !== undefined || policyId === null || policyVersion === null) return { decisions, policy: null };
  return { decisions, policy: await findPolicyVersion(tx, policyId, policyVersion) };
}

const declined = columnRow({
  transactionId: z.string(),
  agentId: z.string(),
  cardId: z.string().nullable(),
  isDeclined: z.boolean(),
  isVerification: z.boolean(),
  onlyIntentId: z.string().nullable(),
  decision: z
    .object({
      outcome: z.enum(['approved', 'partial', 'declined']),
      rule: z.string(),
      reason: z.string(),
      policyVersion: z.number().nullable(),
      /** The intent that the charge was for. */
      intentId: z.string().nullable(),
      trace,
      at: jsonInstant,
      amountCents: z.number(),
      recurring: z.boolean(),
      merchant: z.object({ id: z.string(), name: z.string(), mcc: z.string(), country: z.string() }),
    })
    .nullable(),
});
export type Declined = z.output<typeof declined>;
export type DeclinedDecision = NonNullable<Declined['decision']>;

const forPerson = columnRow({
  ownerId: z.string(),
  agentId: z.string(),
  cardId: z.string(),
  policyVersion: z.number().nullable(),
  outcome: z.literal('declined'),
  rule: z.string(),
  reason: z.string(),
  trace,
  at: z.date(),
});

/** The decline of a charge, if only the approval of a person was missing, and it was decided after `since`. Else null. */
export async function findLackingPerson(
  tx: Tx,
  transactionId: string,
  since: Date,
): Promise<z.output<typeof forPerson> | null> {
  const found = await firstRowOf(
    tx,
    forPerson,
    `select d.owner_id, d.agent_id, d.card_id, d.policy_version, d.outcome, d.rule, d.reason, d.trace, d.at
     from (
       select * from decisions where transaction_id = $1 and message_id is null order by seq desc limit 1) d
     where d.outcome = 'declined' and d.card_id is not null and d.at > $2
       and jsonb_path_exists(d.trace, '$[*] ? (@.rule == $rule && @.outcome == "needs_approval")',
         jsonb_build_object('rule', d.rule))`,
    [transactionId, since],
  );
  return found ?? null;
}

/** A charge with its decision, for an owner who wants to let it pass; null where it is not this owner's. */
export async function findDeclined(tx: Tx, transactionId: string, ownerId: string): Promise<Declined | null> {
  const found = await firstRowOf(
    tx,
    declined,
    `select t.id as transaction_id, t.agent_id, t.card_id, t.status = 'failed' as is_declined, t.is_verification,
       t.intent_id as only_intent_id, d.decision
     from transactions t
     left join lateral (
       select jsonb_build_object('outcome', d.outcome, 'rule', d.rule, 'reason', d.reason,
           'policyVersion', d.policy_version, 'intentId', d.intent_id, 'trace', d.trace, 'at', d.at, 'amountCents', d.facts -> 'amountCents',
           'recurring', d.facts -> 'recurring', 'merchant', d.facts -> 'merchant') as decision
       from decisions d where d.transaction_id = t.id and d.message_id is null order by d.seq desc limit 1) d on true
     where t.id = $1 and t.owner_id = $2`,
    [transactionId, ownerId],
  );
  return found ?? null;
}
