/** Keeps the search attribute `BursarStage` equal to the row's state; written only when it changes. @module */
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';

const stageKey = defineSearchAttributeKey('BursarStage', SearchAttributeType.KEYWORD);

export function stageKeeper(): (stage: string) => void {
  let last: string | undefined;
  return (stage) => {
    if (stage === last) return;
    last = stage;
    // Started on a namespace without our attributes: writing one would block the run.
    if (workflowInfo().typedSearchAttributes.get(stageKey) === undefined) return;
    upsertSearchAttributes([{ key: stageKey, value: stage }]);
  };
}
