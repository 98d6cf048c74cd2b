/** The areas of oversight. @module */
import { accessEventsArea } from '../../domains/oversight/access-events/access-event.contract.ts';
import { findAccessEvent } from '../../domains/oversight/access-events/access-event.queries.ts';
import { accessEventHandlers } from '../../domains/oversight/access-events/access-event.routes.ts';
import { requestCardAccess } from '../../usecases/oversight/request-card-access.ts';
import { defineModule, servedArea } from './module.ts';

export const oversight = defineModule('oversight', [
  servedArea('access-events', {
    contract: accessEventsArea,
    position: 350,
    lookups: ({ database }) => ({ accessEvent: (id) => findAccessEvent(database.read(), id) }),
    handlers: ({ database, risk }) => accessEventHandlers({ database, request: requestCardAccess({ database, risk }) }),
    tables: [],
  }),
]);
