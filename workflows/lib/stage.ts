/** Keeps the search attribute `BursarStage` equal to the row's state; written only when it changes. @module */
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { upsertSearchAttributes } from '@temporalio/workflow';

const stageKey = defineSearchAttributeKey('BursarStage', SearchAttributeType.KEYWORD);

export function stageKeeper(): (stage: string) => void {
  let last: string | undefined;
  return (stage) => {
    if (stage === last) return;
    last = stage;
    upsertSearchAttributes([{ key: stageKey, value: stage }]);
  };
}
