/**
 * Processes a batch with a few concurrent calls and for a limited time: hanging calls continue in the background, and
 * items that were not begun are returned. Knows nothing of the calls.
 * @module
 */

export type Worked<Item> = {
  readonly done: number;
  readonly failed: number;
  /** Begun, and neither done nor failed yet. */
  readonly hanging: number;
  readonly notBegun: readonly Item[];
};

type Limits = {
  readonly lanes: number;
  /** Real time from the begin of the batch after which no call is begun, and none is waited for. */
  readonly forMs: number;
};

/** A failure of `act` is counted; a caller that needs the error catches it there. */
export async function workOff<Item>(
  items: readonly Item[],
  act: (item: Item) => Promise<void>,
  { lanes, forMs }: Limits,
): Promise<Worked<Item> & { readonly settled: Promise<unknown> }> {
  const open = [...items];
  const count = { done: 0, failed: 0, begun: 0 };

  const lane = async (): Promise<void> => {
    for (let item = open.shift(); item !== undefined; item = open.shift()) {
      count.begun += 1;
      try {
        await act(item);
        count.done += 1;
      } catch {
        count.failed += 1;
      }
    }
  };

  const settled = Promise.all(Array.from({ length: lanes }, lane));
  let timer: NodeJS.Timeout | undefined;
  const timeOver = new Promise((resolve) => {
    timer = setTimeout(resolve, forMs);
  });
  await Promise.race([settled, timeOver]);
  clearTimeout(timer);
  const notBegun = open.splice(0); // The lanes find nothing more to begin.
  return {
    done: count.done,
    failed: count.failed,
    hanging: count.begun - count.done - count.failed,
    notBegun,
    settled,
  };
}
