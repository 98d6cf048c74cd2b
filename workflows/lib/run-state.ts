/**
 * What one run keeps outside of its workflow function. The modules of the bundle are loaded once for all runs of a
 * worker (`src/temporal/bundle.ts`), so no module has state of a run; the global object is each run's own.
 * @module
 */
import { createQueue, type Queue } from './queue.ts';

/** A step of the body and one of a handler may be repeated at the same time. */
export type RepeatedStep = { isStuck: boolean };

type RunState = {
  /** The run continues as new: a handler that waits has to return. */
  isLeaving: boolean;
  /**
   * Two local activities in flight, one of the body and one of a handler, get their numbers in the order of the first
   * run's answers, which a replay does not repeat. Ordinary activities do not queue.
   */
  readonly oneLocalActivityAtATime: Queue;
  /** Steps that are repeated after a fault. */
  readonly repeatedSteps: Set<RepeatedStep>;
};

const key = Symbol.for('bursar.run-state');
type OwnGlobal = { [key]?: RunState };

export function runState(): RunState {
  const own = globalThis as OwnGlobal;
  own[key] ??= { isLeaving: false, oneLocalActivityAtATime: createQueue(), repeatedSteps: new Set() };
  return own[key];
}
