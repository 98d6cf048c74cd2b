/**
 * Goal: the steps of `followRow` keep their promises at the edges: continuing as new, due times that have passed, and a
 * call that is made at most once. Method: sample workflows on a separate dev server that suggests continuing as new
 * after few events; the row is in memory, and timers are read from the history.
 * @module
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure, TypedSearchAttributes } from '@temporalio/common';
import { createLogger } from '../../../src/platform/log.ts';
import { freePort } from '../../../src/supervisor/ports.ts';
import { temporalBinary } from '../../../src/supervisor/temporal-binary.ts';
import { startTemporal, type Temporal } from '../../../src/supervisor/temporal-server.ts';
import { bundleWorkflowsTo } from '../../../src/temporal/bundle.ts';
import { searchAttributes } from '../../../src/temporal/gateway.ts';
import { runLists } from '../../../src/temporal/run-lists.ts';
import { setUpTemporal } from '../../../src/temporal/set-up.ts';
import { type RunningWorker, startWorker } from '../../../src/temporal/worker.ts';
import { type OpenTemporal, openTemporal } from '../../support/operator-view.ts';
import { rawMessages } from '../../support/raw-messages.ts';
import { eventually } from '../../support/world.ts';
import type { MarkedSample, SampleActivities, SampleState } from './sample.workflow.ts';

const suggestedAfter = 40;
const taskQueue = 'followed-rows';

let row: { version: number; status: 'open' | 'settled' | 'cancelled'; dueInMs: number | undefined; otherInMs?: number };
let acts: number;
let calls: number;
let causes: string[];
let sent: string[];
let isAway: boolean;
/** Runs within the transaction of `markSample`. */
let duringMark: () => Promise<void>;
let act: () => void | Promise<void>;
/** Of the other due time. */
let settle: () => void | Promise<void>;
/** The answer shows the row as it was before. */
let isActLate: boolean;
let send: () => Promise<void>;
/** After the row was read, and before it is answered. */
let afterRead: () => Promise<void>;
/** Before a decision is carried out. */
let beforeDecision: (decision: string) => Promise<void>;
let decided: string[];
/** Before what a person tells is noted. */
let beforeTold: () => Promise<void>;
/** How long each text was that a person told, as the workflow read it. */
let told: string[];

const change = (fields: Partial<Omit<typeof row, 'version'>>): void => {
  row = { ...row, ...fields, version: row.version + 1 };
};
const stateOf = (): SampleState => ({
  version: row.version,
  final: row.status !== 'open',
  reached: row.status === 'settled' ? ['settled'] : [],
  dueInMs: {
    ...(row.dueInMs === undefined ? {} : { next: row.dueInMs }),
    ...(row.otherInMs === undefined ? {} : { other: row.otherInMs }),
  },
  view: { status: row.status },
});
const activities: SampleActivities = {
  readSample: async () => {
    const state = stateOf();
    await afterRead();
    return state;
  },
  actOnSample: async () => {
    acts += 1;
    const before = stateOf();
    await act();
    return isActLate ? before : stateOf();
  },
  settleSample: async () => {
    await settle();
    return stateOf();
  },
  decideSample: async (_id, { decision }) => {
    await beforeDecision(decision);
    decided.push(decision);
    if (decided.length === 2) change({ status: 'settled' });
    return stateOf();
  },
  tellSample: async (_id, { length = '' }) => {
    await beforeTold();
    told.push(length);
    if (told.length === 1) throw ApplicationFailure.nonRetryable('it was told before', 'invalid_state');
    change({ status: 'settled' });
    return stateOf();
  },
  callForSample: async () => {
    calls += 1;
    if (isAway) throw new Error('the receiver is unavailable');
    change({ status: 'settled' });
    return stateOf();
  },
  markSample: async (_id, causeId): Promise<MarkedSample> => {
    await duringMark();
    const mayHaveSent = causes.some((cause) => cause !== causeId);
    causes.push(causeId);
    return { ...stateOf(), mayHaveSent };
  },
  sendSample: async (_id, causeId) => {
    sent.push(causeId);
    await send();
    return stateOf();
  },
};

