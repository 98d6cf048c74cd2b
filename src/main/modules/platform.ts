/** Areas and tables without a domain: health, the sandbox's business clock, and the platform's tables. @module */
import { purgeAuditAddresses } from '../../domains/identity/credentials/access-audit.service.ts';
import { AccessEventRow } from '../../events/access.entity.ts';
import { healthArea, healthHandlers } from '../../http/health.ts';
import { healthChecks } from '../../http/health-checks.ts';
import { createIdempotency } from '../../http/idempotency.ts';
import { sandboxClockArea, sandboxClockHandlers } from '../../http/sandbox-clock.ts';
import { minute } from '../../kernel/instant.ts';
import { startLoop } from '../../platform/loop.ts';
import { startRelayLoop } from '../../relay/relay-loop.ts';
import { createSandboxClock } from '../../relay/sandbox-clock.ts';
import { createRelay } from '../../relay/workflow-runs.ts';
import { version } from '../version.ts';
import { defineModule, internalArea, type LoopRegistration, servedArea } from './module.ts';

/** Deletes stored answers after a day, their secrets after ten minutes, and client addresses after 90 days. */
const purge: LoopRegistration = {
  group: 'purge',
  start: ({ database, clock, vault, log }) =>
    startLoop({
      name: 'purge',
      everyMs: minute,
      log,
      pass: async () => {
        await createIdempotency(database, vault).purge();
        await purgeAuditAddresses(database, await clock.now());
      },
    }),
};

export const platform = defineModule('platform', [
  servedArea('health', {
    contract: healthArea,
    position: 10,
    handlers: (api) => healthHandlers({ version, environment: api.config.BURSAR_MODE, check: healthChecks(api) }),
    tables: ['heartbeats'],
  }),
  servedArea('sandbox-clock', {
    contract: sandboxClockArea,
    position: 990,
    handlers: (api) => sandboxClockHandlers(createSandboxClock({ ...api, relay: createRelay(api) })),
    tables: ['clock', 'clock_wakes'],
  }),
  internalArea('records', {
    tables: ['audit', 'events', 'access_events', 'transitions', 'idempotency'],
    entities: [AccessEventRow],
    loops: [purge],
  }),
  internalArea('record-chains', {
    tables: [
      'unsealed_records',
      'record_seals',
      'record_salts',
      'record_heads',
      'record_checkpoints',
      'record_verified',
    ],
  }),
  internalArea('workflow-runs', {
    tables: ['workflow_runs', 'relay_turns'],
    loops: [{ group: 'relay', start: startRelayLoop }],
  }),
  internalArea('deployment', { tables: ['deployment_facts', 'sql_functions'] }),
]);
