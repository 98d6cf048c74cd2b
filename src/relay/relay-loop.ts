/**
 * The background loop that makes Temporal agree with the table of workflow runs. It reads the table every second, and
 * at once after a pass that had work: an indexed query costs less than a notification, for which all commits that
 * change a row would wait for one lock.
 * @module
 */
import { second } from '../kernel/instant.ts';
import { beat } from '../platform/heartbeats.ts';
import { type Loop, startLoop } from '../platform/loop.ts';
import { type EndedRunsOptions, startEndedRunsLoop } from './ended-runs.ts';
import { createRelay, type RelayDeps } from './workflow-runs.ts';

export function startRelayLoop(deps: RelayDeps & EndedRunsOptions): Loop {
  const relay = createRelay(deps);
  const endedRuns = startEndedRunsLoop(deps);
  const loop = startLoop({
    name: 'relay',
    everyMs: second,
    log: deps.log,
    pass: async () => {
      const { hadWork } = await relay.pass();
      await beat(deps.database, 'relay');
      if (hadWork) loop.wake();
    },
  });
  return {
    ...loop,
    stop: async () => {
      await Promise.all([loop.stop(), endedRuns.stop()]);
      await relay.settled();
    },
  };
}
