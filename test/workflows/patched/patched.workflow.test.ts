/**
 * Goal: a released workflow is changed as docs/releasing.md says, and no run is lost. Method: the versions of one change,
 * each as a bundle of its own, on the dev server: runs go on under the next version, and their histories are replayed on
 * every other. The row is in memory.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { cardRequestFacts } from '../../../src/domains/cards/card-requests/card-request.rules.ts';
import { day, later } from '../../../src/kernel/instant.ts';
import { createLogger } from '../../../src/platform/log.ts';
import { bundleWorkflowsTo } from '../../../src/temporal/bundle.ts';
import { converterPath } from '../../../src/temporal/connection.ts';
import { type RunningWorker, startWorker } from '../../../src/temporal/worker.ts';
import type { History } from '../../support/history-json.ts';
import { type OpenTemporal, openTemporal } from '../../support/operator-view.ts';
import { eventually } from '../../support/world.ts';
import type { RequestActivities, RequestState } from './card-request.versions.ts';

const versions = ['released', 'changed', 'guarded', 'unguarded'] as const;
type Version = (typeof versions)[number];

const workflow = 'cardRequest';
const taskQueue = `patched-${randomUUID()}`;
const createdAt = new Date('2026-11-22T08:00:00.000Z');

let row: { version: number; status: 'pending' | 'approved'; isScreened: boolean };
let screenings: number;

const stateOf = (): RequestState => {
  const waiting = { status: row.status, createdAt, expiresAt: later(createdAt, 3 * day), remindedAt: null };
  const facts = cardRequestFacts(waiting, createdAt);
  const screened = row.isScreened || facts.final ? (['screened'] as const) : [];
  const reached = [...facts.reached, ...screened];
  return { ...facts, version: row.version, reached, view: { status: row.status } };
};
const change = (fields: Partial<Omit<typeof row, 'version'>>): RequestState => {
  row = { ...row, ...fields, version: row.version + 1 };
  return stateOf();
};
const activities: RequestActivities = {
  readRequest: async () => stateOf(),
  decideRequest: async () => change({ status: 'approved' }),
  remindOfRequest: async () => stateOf(),
  expireRequest: async () => stateOf(),
  screenRequest: async () => {
    screenings += 1;
    return change({ isScreened: true });
  },
};

let dir: string;
let temporal: OpenTemporal;
let worker: RunningWorker | undefined;
const bundleOf = (version: Version): string => join(dir, `${version}.js`);
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'bursar-patched-'));
  for (const version of versions) {
    const entry = fileURLToPath(new URL(`./versions/${version}.ts`, import.meta.url));
    await bundleWorkflowsTo(bundleOf(version), entry);
  }
  temporal = await openTemporal();
}, 240_000);
afterAll(async () => {
  await worker?.stop();
  await temporal.close();
  await rm(dir, { recursive: true, force: true });
});
beforeEach(() => {
  row = { version: 1, status: 'pending', isScreened: false };
  screenings = 0;
});

/** As a deployment does: the workers of the version before have ended. */
async function deploy(version: Version): Promise<void> {
  await worker?.stop();
  worker = startWorker({
    address: process.env.TEST_TEMPORAL ?? '',
    namespace: 'default',
    taskQueue,
    activities,
    workflowBundle: { codePath: bundleOf(version) },
    log: createLogger({ name: 'test-worker', level: 'silent' }),
  });
}
const requested = (): Promise<WorkflowHandle> =>
  temporal.client.workflow.start(workflow, {
    ...{ workflowId: `patched/${randomUUID()}`, taskQueue },
    args: [{ id: 'creq_aaaaaaaa' }],
  });
/** The row was read, and the run waits for a person. */
const waits = (handle: WorkflowHandle) =>
  eventually(
    async () => (await handle.fetchHistory()).events ?? [],
    (events) => events.some((event) => event.timerStartedEventAttributes != null),
  );
const approve = async (handle: WorkflowHandle): Promise<History> => {
  await handle.signal('decide', { decision: 'approve', by: 'Anna' });
  expect(await handle.result()).toEqual({ status: 'approved' });
  return handle.fetchHistory();
};
/** A whole run of that version. */
async function recorded(version: Version): Promise<History> {
  await deploy(version);
  row = { version: 1, status: 'pending', isScreened: false };
  const handle = await requested();
  await waits(handle);
  return approve(handle);
}

/** On which of the versions the run could go on at every one of its events. */
async function replaying(history: History): Promise<Version[]> {
  const fitting: Version[] = [];
  for (const version of versions) {
    const options = {
      workflowBundle: { codePath: bundleOf(version) },
      dataConverter: { payloadConverterPath: converterPath },
    };
    try {
      await Worker.runReplayHistory(options, history, 'patched/replayed');
      fitting.push(version);
    } catch (error) {
      expect(String(error)).toMatch(/TMPRL1100|Nondeterminism/);
    }
  }
  return fitting;
}

test('a run that the released version began goes on under the next one, and to its end in the old way', async () => {
  await deploy('released');
  const handle = await requested();
  await waits(handle);
  await deploy('guarded');
  const history = await approve(handle);
  expect(screenings).toBe(0);
  expect(await replaying(history)).toEqual(['released', 'guarded']);
});

test('a run that the next version begins has the new step, and cannot go back to the released version', async () => {
  const history = await recorded('guarded');
  expect(screenings).toBe(1);
  expect(await replaying(history)).toEqual(['guarded', 'unguarded']);
});

test('the guard is removed in two versions: its markers are accepted first, and gone from the histories then', async () => {
  expect(await replaying(await recorded('unguarded'))).toEqual(expect.arrayContaining(['changed', 'unguarded']));
  expect(await replaying(await recorded('changed'))).toContain('changed');
});
