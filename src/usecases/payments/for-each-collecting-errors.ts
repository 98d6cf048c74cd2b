/** Processes each item of a list although others fail, and throws all errors at the end. @module */
export async function forEachCollectingErrors<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<unknown[]> {
  const failures: unknown[] = [];
  for (const item of items) {
    try {
      await work(item);
    } catch (error) {
      failures.push(error); // Thrown by the caller once the others are done.
    }
  }
  return failures;
}

export function throwAll(failures: readonly unknown[], what: string): void {
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} ${what} failed`);
}
