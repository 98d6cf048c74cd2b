/** Answers the feed of events. No decision is made here. @module */
import type { Handlers } from '../../../http/route.ts';
import type { eventsArea } from './event.contract.ts';
import { feedEventWire } from './event.wire.ts';
import { eventFeed, type FeedDeps } from './event-feed.service.ts';

export function eventHandlers(deps: FeedDeps): Handlers<typeof eventsArea> {
  const readOn = eventFeed(deps);
  return {
    listEvents: async ({ query: { after = 0, limit, waitMs = 0 }, own: { ownerId, agentId } }) => {
      const { events, ...feed } = await readOn({ ownerId, agentId, after, limit, waitMs });
      return { data: events.map(feedEventWire), ...feed };
    },
  };
}
