/** The areas of oversight. @module */
import { accessEventsArea } from '../../domains/oversight/access-events/access-event.contract.ts';
import { findAccessEvent } from '../../domains/oversight/access-events/access-event.queries.ts';
import { accessEventHandlers } from '../../domains/oversight/access-events/access-event.routes.ts';
import { traceArea } from '../../domains/oversight/trace/trace.contract.ts';
import { traceHandlers } from '../../domains/oversight/trace/trace.routes.ts';
import { readTrace } from '../../usecases/oversight/read-trace.ts';
import { requestCardAccess } from '../../usecases/oversight/request-card-access.ts';
import type { Config } from '../config.ts';
import { defineModule, servedArea } from './module.ts';

export const oversight = defineModule('oversight', [
  servedArea('access-events', {
    contract: accessEventsArea,
    position: 350,
    lookups: ({ database }) => ({ accessEvent: (id) => findAccessEvent(database.read(), id) }),
    handlers: ({ database, risk }) => accessEventHandlers({ database, request: requestCardAccess({ database, risk }) }),
    tables: [],
  }),
  servedArea('trace', {
    contract: traceArea,
    position: 355,
    handlers: ({ database, lookupsIn, runPrefixes, links, config }) =>
      traceHandlers({ read: readTrace({ database, lookupsIn, runPrefixes, links, runUrl: runUrlOf(config) }) }),
    tables: [],
  }),
]);

/** The page of a run in Temporal's Web UI. */
const runUrlOf =
  ({ TEMPORAL_UI_URL: base, TEMPORAL_NAMESPACE: namespace }: Config) =>
  (workflowId: string): string | null =>
    base === undefined
      ? null
      : `${base.replace(/\/$/, '')}/namespaces/${encodeURIComponent(namespace)}/workflows/${encodeURIComponent(workflowId)}`;
