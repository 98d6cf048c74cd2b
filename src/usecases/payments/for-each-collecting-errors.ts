/** Works through a list so that one failure stops no other; what failed is thrown at the end, all of it. @module */
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
