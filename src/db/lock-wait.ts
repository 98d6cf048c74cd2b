/** How long a transaction waits for a lock. @module */
import { runSql } from './statement.ts';
import type { Tx } from './tx.ts';

/** From here to the end of the transaction each statement waits so long for a lock, and fails then (`isLockTimeout`). */
export async function waitForLocks(tx: Tx, mostMs: number): Promise<void> {
  await runSql(tx, `select set_config('lock_timeout', $1, true)`, [`${mostMs}ms`]);
}
