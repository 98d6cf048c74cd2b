/**
 * Collects single calls into batches: calls that arrive while a batch is worked on go into the next batch. The
 * first call does not wait, so a single call is as fast as without batches. Knows nothing of the work.
 * @module
 */

type Limits = {
  /** In one batch. */
  readonly atOnce: number;
  /** What comes when as many wait is refused. */
  readonly mostWaiting: number;
};

type Queued<Item> = {
  readonly item: Item;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
};

/** Each answer is that of its batch: done, or failed with the others. */
export function inBatches<Item>(
  work: (items: readonly Item[]) => Promise<void>,
  { atOnce, mostWaiting }: Limits,
): (item: Item) => Promise<void> {
  let waiting: Queued<Item>[] = [];
  let isWorking = false;

  const workOff = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, atOnce);
      waiting = waiting.slice(atOnce);
      try {
        await work(batch.map(({ item }) => item));
        for (const { done } of batch) done();
      } catch (error) {
        for (const { failed } of batch) failed(error);
      }
    }
    isWorking = false;
  };

  return (item) =>
    new Promise<void>((done, failed) => {
      if (waiting.length >= mostWaiting) return failed(new Error(`${waiting.length} are waiting already`));
      waiting.push({ item, done, failed });
      if (isWorking) return;
      isWorking = true;
      void workOff();
    });
}
