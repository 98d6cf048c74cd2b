/**
 * Asserts that the agent and the card of an intent may pay. So a revoking command stops every kind of checkout.
 * @module
 */
import { type Given, query } from '../../db/db.ts';
import type { Tx } from '../../db/tx.ts';
import type { IntentRow } from '../../domains/spending/intents/intent.entity.ts';
import { DomainError } from '../../kernel/errors.ts';

const holderOf = query((from, given: Given<{ agentId: string; cardId: string }>) =>
  from
    .selectFrom('agents as a')
    .innerJoin('cards as c', 'c.agentId', 'a.id')
    .select(['a.status as agent', 'c.status as card'])
    .where('a.id', '=', given('agentId'))
    .where('c.id', '=', given('cardId')),
);

export async function assertAgentAndCardActive(tx: Tx, intent: IntentRow): Promise<void> {
  const why = await whyInactive(tx, intent);
  if (why !== undefined) throw new DomainError('policy_denied', why);
}

/** Undefined where both may pay. */
export async function whyInactive(
  tx: Tx,
  { agentId, cardId }: Pick<IntentRow, 'agentId' | 'cardId'>,
): Promise<string | undefined> {
  const holder = await holderOf.first(tx, { agentId, cardId });
  if (holder?.agent !== 'active') return `agent ${agentId} is ${holder?.agent ?? 'not there'}`;
  return holder.card === 'active' ? undefined : `card ${cardId} is ${holder.card}`;
}
