/** Reads the stored decision on a charge. No decision is made here. @module */
import * as z from 'zod';
import { columnRow } from '../../../db/column-row.ts';
import { firstRowOf } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';

const figure = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const decision = columnRow({
  transactionId: z.string(),
  outcome: z.enum(['approved', 'partial', 'declined']),
  rule: z.string(),
  reason: z.string(),
  amountCents: z.number(),
  intentId: z.string().nullable(),
  cardId: z.string().nullable(),
  policyId: z.string().nullable(),
  policyVersion: z.number().nullable(),
  trace: z.array(
    z.object({
      rule: z.string(),
      outcome: z.enum(['pass', 'needs_approval', 'deny']),
      figures: z.record(z.string(), figure),
    }),
  ),
  /** Absent in decisions that are older than its computation, and of what was approved. */
  remedy: z
    .array(z.object({ field: z.string(), value: z.union([z.string(), z.number(), z.boolean()]), inWords: z.string() }))
    .nullable(),
  at: z.date(),
});
export type StoredDecision = z.output<typeof decision>;

/** The last one, where an authorization was decided again. Null where the network has asked for none. */
export async function findDecision(tx: Tx, transactionId: string): Promise<StoredDecision | null> {
  const found = await firstRowOf(
    tx,
    decision,
    `select transaction_id, outcome, rule, reason, (facts ->> 'amountCents')::float8 as amount_cents, intent_id, card_id,
       policy_id, policy_version, trace, nullif(facts -> 'remedy', 'null') as remedy, at
     from decisions where transaction_id = $1 order by seq desc limit 1`,
    [transactionId],
  );
  return found ?? null;
}
