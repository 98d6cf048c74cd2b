/**
 * Asserts that the agent and the card of an intent may pay. So a revoking command stops every kind of checkout.
 * @module
 */
import { type Given, query } from '../../db/db.ts';
import type { Tx } from '../../db/tx.ts';
import type { IntentRow } from '../../domains/spending/intents/intent.entity.ts';
import { DomainError, type RefusedBy } from '../../kernel/errors.ts';

const holderOf = query((from, given: Given<{ agentId: string; cardId: string }>) =>
  from
    .selectFrom('agents as a')
    .innerJoin('cards as c', 'c.agentId', 'a.id')
    .select(['a.status as agent', 'c.status as card'])
    .where('a.id', '=', given('agentId'))
    .where('c.id', '=', given('cardId')),
);

export async function assertAgentAndCardActive(tx: Tx, intent: IntentRow): Promise<void> {
  assertActive(intent, await holderOf.first(tx, { agentId: intent.agentId, cardId: intent.cardId }));
}

type Held = Pick<IntentRow, 'agentId' | 'cardId'>;

/** The states of agent and card; null for one that is not there. */
export type Holder = { readonly agent: string | null; readonly card: string | null };

/** The same of states that the caller has read. */
export function assertActive(held: Held, holder: Holder | null): void {
  const inactive = inactiveOf(held, holder);
  if (inactive !== undefined) throw new DomainError('policy_denied', inactive.why, { refusedBy: inactive.by });
}

/** Undefined where both may pay. */
export const whyInactive = async (tx: Tx, { agentId, cardId }: Held): Promise<string | undefined> =>
  whyInactiveOf({ agentId, cardId }, await holderOf.first(tx, { agentId, cardId }));

/** The same of states that the caller has read. */
export const whyInactiveOf = (held: Held, holder: Holder | null): string | undefined => inactiveOf(held, holder)?.why;

function inactiveOf(
  { agentId, cardId }: Held,
  holder: Holder | null,
): { readonly why: string; readonly by: RefusedBy } | undefined {
  const agent = holder?.agent ?? 'not there';
  if (agent !== 'active')
    return { why: `agent ${agentId} is ${agent}`, by: { rule: 'agent_status', figures: { status: agent } } };
  const card = holder?.card ?? 'not there';
  if (card === 'active') return undefined;
  return { why: `card ${cardId} is ${card}`, by: { rule: 'card_status', figures: { status: card } } };
}