let dir: string;
let server: Temporal;
let worker: RunningWorker;
let temporal: OpenTemporal;
let count = 0;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'bursar-followed-'));
  const codePath = join(dir, 'workflows.js');
  await bundleWorkflowsTo(codePath, fileURLToPath(new URL('./sample.workflow.ts', import.meta.url)));
  const binary = await temporalBinary({ dir, say: () => undefined });
  const settings = [`limit.historyCount.suggestContinueAsNew=${suggestedAfter}`];
  server = await startTemporal({ binary, dir, port: await freePort(), settings });
  await setUpTemporal({ address: server.address, namespace: 'default' });
  worker = startWorker({
    address: server.address,
    namespace: 'default',
    taskQueue,
    activities,
    workflowBundle: { codePath },
    log: createLogger({ name: 'test-worker', level: 'silent' }),
  });
  temporal = await openTemporal(server.address);
}, 120_000);
afterAll(async () => {
  await worker.stop();
  await temporal.close();
  await server.stop();
  await rm(dir, { recursive: true, force: true });
});
beforeEach(() => {
  row = { version: 1, status: 'open', dueInMs: undefined };
  [acts, calls, causes, sent, isAway, isActLate] = [0, 0, [], [], false, false];
  duringMark = async () => undefined;
  act = () => undefined;
  settle = () => change({ status: 'settled' });
  send = async () => undefined;
  afterRead = async () => undefined;
  beforeDecision = async () => undefined;
  beforeTold = async () => undefined;
  [decided, told] = [[], []];
});

/** The handle names no run: it is always the newest. */
async function started(
  workflow: 'stepping' | 'attempting' | 'waiting' | 'sending' | 'repeating' | 'deciding' | 'listening',
  typedSearchAttributes = new TypedSearchAttributes(),
): Promise<WorkflowHandle> {
  count += 1;
  const id = `sample_${count}`;
  const options = { workflowId: `sample/${id}`, taskQueue, args: [{ id }], typedSearchAttributes } as const;
  await temporal.client.workflow.start(workflow, options);
  return temporal.client.workflow.getHandle(`sample/${id}`);
}
const runIdOf = async (handle: WorkflowHandle): Promise<string> => (await handle.describe()).runId;
const isContinued = (handle: WorkflowHandle, first: string) =>
  eventually(
    () => runIdOf(handle),
    (runId) => runId !== first,
  );
async function makeHistoryLong(handle: WorkflowHandle): Promise<void> {
  for (let wakes = 0; wakes < suggestedAfter; wakes++) await handle.signal('wake');
}
async function timersOf(handle: WorkflowHandle): Promise<number[]> {
  const { events } = await handle.fetchHistory();
  return (events ?? []).flatMap(({ timerStartedEventAttributes: timer }) => {
    if (timer == null) return [];
    return [Number(timer.startToFireTimeout?.seconds ?? 0) * 1_000 + (timer.startToFireTimeout?.nanos ?? 0) / 1e6];
  });
}
/** The first attempt fails, so that the step becomes an ordinary activity, beside which signals enter the history. */
function heldOnce() {
  const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let attempts = 0;
  const hold = async (): Promise<void> => {
    attempts += 1;
    if (attempts === 1) throw new Error('the database is unavailable');
    if (attempts > 2) return;
    begun.resolve();
    await released.promise;
  };
  return { hold, begun: begun.promise, release: released.resolve };
}
function heldMark() {
  const held = heldOnce();
  duringMark = held.hold;
  return held;
}
type HistoryEvent = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>[number];
const isSignal = (event: HistoryEvent): boolean => event.workflowExecutionSignaledEventAttributes != null;
/** The run has taken all that came before: nothing is under way in its newest workflow task. */
async function hasTaken(handle: WorkflowHandle, isTaken: (event: HistoryEvent) => boolean, count = 1): Promise<void> {
  await eventually(
    async () => (await handle.fetchHistory()).events ?? [],
    (events) => {
      const last = events.findLastIndex(isTaken);
      const isThere = events.filter(isTaken).length >= count;
      return isThere && events.slice(last).some((event) => event.workflowTaskCompletedEventAttributes != null);
    },
  );
}

test('`step`: an outside call that is repeated without end continues as new, and ends in the next run', async () => {
  isAway = true;
  const handle = await started('stepping');
  const first = await runIdOf(handle);
  await eventually(
    async () => calls,
    (made) => made > 1,
  );
  await makeHistoryLong(handle);
  await isContinued(handle, first);
  isAway = false;
  expect(await handle.result()).toEqual({ status: 'settled' });
});

const withoutProblem = new TypedSearchAttributes([{ key: searchAttributes.problem, value: 'none' }]);
const problemOf = async (handle: WorkflowHandle): Promise<string | undefined> =>
  (await handle.describe()).typedSearchAttributes.get(searchAttributes.problem);

