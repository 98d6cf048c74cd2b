/**
 * Goal: recording a start waits for no lock and names the server that was asked, and concurrent requests start a run
 * once. Method: a gateway on real rows, a Temporal that only counts, and another transaction that locks a row.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type Database, databaseOf } from '../../../src/db/database.ts';
import { type Orm, openDatabase } from '../../../src/db/orm.ts';
import { runSql } from '../../../src/db/statement.ts';

import { message } from '../../../src/kernel/message.ts';
import { entities, workflows } from '../../../src/main/modules/index.ts';
import { createLogger } from '../../../src/platform/log.ts';
import type { WorkflowRun } from '../../../src/platform/workflow-runs.ts';
import { createGateway, type WorkflowGateway } from '../../../src/temporal/gateway.ts';
import { eventually, startWorld, type World } from '../../support/world.ts';

let world: World;
let orm: Orm;
let database: Database;
let gateway: WorkflowGateway;
const started: string[] = [];
let epoch: () => Promise<string>;
let afterCall: () => void;

beforeAll(async () => {
  world = await startWorld();
  orm = await openDatabase({ url: world.config.DATABASE_URL, entities, poolSize: 5, applicationName: 'start-notes' });
  database = databaseOf(orm);
  const client = {
    connection: { withDeadline: (_at: unknown, call: () => unknown) => call() },
    workflow: {
      start: async (_type: string, { workflowId }: { workflowId: string }) => {
        started.push(workflowId);
        afterCall();
      },
      signalWithStart: async () => afterCall(),
      executeUpdateWithStart: async () => {
        afterCall();
        return 'the answer';
      },
    },
  };
  gateway = createGateway({
    workflows,
    database,
    temporal: { epoch: () => epoch(), client: async () => client } as never,
    log: createLogger({ name: 'test', level: 'silent' }),
  });
});
afterAll(async () => {
  await orm.close();
  await world.close();
});

let runs: WorkflowRun[];
beforeEach(async () => {
  started.length = 0;
  epoch = async () => 'epoch';
  afterCall = () => undefined;
  runs = await world.sql<WorkflowRun>(
    `insert into workflow_runs (id, workflow, subject_id, owner_id, stage, created_at)
     select 'intent/' || $1 || '_' || n, 'intentLifecycle', 'int_' || n, 'own_a', 'approved', now()
     from generate_series(1, 30) n
     returning id, workflow, subject_id as "subjectId", owner_id as "ownerId", agent_id as "agentId", stage`,
    [randomUUID()],
  );
});

const notedOf = async (ids: readonly string[]): Promise<number> =>
  (await world.sql(`select 1 from workflow_runs where id = any($1) and started_epoch = 'epoch'`, [[...ids]])).length;

test('a locked row is skipped without waiting', async () => {
  const [held, ...others] = runs.map(({ id }) => id);
  let release: () => void = () => undefined;
  const holding = new Promise<void>((isHeld) => {
    void database.write(async (tx) => {
      await runSql(tx, 'select 1 from workflow_runs where id = $1 for update', [held]);
      isHeld();
      await new Promise<void>((resolve) => {
        release = resolve;
      });
    });
  });
  await holding;
  try {
    await Promise.all(runs.map((run) => gateway.start(run)));
    expect(started).toHaveLength(30);
    expect(await notedOf(others)).toBe(29);
    expect(await notedOf([held ?? ''])).toBe(0);
  } finally {
    release();
  }
  await eventually(
    async () => {
      await gateway.start(runs[0] as WorkflowRun);
      return notedOf([held ?? '']);
    },
    (count) => count === 1,
  );
});

test('concurrent requests start a run once, and not when the relay has started it', async () => {
  const ids = runs.map(({ id }) => id);
  await world.sql('update workflow_runs set retry_at = now() where id = any($1)', [ids.slice(0, 5)]);
  for (const id of [...ids, ...ids]) gateway.startSoon(id);
  await eventually(
    () => notedOf(ids),
    (count) => count === 25,
  );
  expect(started.toSorted()).toEqual(ids.slice(5).toSorted());
});

test('an answer is given, whatever becomes of the note of its start', async () => {
  epoch = async () => {
    throw new Error('the epoch cannot be read');
  };
  const [run] = runs;
  expect(await gateway.ask(run?.id ?? '', message<string, object>('decide'), {}, 'once')).toBe('the answer');
  expect(await notedOf([run?.id ?? ''])).toBe(0);
});

test('who waits for the row gets its answer, and the start is noted afterwards where the run is still open', async () => {
  const [open, ended, failed, later] = runs as [WorkflowRun, WorkflowRun, WorkflowRun, WorkflowRun];
  const notedMeanwhile = async (run: WorkflowRun) => {
    expect(started).toContain(run.id);
    return notedOf([run.id]);
  };
  expect(
    await gateway.startFor(
      open,
      () => notedMeanwhile(open),
      () => false,
    ),
  ).toBe(0);
  const fault = new Error('the row cannot be read');
  const failing = gateway.startFor(
    failed.id,
    () => Promise.reject(fault),
    () => true,
  );
  await expect(failing).rejects.toBe(fault);
  await eventually(
    () => notedOf([open.id, failed.id]),
    (count) => count === 2,
  );
  await gateway.startFor(
    ended,
    async () => undefined,
    () => true,
  );
  await gateway.start(later); // Notes are written in their order.
  expect(await notedOf([ended.id, later.id])).toBe(1);
});

test.each<[how: string, call: (run: WorkflowRun) => Promise<unknown>]>([
  ['start', (run) => gateway.start(run)],
  ['wake', (run) => gateway.wake({ ...run, isOpen: true })],
  ['ask', ({ id }) => gateway.ask(id, message<string, object>('decide'), {}, 'once')],
  [
    'start for one who waits',
    ({ id }) =>
      gateway.startFor(
        id,
        async () => undefined,
        () => false,
      ),
  ],
])(
  '%s: a run that a server lost right after it does not count as started in the server that followed',
  async (_how, call) => {
    const [run] = runs as [WorkflowRun];
    epoch = async () => 'lost';
    afterCall = () => {
      epoch = async () => 'epoch';
    };
    await call(run);
    const noted = await eventually(
      () => world.sql('select started_epoch from workflow_runs where id = $1', [run.id]),
      ([row]) => row?.started_epoch !== null,
    );
    expect(noted).toEqual([{ started_epoch: 'lost' }]);
  },
);

test('a start of a run that has ended meanwhile is not noted, and its claim ends', async () => {
  const [ended, claimed, open] = runs as [WorkflowRun, WorkflowRun, WorkflowRun];
  await world.sql('update workflow_runs set is_open = false where id = any($1)', [[ended.id, claimed.id]]);
  await world.sql('update workflow_runs set retry_at = now() where id = $1', [claimed.id]);
  await Promise.all([ended, claimed, open].map((run) => gateway.start(run)));
  expect(await notedOf([open.id])).toBe(1);
  expect(await notedOf([ended.id])).toBe(0);
  expect(await world.sql('select 1 from workflow_runs where id = $1 and retry_at is null', [claimed.id])).toHaveLength(
    1,
  );
});

test('a run that the caller has opened is asked without its row', async () => {
  const [run] = runs as [WorkflowRun];
  await world.sql('delete from workflow_runs where id = $1', [run.id]);
  expect(await gateway.ask({ ...run, amountCents: null }, message<string, object>('decide'), {}, 'once')).toBe(
    'the answer',
  );
});
