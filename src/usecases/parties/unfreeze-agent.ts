/**
 * Unfreezes an agent and the cards that were frozen with it, in one transaction. A card that was frozen separately
 * stays frozen.
 * @module
 */
import type { Database } from '../../db/database.ts';
import type { Tx } from '../../db/tx.ts';
import { unfreezeCardsOf } from '../../domains/cards/cards/card.service.ts';
import type { ReachedAgent } from '../../domains/parties/agents/agent.routes.ts';
import type { AgentStatus } from '../../domains/parties/agents/agent.rules.ts';
import { moveAgentRow } from '../../domains/parties/agents/agent.service.ts';
import type { Cause } from '../../platform/cause.ts';

export const unfreezeAgent =
  ({ database }: { readonly database: Database }) =>
  (name: ReachedAgent, cause: Cause): Promise<AgentStatus> =>
    database.write((tx) => unfreezeAgentIn(tx, cause, name));

/** Use when the unfreeze is a part of another transaction. */
export async function unfreezeAgentIn(tx: Tx, cause: Cause, name: ReachedAgent): Promise<AgentStatus> {
  const { row, outcome } = await moveAgentRow(tx, cause, name, { command: 'unfreeze' });
  if (outcome === 'moved') await unfreezeCardsOf(tx, cause, name.agentId);
  return row.status;
}
