/** Answers the feed of events: how far it is settled, then what is behind the position. A call may wait for an event. @module */
import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '../../../db/database.ts';
import type { Handlers } from '../../../http/route.ts';
import { DomainError } from '../../../kernel/errors.ts';
import { waitSlots } from '../../../platform/wait-slots.ts';
import type { eventsArea } from './event.contract.ts';
import { type Feed, type FeedFilter, readFeed } from './event.queries.ts';
import { feedEventWire } from './event.wire.ts';
import { type SettledPosition, settledPositionOf } from './settled-position.queries.ts';

type Deps = {
  readonly database: Database;
  /** Aborts when the process ends: every waiting call is answered. */
  readonly stopping: AbortSignal;
};

export function eventHandlers({ database, stopping }: Deps): Handlers<typeof eventsArea> {
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

  return {
    listEvents: async ({ query: { after = 0, limit, waitMs = 0 }, own: { ownerId, agentId } }) => {
      const settled = await settledPosition();
      if (settled === undefined && after === 'now') throw notYetKnown();
      const filter = { ownerId, agentId, after, through: settled ?? 0, limit };
      let feed = await read(filter);
      // Where too many wait, the answer comes at once, as without `waitMs`.
      const giveBack = waitMs > 0 && after !== 'now' && isIdle(feed) ? takeWait(ownerId) : undefined;
      if (giveBack !== undefined) feed = await waitForEvent(feed, filter, waitMs).finally(giveBack);
      const { events, ...rest } = feed;
      return { data: events.map(feedEventWire), ...rest };
    },
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
