/** Answers the access event operations: ask the use case or the query, shape the answer. No decision is made here. @module */
import type { Database } from '../../../db/database.ts';
import type { AccessEventRow } from '../../../events/access.entity.ts';
import type { Call } from '../../../http/caller.ts';
import type { Records } from '../../../http/reaches.ts';
import type { Handlers } from '../../../http/route.ts';
import { pageOfQuery } from '../../../http/schemas.ts';
import { mapPage } from '../../../kernel/page.ts';
import type { AccessRequest, accessEventsArea } from './access-event.contract.ts';
import { listAccessEvents } from './access-event.queries.ts';
import { accessEventWire } from './access-event.wire.ts';

export type AccessEventDeps = {
  readonly database: Database;
  readonly request: (card: Records['card'], body: AccessRequest, call: Call) => Promise<Readonly<AccessEventRow>>;
};

export const accessEventHandlers = ({ database, request }: AccessEventDeps): Handlers<typeof accessEventsArea> => ({
  requestCardAccess: async ({ records: { card }, body }, call) => accessEventWire(await request(card, body, call)),

  listAccessEvents: async ({ query: { cursor, limit, ...filter }, own }) => {
    const wanted = { ...filter, ownerId: own.ownerId, agentId: own.agentId ?? filter.agentId };
    return mapPage(await listAccessEvents(database.read(), wanted, pageOfQuery({ cursor, limit })), accessEventWire);
  },

  getAccessEvent: async ({ records: { accessEvent } }) => accessEventWire(accessEvent),
});
