/**
 * Ends a run and starts the next one with the same id, after every handler has finished. Each wait of a workflow calls it
 * for a history that has become long. A handler that waits has to return when `isLeaving` is true.
 * @module
 */
import { allHandlersFinished, condition, continueAsNew, workflowInfo } from '@temporalio/workflow';
import { runState } from './run-state.ts';

export const isHistoryLong = (): boolean => workflowInfo().continueAsNewSuggested;

export const isLeaving = (): boolean => runState().isLeaving;

/** Does not return when the history is long. A run whose history is short goes on at once. */
export async function continueIfHistoryIsLong(id: string): Promise<void> {
  if (isHistoryLong()) await continueInNextRun(id);
}

/** Does not return. */
export async function continueInNextRun(id: string): Promise<void> {
  runState().isLeaving = true;
  await condition(allHandlersFinished);
  await continueAsNew<(input: { readonly id: string }) => Promise<unknown>>({ id });
}
