/** Waits until work has come to a lock of PostgreSQL that the test holds. @module */
import { eventually, type World } from './world.ts';

const waiters = (world: World) =>
  world.sql(`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`);

/** Resolves when something in the world's database waits for a lock. */
export async function someoneWaits(world: World): Promise<void> {
  await eventually(
    () => waiters(world),
    (waiting) => waiting.length > 0,
  );
}

/** Resolves when `work` is over, or something in the world's database waits for a lock. */
export async function overOrWaiting(world: World, work: Promise<unknown>): Promise<void> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  work.then(over, over);
  await eventually(
    () => waiters(world),
    (waiting) => isOver || waiting.length > 0,
  );
}
