/**
 * Goal: nothing that is sent to a workflow run blocks it. Method: every signal and update that any registered workflow
 * handles, and names that none handles, with fixed hostile payloads and generated ones, as raw payloads on the real
 * dev server. A run then has no failed workflow task, still handles a good message, and its history replays. Names that
 * none handles get all payloads in one workflow of each set of handlers, because the skeleton answers them.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isGrpcServiceError, type WorkflowHandle } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import fc from 'fast-check';
import { newId } from '../../../src/kernel/ids.ts';
import { converterPath } from '../../../src/temporal/connection.ts';
import * as workflows from '../../../workflows/index.ts';
import { type RawPayload, rawMessages } from '../../support/raw-messages.ts';
import { allJourneys, shownWorkflows } from '../../support/record/journeys.ts';
import { updateRun } from '../../support/update-run.ts';
import { startWorkflowWorld, type WorkflowWorld } from '../../support/workflow-world.ts';
import { eventually } from '../../support/world.ts';

/** Runs of a waiting workflow get these; every other activity fails, and its run waits for it without end. */
const looks = new Map<string, number>();
const looked = (id: string): string => {
  looks.set(id, (looks.get(id) ?? 0) + 1);
  if (id.endsWith('held')) throw new Error('held by the test');
  return id;
};
const described = await allJourneys();
const activities = {
  ...Object.assign({}, ...described.map(({ waiting }) => waiting(looked))),
  default: async (id: string) => looked(`${id}held`),
};

type Metadata = { definition: Record<'signalDefinitions' | 'updateDefinitions', { name: string }[]> };

const unknownNames = [
  'no-such-message',
  'constructor',
  '__proto__',
  'toString',
  '__stack_trace',
  '__temporal_x',
  'é'.repeat(150),
];
/** Sets of handlers whose workflow got all payloads under the names that none handles, by state. */
const sentToUnknown = new Set<string>();
/** Signals and updates of one run; the server lets ten updates of a run be in flight. */
const perRun = { signals: 40, updates: 9 };
const generated = 24;

let world: WorkflowWorld;
let raw: ReturnType<typeof rawMessages>;
beforeAll(async () => {
  world = await startWorkflowWorld(activities);
  raw = rawMessages(world.client);
});
afterAll(async () => {
  await world.close();
});

describe.each(Object.keys(workflows))('%s', (workflow) => {
  test.each(['waiting', 'held'])(
    'no message blocks it while it is %s',
    async (state) => {
      const first = await started(workflow, state);
      const { definition } = await first.query<Metadata>('__temporal_workflow_metadata');
      const namesOf = (defined: { name: string }[] | undefined) =>
        (defined ?? []).map(({ name }) => name).filter((name) => !name.startsWith('__'));
      const [signals, updates] = [namesOf(definition.signalDefinitions), namesOf(definition.updateDefinitions)];
      const handlers = JSON.stringify([state, signals.sort(), updates.sort()]);
      const inputs = [...raw.fixed, ...fc.sample(raw.generated, generated)];
      const inputsOfUnknown = sentToUnknown.has(handlers) ? fc.sample(raw.generated, 1) : inputs;
      sentToUnknown.add(handlers);
      const handles = [first];
      const send = async (
        names: string[],
        most: number,
        deliver: (to: WorkflowHandle, name: string, payloads: RawPayload[]) => Promise<void>,
      ) => {
        const all = [
          ...names.flatMap((name) => inputs.map((input) => ({ name, input }))),
          ...unknownNames.flatMap((name) => inputsOfUnknown.map((input) => ({ name, input }))),
        ];
        for (let from = 0; from < all.length; from += most) {
          const to = await started(workflow, state);
          handles.push(to);
          await Promise.all(all.slice(from, from + most).map(({ name, input }) => deliver(to, name, input)));
        }
      };
      await Promise.all([send(signals, perRun.signals, raw.signal), send(updates, perRun.updates, raw.update)]);
      if (state === 'waiting') await answered(handles);
      const broken = (await Promise.all(handles.map((handle) => faultsOf(handle)))).flat();
      expect(broken).toEqual([]);
      expect(await replayFailures(handles)).toEqual([]);
      for (const handle of handles) await handle.terminate();
    },
    300_000,
  );
});

const ids = new Map<string, string>();

async function started(workflow: string, state: string): Promise<WorkflowHandle> {
  const id = `${newId('intent')}${state}`;
  const handle = await world.start(workflow, `${workflow}/${id}`, id);
  ids.set(handle.workflowId, id);
  return handle;
}

/** What is wrong with a run: a failed task, an end, or a wake after which it does nothing. */
async function faultsOf(handle: WorkflowHandle): Promise<string[]> {
  const tasksBefore = tasksOf(await handle.fetchHistory());
  await handle.signal('wake');
  await eventually(
    async () => tasksOf(await handle.fetchHistory()),
    (count) => count > tasksBefore,
  );
  await handle.query('__temporal_workflow_metadata');
  const { events } = await handle.fetchHistory();
  return (events ?? []).flatMap((event) => {
    const failed = event.workflowTaskFailedEventAttributes?.failure?.message;
    const ended = event.workflowExecutionFailedEventAttributes?.failure?.message;
    const completed = event.workflowExecutionCompletedEventAttributes && 'completed';
    const why = failed ?? ended ?? completed;
    return why == null ? [] : [`${handle.workflowId}: ${why}`];
  });
}

/** A checkout answers after 8 s; runs whose activities fail do not answer. */
async function answered(handles: readonly WorkflowHandle[]): Promise<void> {
  const isOpen = async (handle: WorkflowHandle): Promise<boolean> => {
    const { events = [] } = await handle.fetchHistory();
    const accepted = events?.filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes != null);
    const completed = events?.filter((event) => event.workflowExecutionUpdateCompletedEventAttributes != null);
    return accepted?.length !== completed?.length;
  };
  const until = Date.now() + 12_000;
  while (Date.now() < until && (await Promise.all(handles.map(isOpen))).includes(true)) await sleep(500);
}

type Events = Awaited<ReturnType<WorkflowHandle['fetchHistory']>>;
const tasksOf = ({ events }: Events): number =>
  (events ?? []).filter((event) => event.workflowTaskCompletedEventAttributes != null).length;

async function replayFailures(handles: readonly WorkflowHandle[]): Promise<string[]> {
  const histories = await Promise.all(
    handles.map(async (handle) => ({ workflowId: handle.workflowId, history: await handle.fetchHistory() })),
  );
  const options = {
    workflowBundle: { codePath: process.env.TEST_BUNDLE ?? '' },
    dataConverter: { payloadConverterPath: converterPath },
  };
  const failed: string[] = [];
  for await (const { workflowId, error } of Worker.runReplayHistories(options, histories)) {
    if (error !== undefined) failed.push(`${workflowId}: ${error.message}`);
  }
  return failed;
}

const decided = Object.entries(await shownWorkflows()).flatMap(([workflow, { decidedWhile }]) =>
  decidedWhile === undefined ? [] : [[workflow, decidedWhile] as const],
);

test.each(decided)('%s takes a decision after all of these', async (workflow, status) => {
  const handle = await started(workflow, 'waiting');
  for (const input of raw.fixed) await raw.signal(handle, 'decide', input);
  const args = { decision: 'approve', by: 'anna' };
  const view = await updateRun<{ status?: string; stage?: string }>(handle, 'decide', [args]);
  expect(view.status ?? view.stage).toBe(status);
  const refused = await updateRun(handle, 'decide').catch((error: unknown) => error);
  expect(isGrpcServiceError(refused)).toBe(false);
  await handle.terminate();
});
