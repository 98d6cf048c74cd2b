/** What belongs to no domain: health, the sandbox's business clock, and the platform's own tables. @module */
import { healthArea, healthHandlers } from '../../http/health.ts';
import { healthChecks } from '../../http/health-checks.ts';
import { sandboxClockArea, sandboxClockHandlers } from '../../http/sandbox-clock.ts';
import { createSandboxClock } from '../../relay/sandbox-clock.ts';
import { createRelay } from '../../relay/workflow-runs.ts';
import { version } from '../version.ts';
import { defineModule, internalArea, servedArea } from './module.ts';

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
  internalArea('records', { tables: ['audit', 'events', 'transitions', 'idempotency'] }),
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
  internalArea('workflow-runs', { tables: ['workflow_runs', 'relay_turns'] }),
  internalArea('deployment', { tables: ['deployment_facts', 'sql_functions'] }),
]);
