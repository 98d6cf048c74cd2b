/**
 * The workflow types that the gateway starts: id prefix, task queue and one-line summary of each. The composition root
 * gives the list (src/main/modules); this folder names no workflow.
 * @module
 */
import { inWords } from '../kernel/money.ts';
import type { WorkflowRun } from '../platform/workflow-runs.ts';
import type { TaskQueues } from './task-queues.ts';

/** The ids that a summary may name. `ofAgent` is ` of agent {id}`, or empty for a run that belongs to no agent. */
export type SummaryIds = { readonly subjectId: string; readonly ofAgent: string };

export type WorkflowRegistration<Type extends string = string> = {
  readonly type: Type;
  /** The first part of the workflow id `{idPrefix}/{subjectId}`. */
  readonly idPrefix: string;
  readonly queue: keyof TaskQueues;
  /** One line for operators, fixed at the start of the run; the run's amount is put before it. It names ids only. */
  readonly summary: (ids: SummaryIds) => string;
};

export type WorkflowRegistry = ReadonlyMap<string, WorkflowRegistration>;

export function workflowRegistry(workflows: readonly WorkflowRegistration[]): WorkflowRegistry {
  const registry = new Map(workflows.map((workflow) => [workflow.type, workflow]));
  const prefixes = new Set(workflows.map(({ idPrefix }) => idPrefix));
  if (registry.size < workflows.length) throw new Error('a workflow type is registered twice');
  if (prefixes.size < workflows.length) throw new Error('two workflows are registered with the same id prefix');
  return registry;
}

type Subject = Pick<WorkflowRun, 'workflow' | 'subjectId' | 'agentId' | 'amountCents'>;

/**
 * The run's static summary, the amount first. Temporal stores it: ids and amounts only. A type that a newer release
 * registered gets its subject's id as summary.
 */
export function summaryOf(
  registry: WorkflowRegistry,
  { workflow, subjectId, agentId, amountCents = null }: Subject,
): string {
  const ofAgent = agentId === null ? '' : ` of agent ${agentId}`;
  const summary = registry.get(workflow)?.summary({ subjectId, ofAgent }) ?? `${subjectId}${ofAgent}`;
  return amountCents === null ? summary : `${inWords(amountCents)} EUR. ${summary}`;
}

/** The name of the queue that the run's workflow type is registered for. */
export const queueOf = (registry: WorkflowRegistry, queues: TaskQueues, workflow: string): string =>
  queues[registry.get(workflow)?.queue ?? 'main'];
