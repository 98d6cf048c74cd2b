/** Waits until work has come to a lock of PostgreSQL that the test holds. @module */
import { eventually, type World } from './world.ts';

/** Resolves when `work` is over, or something in the world's database waits for a lock. */
export async function overOrWaiting(world: World, work: Promise<unknown>): Promise<void> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  work.then(over, over);
  await eventually(
    () => world.sql(`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`),
    (waiting) => isOver || waiting.length > 0,
  );
}
