/**
 * Asserts that the agent and the card of an intent may pay. So a revoking command stops every kind of checkout.
 * @module
 */
import { rows, type Tx } from '../../db/tx.ts';
import type { IntentRow } from '../../domains/spending/intents/index.ts';
import { DomainError } from '../../kernel/errors.ts';

export async function assertAgentAndCardActive(tx: Tx, { agentId, cardId }: IntentRow): Promise<void> {
  const [holder] = await rows<{ agent: string; card: string }>(
    tx,
    'select a.status as agent, c.status as card from agents a join cards c on c.agent_id = a.id where a.id = $1 and c.id = $2',
    [agentId, cardId],
  );
  if (holder?.agent !== 'active')
    throw new DomainError('policy_denied', `agent ${agentId} is ${holder?.agent ?? 'not there'}`);
  if (holder.card !== 'active') throw new DomainError('policy_denied', `card ${cardId} is ${holder.card}`);
}
