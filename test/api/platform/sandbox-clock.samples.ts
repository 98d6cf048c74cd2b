/** Sample calls of the sandbox's clock, for the suites that cover all operations. @module */
import { sandboxClockArea } from '../../../src/http/sandbox-clock.ts';
import { samplesOf } from '../../support/samples.ts';

export const samples = samplesOf(sandboxClockArea, {
  ids: {},
  calls: () => ({
    getSandboxClock: () => ({ as: 'dashboard' }),
    advanceSandboxClock: () => ({ as: 'dashboard', body: { ms: 1 } }),
  }),
  actsTwice: { advanceSandboxClock: 'the dashboard has no idempotency keys, and each call moves the clock' },
});
