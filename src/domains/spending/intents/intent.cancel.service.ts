/**
 * Cancels every open intent of an agent without a payment in progress. Part of closing an agent; the number of
 * statements does not depend on the number of intents.
 * @module
 */
import * as z from 'zod';
import { rowsOf } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { recordChanges } from '../../../events/record.ts';
import type { Cause } from '../../../platform/cause.ts';
import { closeWorkflowRuns } from '../../../platform/workflow-runs.ts';
import { IntentRow } from './intent.entity.ts';
import { intentWorkflowId } from './intent.messages.ts';
import { changeOf } from './intent.service.ts';
import { missOpenWindows } from './windows/window.end.service.ts';

/** Returns their ids. */
export async function cancelIntentsOf(tx: Tx, cause: Cause, agentId: string): Promise<string[]> {
  await tx.flush();
  const found = await rowsOf(
    tx,
    z.record(z.string(), z.unknown()),
    `with locked as (
       select id, status from intents where agent_id = $1 and status in ('pending_approval', 'approved')
         and matched_transaction_id is null and transfer_id is null and open_payment_id is null
         and not exists (select 1 from transitions t where t.noun = 'intent' and t.row_id = intents.id and t.cause_id = $3)
       order by id for update),
     moved as (
       update intents i set status = 'cancelled', updated_at = $2 from locked
       where i.id = locked.id returning i.*, locked.status as was),
     seen as (insert into transitions select 'intent', id, $3, was, 'cancelled', $2 from moved)
     select * from moved order by id`,
    [agentId, cause.at, cause.causeId],
  );
  const cancelled = found.map((row) => tx.map(IntentRow, row));
  const changes = cancelled.map((row) => changeOf(row, 'intent.cancelled', { kind: 'cancel' }));
  await recordChanges(tx, cause, [...changes, ...(await missOpenWindows(tx, cancelled, cause))]);
  await closeWorkflowRuns(
    tx,
    cancelled.map(({ id }) => intentWorkflowId(id)),
  );
  return cancelled.map(({ id }) => id);
}
