/** Answers the feed of events. No decision is made here. @module */
import { callerIdOf } from '../../../http/caller.ts';
import type { Handlers } from '../../../http/route.ts';
import type { eventsArea } from './event.contract.ts';
import { feedEventWire } from './event.wire.ts';
import { eventFeed, type FeedDeps } from './event-feed.service.ts';

export function eventHandlers(deps: FeedDeps): Handlers<typeof eventsArea> {
  const readOn = eventFeed(deps);
  return {
    listEvents: async ({ query: { after = 0, limit, waitMs = 0 }, own: { ownerId, agentId } }, call) => {
      const { admitAgain } = call;
      const asked = { ownerId, agentId, callerId: callerIdOf(call.caller), after, limit, waitMs };
      const { events, ...feed } = await readOn({ ...asked, gone: call.gone(), admitAgain });
      return { data: events.map(feedEventWire), ...feed };
    },
  };
}
