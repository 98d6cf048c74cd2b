/**
 * The feed of events: how far it is settled, then what is behind the position. A call may wait for an event, as long as
 * its connection stands; one that asks for now is refused while a position of now is not known, and one whose position is
 * older than what is kept.
 * @module
 */
import type { Database } from '../../../db/database.ts';
import { DomainError } from '../../../kernel/errors.ts';
import { type Waiter, waitSlots } from '../../../platform/wait-slots.ts';
import { type Feed, type FeedFilter, readFeed } from './event.queries.ts';
import { sharedLook } from './event-feed.look.ts';
import { settledPositionOf } from './settled-position.queries.ts';

export type FeedDeps = {
  readonly database: Database;
  /** Aborts when the process ends: every waiting call is answered. */
  readonly stopping: AbortSignal;
};

type Asked = Omit<FeedFilter, 'through'> & { readonly waitMs: number } & Pick<Waiter, 'callerId'> & {
    /** Aborts when the caller is gone. */
    readonly gone: AbortSignal;
    /** Fails for a caller whose credential has ended while it waited. */
    readonly admitAgain: () => Promise<void>;
  };

export function eventFeed({ database, stopping }: FeedDeps): (asked: Asked) => Promise<Feed> {
  const settledPosition = settledPositionOf(database);
  const next = sharedLook(database, settledPosition);
  const takeWait = waitSlots();
  const read = async (filter: FeedFilter): Promise<Feed> => {
    const { removedThrough, ...feed } = await readFeed(database.read(), filter);
    assertComplete(filter.after, removedThrough);
    return feed;
  };

  /** Until there is an event, or the time is over. Its events are read only when its owner has some. */
  async function waitForEvent(first: Feed, filter: FeedFilter, over: AbortSignal): Promise<Feed> {
    const isOver = new Promise<undefined>((resolve) => {
      if (over.aborted) resolve(undefined);
      else over.addEventListener('abort', () => resolve(undefined), { once: true });
    });
    let feed = first;
    while (isIdle(feed) && !over.aborted) {
      const seen = await Promise.race([next({ ownerId: filter.ownerId, after: feed.position }), isOver]);
      if (seen === undefined) continue;
      feed = seen.hasEvents
        ? await read({ ...filter, after: feed.position, through: seen.through })
        : { ...feed, position: Math.max(feed.position, seen.through) };
    }
    return feed;
  }

  return async ({ waitMs, callerId, gone, admitAgain, ...asked }) => {
    const settled = await settledPosition();
    if (settled === undefined && asked.after === 'now') throw notYetKnown();
    const filter = { ...asked, through: settled ?? 0 };
    const feed = await read(filter);
    if (waitMs === 0 || asked.after === 'now' || !isIdle(feed)) return feed;
    const giveBack = takeWait({ ownerId: asked.ownerId, callerId });
    // Where too many wait, the answer comes at once, as without `waitMs`.
    if (giveBack === undefined) return feed;
    const over = AbortSignal.any([stopping, gone, AbortSignal.timeout(waitMs)]);
    const found = await waitForEvent(feed, filter, over).finally(giveBack);
    await admitAgain();
    return found;
  };
}

const isIdle = ({ events, hasMore }: Feed): boolean => events.length === 0 && !hasMore;

/**
 * Who goes on behind events that are not kept any more must not take the answer for complete. Without a position, or
 * with the first one, a reader asks for what is kept.
 */
function assertComplete(after: FeedFilter['after'], removedThrough: number): void {
  if (after === 'now' || after === 0 || after >= removedThrough) return;
  throw new DomainError(
    'gone',
    `events behind position ${after} are not kept any more; read the records that you need, then go on with after=${removedThrough}`,
  );
}

const notYetKnown = (): DomainError =>
  new DomainError('unavailable', 'what is written now was written at every look: repeat the call', {
    retryAfterSeconds: 1,
  });
