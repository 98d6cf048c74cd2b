/**
 * Names the workflow run behind a failing workflow task. The SDK's core logs the id of the run only, and an operator
 * looks for a workflow id and type. Each run is named once in ten minutes, because a blocked run fails again and again.
 * @module
 */
import type { Logger } from '../platform/log.ts';

export type RunNamed = { readonly workflowId: string; readonly workflowType: string };

/** `find` asks the server; it may not know the run yet, or be away. */
export function failingTaskReporter(find: (runId: string) => Promise<RunNamed | undefined>, log: Logger) {
  const namedUntil = new Map<string, number>();
  const report = async (runId: string): Promise<void> => {
    // The line without the workflow's name is still worth writing.
    const run = await find(runId).catch(() => undefined);
    log.warn({ runId, ...run }, 'a workflow task fails: this run cannot continue (temporal-config/README.md)');
  };
  return (runId: string): void => {
    const now = Date.now();
    if ((namedUntil.get(runId) ?? 0) > now) return;
    if (namedUntil.size > mostRemembered) namedUntil.clear();
    namedUntil.set(runId, now + repeatMs);
    void report(runId);
  };
}

const repeatMs = 600_000;
const mostRemembered = 1_000;
