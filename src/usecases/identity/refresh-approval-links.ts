/**
 * Updates the approver's links in current details after the public address changed: every open run whose record has a
 * link is woken and writes its details again.
 * @module
 */
import * as z from 'zod';
import type { Database } from '../../db/database.ts';
import { rowsOf, runSql } from '../../db/statement.ts';
import { wakeWorkflowRuns } from '../../platform/workflow-runs.ts';

/** Returns how many runs are woken. Two workers with different addresses each have their turn. */
export const refreshApprovalLinks =
  ({ database }: { readonly database: Database }) =>
  (publicUrl: string): Promise<number> =>
    database.write(async (tx) => {
      const changed = await runSql(
        tx,
        `insert into deployment_facts as f (name, value) values ('public_url', $1)
       on conflict (name) do update set value = excluded.value where f.value <> excluded.value returning 1`,
        [publicUrl],
      );
      if (changed === 0) return 0;
      const open = await rowsOf(
        tx,
        z.object({ id: z.string() }),
        `select r.id from workflow_runs r join approval_links l on l.subject_id = r.subject_id where r.is_open order by r.id`,
      );
      await wakeWorkflowRuns(
        tx,
        open.map(({ id }) => id),
      );
      return open.length;
    });
