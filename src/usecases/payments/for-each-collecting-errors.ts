/**
 * Processes each item of a list although others fail; the caller throws all errors at the end. When the database is away
 * every item would fail, each after its wait for a connection: then nothing more is tried.
 * @module
 */
import { isDatabaseAway } from '../../db/database.ts';

export async function forEachCollectingErrors<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<unknown[]> {
  const failures: unknown[] = [];
  for (const item of items) {
    try {
      await work(item);
    } catch (error) {
      if (isDatabaseAway(error)) throw error;
      failures.push(error); // Thrown by the caller once the others are done.
    }
  }
  return failures;
}

export function throwAll(failures: readonly unknown[], what: string): void {
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} ${what} failed`);
}
