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
  return inactivityOf({ agentId, cardId }, await holderOf.first(tx, { agentId, cardId }));
}

/** The states of agent and card; null for one that is not there. */
export type Holder = { readonly agent: string | null; readonly card: string | null };

/** The same of states that the caller has read. */
export function inactivityOf(
  { agentId, cardId }: Pick<IntentRow, 'agentId' | 'cardId'>,
  holder: Holder | null,
): string | undefined {
  if (holder?.agent !== 'active') return `agent ${agentId} is ${holder?.agent ?? 'not there'}`;
  return holder.card === 'active' ? undefined : `card ${cardId} is ${holder.card ?? 'not there'}`;
}
