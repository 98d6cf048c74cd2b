/**
 * Unfreezes an agent, and of its cards those that were frozen with it, in one transaction; a card that was frozen by
 * itself stays so.
 * @module
 */
import type { Database } from '../../db/database.ts';
import type { Tx } from '../../db/tx.ts';
import { type AgentName, type AgentStatus, moveAgentRow } from '../../domains/parties/index.ts';
import type { Cause } from '../../platform/cause.ts';
import type { AgentCascade } from './freeze-agent.ts';

export type UnfreezeAgentDeps = {
  readonly database: Database;
  /** Its cards that the agent's freeze had frozen become active. */
  readonly unfreezeCardsOf: AgentCascade;
};

export const createUnfreezeAgent = (deps: UnfreezeAgentDeps) => (name: AgentName, cause: Cause) =>
  deps.database.write((tx) => unfreezeAgentIn(tx, cause, deps, name));

export async function unfreezeAgentIn(
  tx: Tx,
  cause: Cause,
  { unfreezeCardsOf }: Pick<UnfreezeAgentDeps, 'unfreezeCardsOf'>,
  name: AgentName,
): Promise<AgentStatus> {
  const { row, outcome } = await moveAgentRow(tx, cause, name, { command: 'unfreeze' });
  if (outcome === 'moved') await unfreezeCardsOf(tx, cause, name.agentId);
  return row.status;
}
