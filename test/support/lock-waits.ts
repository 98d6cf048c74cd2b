/** Waits until work has come to a lock of PostgreSQL that the test holds. @module */
import { eventually } from './world.ts';

/** A world, or something else that asks a database. Not in a transaction: there, who waits is read only once. */
type Asked = { sql(text: string, params: unknown[]): Promise<readonly Readonly<Record<string, unknown>>[]> };

type Wanted = {
  /** How many wait at least. */
  readonly count?: number;
  /** What their statements contain, in upper or lower case; as in LIKE, `%` stands for any text. */
  readonly statement?: string;
};

async function waiters({ sql }: Asked, statement = ''): Promise<number[]> {
  const rows = await sql(
    `select pid from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock' and query ilike $1`,
    [`%${statement}%`],
  );
  return rows.map(({ pid }) => Number(pid));
}

/** Resolves when so many connections to the world's database wait for a lock; answers with their process ids. */
export const someoneWaits = (world: Asked, { count = 1, statement }: Wanted = {}): Promise<number[]> =>
  eventually(
    () => waiters(world, statement),
    (waiting) => waiting.length >= count,
  );

/** Resolves when `work` is over, or something in the world's database waits for a lock. */
export async function overOrWaiting(world: Asked, work: Promise<unknown>): Promise<void> {
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
