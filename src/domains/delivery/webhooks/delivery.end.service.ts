/**
 * Ends deliveries that nobody will try again because their subscription takes none: as dead letters where the plan
 * has them. What is under way is left to its result.
 * @module
 */
import { rows, type Tx } from '../../../db/tx.ts';
import { closeProcess, closeProcesses } from '../../../platform/processes.ts';
import { deliveryProcessId } from './delivery.messages.ts';
import { lostStatus, plans } from './delivery.rules.ts';

/** Returns how many ended. Their retry processes are woken one last time and end by themselves. */
export async function endPendingOf(tx: Tx, webhookIds: readonly string[], reason: string): Promise<number> {
  const ended = await rows<{ id: string; attempts_made: number }>(
    tx,
    // In two halves, each with an index of its own: what is over is never read.
    `update webhook_deliveries set ${ending} where status = 'pending' and id in (
       select id from webhook_deliveries where webhook_id = any($1::text[]) and status = 'pending' and attempts_made = 0
       union all
       select id from webhook_deliveries where webhook_id = any($1::text[]) and status = 'pending' and attempts_made > 0)
     returning id, attempts_made`,
    [webhookIds, reason, deadLetterPlans],
  );
  const retried = ended.filter((row) => row.attempts_made > 0);
  await closeProcesses(
    tx,
    retried.map(({ id }) => deliveryProcessId(id as `whd_${string}`)),
  );
  return ended.length;
}

/** One delivery whose subscription was found closed when it was due; also one whose holder died. */
export async function endDelivery(tx: Tx, id: string, reason: string): Promise<void> {
  const ended = await rows(
    tx,
    `update webhook_deliveries set ${ending}
     where id = $1 and (status = 'pending' or (status = 'delivering' and lease_until < now())) returning 1`,
    [id, reason, deadLetterPlans],
  );
  if (ended.length === 0) return;
  await closeProcess(tx, deliveryProcessId(id as `whd_${string}`), { isOwnStep: true });
}

const deadLetterPlans = plans.filter((plan) => lostStatus(plan) === 'dead');
const ending = `status = case when plan = any($3::text[]) then 'dead' else 'failed' end, lost_reason = $2,
  next_attempt_at = null, lease_until = null`;
