/** Moves open intents and unpaid confirms to the card that replaces their card. @module */
import { runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import type { Cause } from '../../../platform/cause.ts';

export type CardChange = { readonly agentId: string; readonly from: string; readonly to: string };

/**
 * Also of an intent that is being paid for: should that come back, it is open again. Part of the rotation, whose event
 * tells it; the agent and both cards are locked. Returns how many.
 */
export function handIntentsOver(tx: Tx, { at }: Cause, { agentId, from, to }: CardChange): Promise<number> {
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