test.each([
  ['an outside call', 'stepping'],
  ['a batch of deliveries', 'attempting'],
  ['a transaction', 'waiting'],
] as const)('%s that is repeated after a fault is found by its problem, until it succeeds', async (_, workflow) => {
  isAway = true;
  row.dueInMs = -5_000;
  act = () => {
    if (isAway) throw new Error('the database is unavailable');
    change({ status: 'settled' });
  };
  const handle = await started(workflow, withoutProblem);
  const query = `BursarProblem = 'retrying' AND WorkflowId = '${handle.workflowId}'`;
  const isListed = async () => (await temporal.client.workflow.count(query)).count === 1;
  await eventually(isListed, (listed) => listed);
  isAway = false;
  expect(await handle.result()).toEqual({ status: 'settled' });
  expect(await problemOf(handle)).toBe('none');
  await eventually(isListed, (listed) => !listed);
});

test('a step that is repeated for long is found as stuck, until it succeeds', async () => {
  const handle = await started('repeating', withoutProblem);
  const { query } = runLists.find(({ name }) => name === 'stuck') ?? { query: '' };
  const listed = async () =>
    (await temporal.client.workflow.count(`${query} AND WorkflowId = '${handle.workflowId}'`)).count;
  await eventually(listed, (count) => count === 1);
  await handle.signal('answered');
  await handle.result();
  expect(await problemOf(handle)).toBe('none');
});

test('a run that was started without the attribute never writes it', async () => {
  isAway = true;
  const handle = await started('stepping');
  await eventually(
    async () => calls,
    (made) => made > 5, // More than its first attempts.
  );
  isAway = false;
  expect(await handle.result()).toEqual({ status: 'settled' });
  expect(await problemOf(handle)).toBeUndefined();
});

test('`wait`: due times that move on are acted on at once, without a timer between them', async () => {
  row.dueInMs = -5_000;
  act = () => change(row.dueInMs === -1_000 ? { status: 'settled' } : { dueInMs: (row.dueInMs ?? 0) + 1_000 });
  const handle = await started('waiting');
  expect(await handle.result()).toEqual({ status: 'settled' });
  expect(acts).toBe(5);
  expect(await timersOf(handle)).toEqual([]);
});

test('`wait`: a due time that stays due is acted on again after 1 s, 2 s and 4 s', async () => {
  row.dueInMs = -5_000;
  act = () => {
    if (acts === 4) change({ status: 'settled' });
  };
  const handle = await started('waiting');
  expect(await handle.result()).toEqual({ status: 'settled' });
  expect(acts).toBe(4);
  expect(await timersOf(handle)).toEqual([1_000, 2_000, 4_000]);
});

test('`wait`: a due time that stays due does not keep a later one from its turn', async () => {
  row.dueInMs = -5_000;
  row.otherInMs = 0;
  const handle = await started('waiting');
  expect(await handle.result()).toEqual({ status: 'settled' });
  expect([acts, await timersOf(handle)]).toEqual([1, []]);
});

test('`wait`: two due times that stay due are acted on again after 1 s and 2 s, each once', async () => {
  row.dueInMs = -5_000;
  row.otherInMs = 0;
  let settles = 0;
  settle = () => {
    settles += 1;
    if (settles === 3) change({ status: 'settled' });
  };
  const handle = await started('waiting');
  expect(await handle.result()).toEqual({ status: 'settled' });
  expect([acts, settles, await timersOf(handle)]).toEqual([3, 3, [1_000, 2_000]]);
});

test('`wait`: a due time that lies ahead is acted on when it has passed', async () => {
  row.dueInMs = 300;
  afterRead = async () => {
    row.dueInMs = -1;
  };
  act = () => change({ status: 'settled' });
  const handle = await started('waiting');
  expect(await handle.result()).toEqual({ status: 'settled' });
  expect([acts, await timersOf(handle)]).toEqual([1, [300]]);
});

test('a wake that comes while the row is read is not lost: the row is read again', async () => {
  const read = heldOnce();
  afterRead = read.hold;
  const handle = await started('waiting');
  await read.begun;
  change({ status: 'settled' });
  await handle.signal('wake');
  await hasTaken(handle, isSignal);
  read.release();
  expect(await handle.result()).toEqual({ status: 'settled' });
});

