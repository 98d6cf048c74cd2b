/** Keeps the search attribute `BursarStage` equal to the row's state; written only when it changes. @module */
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';

const stageKey = defineSearchAttributeKey('BursarStage', SearchAttributeType.KEYWORD);

export function stageKeeper(): (stage: string) => void {
  return (stage) => {
    // As the run was started or last said: to write it again would cost the server as much as a step.
    const shown = workflowInfo().typedSearchAttributes.get(stageKey);
    // Started on a namespace without our attributes: writing one would block the run.
    if (shown === undefined || shown === stage) return;
    upsertSearchAttributes([{ key: stageKey, value: stage }]);
  };
}
