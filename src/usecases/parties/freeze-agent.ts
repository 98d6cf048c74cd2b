/** Freezes an agent with its cards in one transaction. A revoking command, so it needs only PostgreSQL. @module */
import type { Database } from '../../db/database.ts';
import type { Tx } from '../../db/tx.ts';
import { freezeCardsOf } from '../../domains/cards/cards/card.service.ts';
import type { ReachedAgent } from '../../domains/parties/agents/agent.routes.ts';
import type { AgentStatus } from '../../domains/parties/agents/agent.rules.ts';
import { moveAgentRow } from '../../domains/parties/agents/agent.service.ts';
import type { Cause } from '../../platform/cause.ts';

type Freeze = ReachedAgent & { readonly reason?: string | undefined };

export const freezeAgent =
  ({ database }: { readonly database: Database }) =>
  (order: Freeze, cause: Cause): Promise<AgentStatus> =>
    database.write((tx) => freezeAgentIn(tx, cause, order));

/** Use when the freeze is a part of another transaction, such as a change of status. */
export async function freezeAgentIn(tx: Tx, cause: Cause, { ownerId, agentId, reason }: Freeze): Promise<AgentStatus> {
  const { row, outcome } = await moveAgentRow(tx, cause, { ownerId, agentId }, { command: 'freeze', reason });
  if (outcome === 'moved') await freezeCardsOf(tx, cause, agentId);
  return row.status;
}
