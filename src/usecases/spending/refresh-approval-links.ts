/**
 * Current details of a waiting intent hold the link to its approver's page as it was when they were written. When the
 * public address has changed since the last start, every run that shows a link is woken and writes it anew.
 * @module
 */
import type { Database } from '../../db/database.ts';
import { rows } from '../../db/tx.ts';
import { intentWorkflowId } from '../../domains/spending/intents/index.ts';
import { wakeWorkflowRuns } from '../../platform/workflow-runs.ts';

/** Returns how many runs are woken. Two workers that are given different addresses each have theirs in turn. */
export const refreshApprovalLinks =
  ({ database }: { readonly database: Database }) =>
  (publicUrl: string): Promise<number> =>
    database.write(async (tx) => {
      const changed = await rows(
        tx,
        `insert into deployment_facts as f (name, value) values ('public_url', $1)
       on conflict (name) do update set value = excluded.value where f.value <> excluded.value returning 1`,
        [publicUrl],
      );
      if (changed.length === 0) return 0;
      const waiting = await rows<{ id: `int_${string}` }>(
        tx,
        `select i.id from intents i join approval_links l on l.intent_id = i.id where i.status = 'pending_approval' order by i.id`,
        [],
      );
      await wakeWorkflowRuns(
        tx,
        waiting.map(({ id }) => intentWorkflowId(id)),
      );
      return waiting.length;
    });