test('a late answer of an activity does not replace what was read after it', async () => {
  row.dueInMs = -5_000;
  const acting = heldOnce();
  act = acting.hold;
  isActLate = true;
  const handle = await started('waiting');
  await acting.begun;
  change({ dueInMs: undefined });
  await handle.signal('wake');
  await hasTaken(handle, isSignal);
  acting.release();
  await hasTaken(handle, (event) => event.activityTaskCompletedEventAttributes != null);
  change({ status: 'settled' });
  await handle.signal('wake');
  expect(await handle.result()).toEqual({ status: 'settled' });
  // An older state would be due still, and be asked for again after a second.
  expect(await timersOf(handle)).toEqual([]);
});

test('two decisions are carried out one after the other, in their order', async () => {
  const held = heldOnce();
  beforeDecision = (decision) => (decision === 'approve' ? held.hold() : Promise.resolve());
  const handle = await started('deciding');
  await handle.signal('decide', { decision: 'approve', by: 'Anna' });
  await held.begun;
  await handle.signal('decide', { decision: 'deny', by: 'Bob' });
  await hasTaken(handle, isSignal, 2);
  held.release();
  expect(await handle.result()).toEqual({ status: 'settled' });
  expect(decided).toEqual(['approve', 'deny']);
});

test('a signal that is refused becomes a note, and the run takes the next one; of a long text only its begin is read', async () => {
  const handle = await started('listening');
  await handle.signal('tell', 'a short text');
  const { details } = await eventually(
    () => temporal.viewOf(handle.workflowId),
    (view) => view.details.includes('it was told before'),
  );
  expect(details).toContain('tell was refused: it was told before');
  // As a program without our data converter sends it.
  const metadata = { encoding: Buffer.from('json/plain') };
  const data = Buffer.from(JSON.stringify('x'.repeat(100_000)));
  await rawMessages(temporal.client).signal(handle, 'tell', [{ metadata, data }]);
  expect(await handle.result()).toEqual({ status: 'settled' });
  expect(told).toEqual(['12', '500']);
});

test('a row that is reopened while a handler of its ended run is under way is followed by the next run', async () => {
  const held = heldOnce();
  beforeTold = held.hold;
  const handle = await started('listening');
  const first = await runIdOf(handle);
  await handle.signal('tell', 'a text that is refused');
  await held.begun;
  change({ status: 'cancelled' });
  await handle.signal('wake');
  const { details } = await eventually(
    () => temporal.viewOf(handle.workflowId),
    (view) => view.details.includes('Done'),
  );
  expect(details).toContain('Done: cancelled.');
  change({ status: 'open' });
  held.release();
  await isContinued(handle, first);
  change({ status: 'settled' });
  await handle.signal('wake');
  expect(await handle.result()).toEqual({ status: 'settled' });
});

test('`once`: a history that becomes long between `mark` and `send` does not leave the call unsent', async () => {
  const mark = heldMark();
  const handle = await started('sending');
  const first = await runIdOf(handle);
  await mark.begun;
  await makeHistoryLong(handle);
  expect(await runIdOf(handle)).toBe(first);
  mark.release();
  await isContinued(handle, first);
  // The next run marks with its own cause and learns that the call may have been sent.
  await eventually(
    async () => new Set(causes).size,
    (different) => different === 2,
  );
  expect(sent).toEqual([`${handle.workflowId}/${first}/settled`]);
  change({ status: 'settled' });
  await handle.signal('wake');
  expect(await handle.result()).toEqual({ status: 'settled' });
  expect(sent).toHaveLength(1);
});

test('`once`: a call without an answer is not repeated; its outcome is queried', async () => {
  send = async () => {
    change({ dueInMs: 0 });
    throw new Error('the connection was closed');
  };
  act = () => change({ status: 'settled' });
  const handle = await started('sending');
  expect(await handle.result()).toEqual({ status: 'settled' });
  expect([sent.length, acts]).toEqual([1, 1]);
});

test('`once`: a row that `mark` finds final is not sent', async () => {
  duringMark = async () => change({ status: 'cancelled' });
  const handle = await started('sending');
  expect(await handle.result()).toEqual({ status: 'cancelled' });
  expect([causes.length, sent]).toEqual([1, []]);
});

test('`once`: a row that becomes final during `mark` is not sent', async () => {
  const mark = heldMark();
  const handle = await started('sending');
  await mark.begun;
  change({ status: 'cancelled' });
  await handle.signal('wake');
  expect(await handle.result()).toEqual({ status: 'cancelled' });
  mark.release();
  expect(sent).toEqual([]);
});
