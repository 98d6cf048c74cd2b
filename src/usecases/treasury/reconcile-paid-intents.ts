/**
 * Reconciliation of the intents that transfers pay for: an intent names the transfer or split that pays for it, each of
 * whose transfers is of the same owner and agent and names the intent, and nothing else pays for it.
 * @module
 */
import * as z from 'zod';
import { defineReconciliation, type ReconciliationQuery } from '../../platform/reconciliation.ts';

/** Of which no money left are only the transfers that opened their intent again. */
const paidIntents = defineReconciliation({
  name: 'intents that transfers pay for',
  sql: `select coalesce(i.id, p.intent_id) as "intentId", i.id is not null as "isNamed", i.status,
      coalesce(i.transfer_id, p.payer) as "payerId", p.payer is not null as "isThere",
      p.is_one and (i.id, i.owner_id, i.agent_id) is not distinct from (p.intent_id, p.owner_id, p.agent_id)
        as "isOfIntent",
      p.is_under_way as "isUnderWay", p.has_paid as "hasPaid"
    from (
      select id, owner_id, agent_id, status, transfer_id from intents
      where ($1::text is null or owner_id = $1) and transfer_id is not null
    ) i full join (
      select coalesce(split_id, id) as payer, min(intent_id) as intent_id, min(owner_id) as owner_id,
        min(agent_id) as agent_id,
        count(distinct (intent_id, owner_id, agent_id)) = 1 as is_one,
        bool_or(status in ('pending_approval', 'pending', 'submitted')) as is_under_way,
        bool_or(status in ('completed', 'returned')) as has_paid
      from transfers where $1::text is null or owner_id = $1
      group by 1
    ) p on p.payer = i.transfer_id
    where case
      when i.id is null then p.intent_id is not null and (p.is_under_way or p.has_paid)
      when p.payer is null or not p.is_one then true
      when (i.id, i.owner_id, i.agent_id) is distinct from (p.intent_id, p.owner_id, p.agent_id) then true
      when p.is_under_way then i.status <> 'approved'
      else not p.has_paid or i.status <> 'completed' end`,
  row: z.object({
    intentId: z.string(),
    isNamed: z.boolean(),
    status: z.string().nullable(),
    payerId: z.string(),
    isThere: z.boolean(),
    isOfIntent: z.boolean().nullable(),
    isUnderWay: z.boolean().nullable(),
    hasPaid: z.boolean().nullable(),
  }),
  describe: ({ intentId, isNamed, status, payerId, isThere, isOfIntent, isUnderWay, hasPaid }) => {
    if (!isNamed) return `${payerId} pays for intent ${intentId}, which does not name it`;
    const named = `intent ${intentId} names ${payerId}`;
    if (!isThere) return `${named}, and there is no such transfer or split`;
    if (isOfIntent !== true) return `${named}, which is not all for this intent, its owner and its agent`;
    const does = isUnderWay === true ? 'is under way' : hasPaid === true ? 'has paid for it' : 'sent no money';
    return `${named}, which ${does}; the intent is ${status}`;
  },
});

export const paidIntentReconciliation: readonly ReconciliationQuery[] = [paidIntents];
