/**
 * The lists of runs that operators open first, as queries on search attributes. `npm start` prints their addresses, and
 * temporal-config/README.md has them as commands; a test runs each against a server that has such a run.
 * @module
 */

export type RunList = {
  /** What the runs of the list have in common, as it is printed. */
  readonly name: string;
  readonly query: string;
};

const running = `ExecutionStatus = 'Running'`;

export const runLists = [
  {
    name: 'needs a decision',
    query: `(BursarStage = 'pending_approval' OR (WorkflowType = 'cardRequest' AND BursarStage = 'pending')) AND ${running}`,
  },
  { name: 'retrying', query: `(BursarProblem = 'retrying' OR BursarStage IN ('retrying', 'probing')) AND ${running}` },
  { name: 'stuck', query: `BursarProblem = 'stuck' AND ${running}` },
  { name: 'dead letters', query: `BursarStage = 'dead_letters'` },
] as const satisfies readonly RunList[];

/** The list in Temporal's Web UI, whose address is `base`. */
export const runListUrl = (base: string, namespace: string, query: string): string =>
  `${base.replace(/\/$/, '')}/namespaces/${encodeURIComponent(namespace)}/workflows?query=${encodeURIComponent(query)}`;
