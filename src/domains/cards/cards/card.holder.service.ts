/** Rules over all cards of one agent: the cardholder, unique names, and exactly one primary card. @module */
import { runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { DomainError } from '../../../kernel/errors.ts';
import { findCard } from './card.queries.ts';

/** Holds the card's agent, and by it the names and the primacy among its cards. Taken before the cards themselves. */
export async function lockAgentOf(tx: Tx, cardId: string): Promise<void> {
  const card = await findCard(tx, cardId);
  if (card !== null) await runSql(tx, 'select 1 from agents where id = $1 for no key update', [card.agentId]);
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
