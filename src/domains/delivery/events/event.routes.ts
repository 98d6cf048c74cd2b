/** Answers the feed of events: how far it is settled, then what is behind the position. No decision is made here. @module */
import type { Database } from '../../../db/database.ts';
import type { Handlers } from '../../../http/route.ts';
import type { eventsArea } from './event.contract.ts';
import { readFeed } from './event.queries.ts';
import { feedEventWire } from './event.wire.ts';
import { settledPositionOf } from './settled-position.queries.ts';

export function eventHandlers({ database }: { readonly database: Database }): Handlers<typeof eventsArea> {
  const settledPosition = settledPositionOf(database);
  return {
    listEvents: async ({ query: { after = 0, limit }, own: { ownerId, agentId } }) => {
      const through = await settledPosition();
      const filter = { ownerId, agentId, after, through, limit };
      const { events, ...feed } = await readFeed(database.read(), filter);
      return { data: events.map(feedEventWire), ...feed };
    },
  };
}
