/** Reads and advances the sandbox's business clock, and wakes the workflow runs that are due after it. @module */
import type { Database } from '../db/database.ts';
import type { SandboxClockDeps } from '../http/sandbox-clock.ts';
import { advanceClock, type Clock } from '../platform/clock.ts';
import type { Temporal } from '../temporal/connection.ts';
import { requestClockWakes } from './clock-wakes.ts';
import { type Relay, wakeDue } from './workflow-runs.ts';

type Deps = {
  readonly database: Database;
  readonly clock: Clock;
  readonly temporal: Temporal;
  readonly relay: Relay;
};

export const createSandboxClock = ({ database, clock, temporal, relay }: Deps): SandboxClockDeps => ({
  read: async () => {
    const offsetMs = await clock.offsetMs();
    return { offsetMs, now: new Date(Date.now() + offsetMs) };
  },
  advance: async (ms, cause) => {
    const moved = await database.write(async (tx) => {
      const offsetMs = await advanceClock(tx, ms, cause);
      const now = new Date(Date.now() + offsetMs);
      await requestClockWakes(tx, now);
      return { now, offsetMs };
    });
    return { ...moved, ...(await wakeDue({ database, temporal, relay })) };
  },
});
