/** Rules over all cards of one agent: the cardholder, unique names, and exactly one primary card. @module */
import { runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import type { ReachedId } from '../../../http/reaches.ts';
import { DomainError, notFound } from '../../../kernel/errors.ts';

/** The agent is not locked where the card, or the agent, is another owner's. */
export type OwnedCard = { readonly cardId: string; readonly ownerId: string };

/** Locks the card's agent, and by it the names and the primacy among its cards. Taken before the cards themselves. */
export const lockAgentOf = (tx: Tx, { cardId, ownerId }: OwnedCard): Promise<unknown> =>
  runSql(
    tx,
    `select 1 from agents
     where owner_id = $2 and id = (select agent_id from cards where id = $1 and owner_id = $2) for no key update`,
    [cardId, ownerId],
  );

/** The same for an agent that the caller named. */
export async function lockNamedAgent(
  tx: Tx,
  { agentId, ownerId }: { readonly agentId: ReachedId<'agent'>; readonly ownerId: string },
): Promise<void> {
  const found = await runSql(tx, 'select 1 from agents where id = $1 and owner_id = $2 for no key update', [
    agentId,
    ownerId,
  ]);
  if (found === 0) throw notFound('agent', agentId);
}

export async function refuseTakenName(tx: Tx, { agentId, name }: { agentId: string; name: string }): Promise<void> {
  const taken = await runSql(tx, `select 1 from cards where agent_id = $1 and name = $2 and status <> 'closed'`, [
    agentId,
    name,
  ]);
  if (taken > 0) throw new DomainError('invalid_state', 'the agent has a card of that name; choose another name');
}

/** The first card is the primary one; when that is closed, the next one issued takes its place. */
export async function takePrimacy(tx: Tx, agentId: string): Promise<boolean> {
  await runSql(tx, `update cards set is_primary = false where agent_id = $1 and is_primary and status = 'closed'`, [
    agentId,
  ]);
  const primary = await runSql(tx, 'select 1 from cards where agent_id = $1 and is_primary', [agentId]);
  return primary === 0;
}
