/** Deletes the answers of merchants that are kept no longer, in batches, so that no transaction is long. @module */
import type { Database } from '../../../db/database.ts';
import { runSql } from '../../../db/statement.ts';

const batch = 100;

/** `now` is real time. */
export async function purgeMppBodies(database: Database, now: Date): Promise<void> {
  for (;;) {
    const gone = await runSql(
      database.read(),
      `delete from mpp_bodies where payment_id in (
         select payment_id from mpp_bodies where kept_until <= $1 order by kept_until limit ${batch} for update skip locked)`,
      [now],
    );
    if (gone < batch) return;
  }
}
