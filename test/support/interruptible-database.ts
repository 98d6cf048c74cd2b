/** A database that a test takes away, for one part of a process only. @module */
import type { Database } from '../../src/db/database.ts';

const gone = (): Error => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

/** The same database, out of reach while `refuse(true)`. `before` is called with the number of each call. */
export function interruptible(real: Database, before: (call: number) => void = () => undefined) {
  let isAway = false;
  let calls = 0;
  const assertThere = (): void => {
    before(++calls);
    if (isAway) throw gone();
  };
  const database: Database = {
    read: () => {
      assertThere();
      return real.read();
    },
    snapshot: async (work) => {
      assertThere();
      return real.snapshot(work);
    },
    write: async (work) => {
      assertThere();
      return real.write(work);
    },
  };
  return {
    database,
    refuse: (away: boolean): void => {
      isAway = away;
    },
  };
}
