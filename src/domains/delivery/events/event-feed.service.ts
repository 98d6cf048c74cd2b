/**
 * The feed of events: how far it is settled, then what is behind the position. A call may wait for an event; one that
 * asks for now is refused while a position of now is not known.
 * @module
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '../../../db/database.ts';
import { DomainError } from '../../../kernel/errors.ts';
import { waitSlots } from '../../../platform/wait-slots.ts';
import { type Feed, type FeedFilter, readFeed } from './event.queries.ts';
import { type SettledPosition, settledPositionOf } from './settled-position.queries.ts';

export type FeedDeps = {
  readonly database: Database;
  /** Aborts when the process ends: every waiting call is answered. */
  readonly stopping: AbortSignal;
};

type Asked = Omit<FeedFilter, 'through'> & { readonly waitMs: number };

export function eventFeed({ database, stopping }: FeedDeps): (asked: Asked) => Promise<Feed> {
  const settledPosition = settledPositionOf(database);
  const next = sharedLook(settledPosition);
  const takeWait = waitSlots();
  const read = (filter: FeedFilter) => readFeed(database.read(), filter);

  /** Until there is an event, or the time is over. Nobody else is kept waiting: only the position is looked at. */
  async function waitForEvent(first: Feed, filter: FeedFilter, waitMs: number): Promise<Feed> {
    const over = AbortSignal.any([stopping, AbortSignal.timeout(waitMs)]);
    const isOver = new Promise<undefined>((resolve) => {
      if (over.aborted) resolve(undefined);
      else over.addEventListener('abort', () => resolve(undefined), { once: true });
    });
    let feed = first;
    while (isIdle(feed) && !over.aborted) {
      const through = await Promise.race([next(), isOver]);
      if (through !== undefined && through > feed.position) {
        feed = await read({ ...filter, after: feed.position, through });
      }
    }
    return feed;
  }

  return async ({ waitMs, ...asked }) => {
    const settled = await settledPosition();
    if (settled === undefined && asked.after === 'now') throw notYetKnown();
    const filter = { ...asked, through: settled ?? 0 };
    const feed = await read(filter);
    if (waitMs === 0 || asked.after === 'now' || !isIdle(feed)) return feed;
    const giveBack = takeWait(asked.ownerId);
    // Where too many wait, the answer comes at once, as without `waitMs`.
    return giveBack === undefined ? feed : waitForEvent(feed, filter, waitMs).finally(giveBack);
  };
}

const isIdle = ({ events, hasMore }: Feed): boolean => events.length === 0 && !hasMore;

const notYetKnown = (): DomainError =>
  new DomainError('unavailable', 'what is written now was written at every look: repeat the call', {
    retryAfterSeconds: 1,
  });

const lookEveryMs = 250;

/** One look for all that wait, however many they are. */
function sharedLook(settledPosition: SettledPosition): SettledPosition {
  let coming: Promise<number | undefined> | undefined;
  return () => {
    if (coming === undefined) {
      coming = wait(lookEveryMs)
        .then(settledPosition)
        .finally(() => {
          coming = undefined;
        });
      coming.catch(() => undefined); // Those that wait for it get the error; perhaps nobody does any more.
    }
    return coming;
  };
}
