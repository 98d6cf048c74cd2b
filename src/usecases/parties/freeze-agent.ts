/** Freezes an agent with its cards in one transaction: a revoking command, so nothing but PostgreSQL is asked. @module */
import type { Database } from '../../db/database.ts';
import type { Tx } from '../../db/tx.ts';
import { type AgentName, type AgentStatus, moveAgentRow } from '../../domains/parties/index.ts';
import type { Id } from '../../kernel/ids.ts';
import type { Cause } from '../../platform/cause.ts';

/** One statement for all cards of an agent, with their events, inside the transaction of the agent's own move. */
export type AgentCascade = (tx: Tx, cause: Cause, agentId: Id<'agent'>) => Promise<unknown>;

export type FreezeAgentDeps = {
  readonly database: Database;
  /** Its active cards become frozen, frozen by the agent. */
  readonly freezeCardsOf: AgentCascade;
};

type Freeze = AgentName & { readonly reason?: string | undefined };

export const createFreezeAgent = (deps: FreezeAgentDeps) => (order: Freeze, cause: Cause) =>
  deps.database.write((tx) => freezeAgentIn(tx, cause, deps, order));

/** For whoever freezes as a part of something else: a change of status, the risk engine. */
export async function freezeAgentIn(
  tx: Tx,
  cause: Cause,
  { freezeCardsOf }: Pick<FreezeAgentDeps, 'freezeCardsOf'>,
  { ownerId, agentId, reason }: Freeze,
): Promise<AgentStatus> {
  const { row, outcome } = await moveAgentRow(tx, cause, { ownerId, agentId }, { command: 'freeze', reason });
  if (outcome === 'moved') await freezeCardsOf(tx, cause, agentId);
  return row.status;
}
