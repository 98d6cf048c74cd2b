/**
 * The feed of events as an async iterator: reads on behind a position, and waits at the service while there is nothing
 * new. It ends when its consumer leaves the loop, or by a signal, whose reason is thrown.
 * @module
 */
import { sleep } from './send.ts';

export type FeedPage<Event> = {
  readonly data: readonly Event[];
  readonly position: number;
  readonly hasMore: boolean;
};

type Following<Event> = {
  /** `after`: a position, or `now`. */
  readonly read: (after: string) => Promise<FeedPage<Event>>;
  readonly signal?: AbortSignal | undefined;
};

export async function* eventsAfter<Event>(
  from: number | 'now',
  { read, signal }: Following<Event>,
): AsyncGenerator<Event, void, undefined> {
  for (let after = String(from); ; ) {
    signal?.throwIfAborted();
    const askedAt = performance.now();
    const page = await read(after);
    yield* page.data;
    // The service may answer at once without an event, where too many wait.
    const isIdle = page.data.length === 0 && !page.hasMore && after !== 'now';
    after = String(page.position);
    if (isIdle && performance.now() - askedAt < pauseMs) await sleep(pauseMs, signal);
  }
}

const pauseMs = 1_000;
