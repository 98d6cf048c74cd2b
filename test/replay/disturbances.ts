/**
 * What makes the journeys of a recording leave histories that undisturbed runs do not have. `fell-back`: one local
 * activity of each run fails and becomes an ordinary one (`disturbed-worker.ts`). `continued`: every run is woken again
 * and again on a server that suggests continuing as new after few events, until it has done so once.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, WorkflowHandle } from '@temporalio/client';
import { freePort } from '../../src/supervisor/ports.ts';
import { temporalBinary } from '../../src/supervisor/temporal-binary.ts';
import { startTemporal } from '../../src/supervisor/temporal-server.ts';
import type { History } from '../support/history-json.ts';
import type { Played } from '../support/record/stage.ts';

const disturbances = ['fell-back', 'continued'] as const;
export type Disturbance = (typeof disturbances)[number];
export const isDisturbance = (text: string): text is Disturbance => disturbances.some((one) => one === text);

export type Disturbed = {
  readonly how: Disturbance;
  /** Of the installation. */
  readonly env: Readonly<Record<string, string>>;
  /** While journeys are played; the answer ends it. */
  begin(client: Client): () => Promise<void>;
  stop(): Promise<void>;
};
export type Recorded = { readonly workflow: string; readonly journey: string; readonly history: History };

const suggestedAfter = 20;

export async function disturb(how: Disturbance, dir: string): Promise<Disturbed> {
  const worker = new URL('./disturbed-worker.ts', import.meta.url).href;
  const env = { NODE_OPTIONS: `--import ${worker}`, RECORD_DISTURBED: how };
  if (how === 'fell-back') return { how, env, begin: () => async () => undefined, stop: async () => undefined };
  const settings = [`limit.historyCount.suggestContinueAsNew=${suggestedAfter}`];
  const binary = await temporalBinary({ dir, say: () => undefined });
  const server = await startTemporal({ binary, dir, port: await freePort(), settings });
  return { how, env: { ...env, TEMPORAL_ADDRESS: server.address }, begin: wakeUntilContinued, stop: server.stop };
}

/** A wake is always harmless, and each one is read in the history. */
function wakeUntilContinued(client: Client): () => Promise<void> {
  let isOver = false;
  const firstRuns = new Map<string, string>();
  const wakeAll = async (): Promise<void> => {
    for await (const { workflowId, runId } of client.workflow.list({ query: `ExecutionStatus = 'Running'` })) {
      if (!firstRuns.has(workflowId)) firstRuns.set(workflowId, runId);
      // It may have ended meanwhile.
      if (firstRuns.get(workflowId) === runId)
        await client.workflow
          .getHandle(workflowId, runId)
          .signal('wake')
          .catch(() => undefined);
    }
  };
  const waking = (async () => {
    while (!isOver) {
      await wakeAll();
      await sleep(250);
    }
  })();
  return async () => {
    isOver = true;
    await waking;
  };
}

/** Of each workflow the smallest. */
export async function disturbedHistories(
  { how }: Disturbed,
  client: Client,
  played: readonly Played[],
): Promise<Recorded[]> {
  const found = new Map<string, readonly Recorded[]>();
  for (const { workflow, workflowId } of played) {
    const handle = client.workflow.getHandle(workflowId);
    await handle.result();
    const histories = await (how === 'fell-back' ? fallenBack(handle) : continued(client, handle));
    const recorded = Object.entries(histories).map(([journey, history]) => ({ workflow, journey, history }));
    const known = found.get(workflow);
    if (recorded.length > 0 && (known === undefined || eventsOf(recorded) < eventsOf(known))) {
      found.set(workflow, recorded);
    }
  }
  return [...found.values()].flat();
}

const eventsOf = (recorded: readonly Recorded[]): number =>
  recorded.reduce((sum, { history }) => sum + (history.events?.length ?? 0), 0);

async function fallenBack(handle: WorkflowHandle): Promise<Record<string, History>> {
  const history = await handle.fetchHistory();
  const isShown = JSON.stringify(history.events?.map((event) => event.upsertWorkflowSearchAttributesEventAttributes));
  return isShown.includes('BursarProblem') ? { 'fell-back': history } : {};
}

/** The run that ended by continuing as new, and the last one, which it began. */
async function continued(client: Client, handle: WorkflowHandle): Promise<Record<string, History>> {
  const last = await handle.fetchHistory();
  const started = last.events?.[0]?.workflowExecutionStartedEventAttributes;
  if (!started?.continuedExecutionRunId) return {};
  const first = await client.workflow.getHandle(handle.workflowId, started.firstExecutionRunId ?? '').fetchHistory();
  return { 'continued-as-new': first, 'after-continuing': last };
}
