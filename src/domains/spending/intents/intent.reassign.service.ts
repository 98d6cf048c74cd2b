/** Moves the open intents of a card to the card that replaces it. @module */
import { runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import type { Cause } from '../../../platform/cause.ts';

export type CardChange = { readonly agentId: string; readonly from: string; readonly to: string };

/**
 * Also moves an intent with a payment in progress: if that payment is reversed, the intent is open again. Runs in the
 * rotation's transaction, which locks the agent and both cards and records the event. Returns the number of intents.
 */
export function reassignIntents(tx: Tx, { at }: Cause, { agentId, from, to }: CardChange): Promise<number> {
  return runSql(
    tx,
    `with locked as (
       select id from intents where agent_id = $1 and card_id = $2 and status in ('pending_approval', 'approved')
       order by id for update)
     update intents i set card_id = $3, updated_at = $4 from locked where i.id = locked.id
     returning i.id`,
    [agentId, from, to, at],
  );
}
