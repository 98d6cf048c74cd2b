/**
 * Loaded into the processes of an installation before their own code, where disturbed histories are recorded. Its
 * workers fail one local activity of each run, as at a fault of PostgreSQL, or take time for each ordinary one.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type ActivityInterceptorsFactory, Worker, type WorkerOptions } from '@temporalio/worker';

/** These have few local activities, so the first one fails; of the others it is the second. */
const firstFails: ReadonlySet<string> = new Set(['checkout', 'simulation', 'mppPayment']);
const counts = new Map<string, number>();

const failing: ActivityInterceptorsFactory = ({ info: { isLocal, workflowExecution, workflowType = '' } }) => ({
  inbound: {
    execute: async (input, next) => {
      if (!isLocal) return next(input);
      const runId = workflowExecution?.runId ?? '';
      const count = (counts.get(runId) ?? 0) + 1;
      counts.set(runId, count);
      if (count === (firstFails.has(workflowType) ? 1 : 2)) throw new Error('a fault that the recording plants');
      return next(input);
    },
  },
});

/** So that there is time to wake the run while it waits for the outside world. */
const slow: ActivityInterceptorsFactory = ({ info: { isLocal } }) => ({
  inbound: {
    execute: async (input, next) => {
      if (!isLocal) await sleep(2_000);
      return next(input);
    },
  },
});

const disturbing = process.env.RECORD_DISTURBED === 'fell-back' ? failing : slow;
const create = Worker.create.bind(Worker);
Worker.create = (options: WorkerOptions) => {
  const { interceptors } = options;
  const activity = [...(interceptors?.activity ?? []), disturbing];
  return create({ ...options, interceptors: { ...interceptors, activity } });
};
