/** The workflow runs that rows need. Persistence only. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../db/tables.ts';

export const WorkflowRunSchema = defineEntity({
  name: 'WorkflowRun',
  tableName: 'workflow_runs',
  properties: {
    id: p.text().primary(),
    workflow: p.text(),
    subjectId: p.text(),
    ownerId: p.text(),
    agentId: p.text().nullable(),
    stage: p.text(),
    amountCents: p.bigint('number').nullable(),
    isOpen: p.boolean().defaultRaw('default'),
    dueAt: p.datetime().nullable(),
    startedEpoch: p.text().nullable(),
    wantedWake: p.boolean().defaultRaw('default'),
    wakingUntil: p.datetime().nullable(),
    retryAt: p.datetime().nullable(),
    createdAt: p.datetime(),
    rescuedAt: p.datetime().nullable(),
    checkedAt: p.datetime().defaultRaw('default'),
  },
});

declare module '../db/tables.ts' {
  interface Tables {
    workflow_runs: TableOf<typeof WorkflowRunSchema>;
  }
}
