/**
 * Shows operators a run whose step does not get on: the search attribute `BursarProblem` is `retrying` while a step is
 * repeated after a fault, `stuck` when that has taken ten minutes, and `none` otherwise. Written only when it changes, so
 * a run without a fault writes nothing.
 * @module
 */
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { CancellationScope, sleep, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import { minute } from '../../src/kernel/instant.ts';
import { type RepeatedStep, runState } from './run-state.ts';

const problemKey = defineSearchAttributeKey('BursarProblem', SearchAttributeType.KEYWORD);

/** `work` is the repetition; its end ends the problem. */
export async function whileRepeated<T>(work: () => Promise<T>, stuckAfterMs = 10 * minute): Promise<T> {
  // In a cancelled scope nothing is scheduled any more, so nothing is repeated.
  if (CancellationScope.current().consideredCancelled || !showsProblems()) return work();
  const { repeatedSteps } = runState();
  const step: RepeatedStep = { isStuck: false };
  repeatedSteps.add(step);
  show();
  const watch = new CancellationScope();
  const isLong = () => {
    step.isStuck = true;
    show();
  };
  // Its only failure is its cancellation: the repetition has ended before.
  watch.run(() => sleep(stuckAfterMs, { summary: 'until this step counts as stuck' })).then(isLong, () => undefined);
  try {
    return await work();
  } finally {
    watch.cancel();
    repeatedSteps.delete(step);
    show();
  }
}

/**
 * Whether the run was started with the attribute: not by an older version, nor on a namespace without it. The event that
 * started the run says so, so each replay finds the same. `patched()` does not: after a local activity that took longer
 * than a workflow task, a replay asks it one task before its marker.
 */
const showsProblems = (): boolean => workflowInfo().typedSearchAttributes.get(problemKey) !== undefined;

function show(): void {
  if (workflowInfo().typedSearchAttributes.get(problemKey) === present()) return;
  upsertSearchAttributes([{ key: problemKey, value: present() }]);
}

function present(): 'none' | 'retrying' | 'stuck' {
  const steps = [...runState().repeatedSteps];
  if (steps.length === 0) return 'none';
  return steps.some(({ isStuck }) => isStuck) ? 'stuck' : 'retrying';
}
