/**
 * Goal: a run that an operator terminates or cancels is started again, long before its deadline, and Temporal is asked
 * at most ten times a second for it, by all workers together. Method: real intents and the real development server
 * with the hour shortened; the pace with a Temporal that counts.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { databaseOf } from '../../../src/db/database.ts';
import { type Orm, openDatabase } from '../../../src/db/orm.ts';
import { intentsArea } from '../../../src/domains/spending/intents/intent.contract.ts';
import { entities, workflows } from '../../../src/main/modules/index.ts';
import { createLogger } from '../../../src/platform/log.ts';
import { checkSome, startEndedRunsLoop } from '../../../src/relay/ended-runs.ts';
import { createTemporal, type Temporal } from '../../../src/temporal/connection.ts';
import { createGateway } from '../../../src/temporal/gateway.ts';
import { anAgentWithCard } from '../../support/factories/agent-with-card.ts';
import { eventually, startWorld, type World } from '../../support/world.ts';

let world: World;
let orm: Orm;
let temporal: Temporal;
let connection: Connection;
let client: Client;
const log = createLogger({ name: 'test', level: 'silent' });
beforeAll(async () => {
  world = await startWorld({ worker: true });
  orm = await openDatabase({ url: world.config.DATABASE_URL, entities, poolSize: 4, applicationName: 'ended-runs' });
  temporal = createTemporal({ address: world.config.TEMPORAL_ADDRESS, namespace: 'default' });
  connection = await Connection.connect({ address: world.config.TEMPORAL_ADDRESS });
  client = new Client({ connection });
});
afterAll(async () => {
  await connection.close();
  await temporal.close();
  await orm.close();
  await world.close();
});

async function declaredIntents(count: number): Promise<string[]> {
  const owner = await world.owner();
  const { token } = await anAgentWithCard(world, owner);
  const agent = world.as(token).client(intentsArea);
  const declared = await Promise.all(
    Array.from({ length: count }, () =>
      agent.declareIntent({
        body: { purpose: 'a dinner', expectedAmountEuros: 20, expectedMerchant: 'Example Shop', ttlMinutes: 60 },
      }),
    ),
  );
  return declared.map(({ id }) => `intent/${id}`);
}

/** The latest run under that id, as Temporal has it. */
const runOf = async (id: string) => {
  const { status, runId } = await client.workflow.getHandle(id).describe();
  return { state: status.name, runId };
};
const runs = (ids: readonly string[]) => eventually(async () => Promise.all(ids.map(runOf)), allRunning);
const allRunning = (found: readonly { state: string }[]) => found.every(({ state }) => state === 'RUNNING');

test('terminated, cancelled and deleted runs are started again; one that runs is left alone', async () => {
  const ids = await declaredIntents(4);
  const [terminated = '', cancelled = '', deleted = '', untouched = ''] = ids;
  const before = await eventually(
    async () => Promise.all(ids.map((id) => runOf(id).catch(() => ({ state: 'none', runId: '' })))),
    allRunning,
  );
  await client.workflow.getHandle(terminated).terminate('by mistake');
  await client.workflow.getHandle(cancelled).cancel();
  await connection.workflowService.deleteWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: deleted },
  });
  await eventually(
    async () => Promise.all([terminated, cancelled].map(runOf)),
    (found) => found[0]?.state === 'TERMINATED' && found[1]?.state === 'CANCELLED',
  );
  // Temporal deletes some time after its answer. Until then the old run would be taken for a new one.
  await eventually(
    async () => (await runOf(deleted).catch(() => undefined))?.runId,
    (runId) => runId !== before[2]?.runId,
  );
  const loop = startEndedRunsLoop({
    database: databaseOf(orm),
    temporal,
    gateway: createGateway({ database: databaseOf(orm), temporal, log, workflows }),
    log,
    everyMs: 1,
  });
  try {
    await eventually(
      async () => Promise.all(ids.map((id) => runOf(id).catch(() => ({ state: 'none', runId: '' })))),
      allRunning,
    );
    const after = await runs(ids);
    expect(after[3]).toEqual(before[3]);
    for (const n of [0, 1, 2]) expect(after[n]?.runId).not.toBe(before[n]?.runId);
    // It goes on from its row: a person may decide, or the deadline ends it.
    await world.advance(61 * 60_000);
    await eventually(
      () => world.sql<{ status: string }>(`select status from intents`),
      (intents) => intents.every(({ status }) => status === 'expired'),
    );
    await eventually(
      () => runOf(untouched),
      ({ state }) => state === 'COMPLETED',
    );
  } finally {
    await loop.stop();
  }
});

describe('the pace', () => {
  // Without a worker, whose own loop would take rows.
  let quiet: World;
  let quietOrm: Orm;
  const asked: string[] = [];
  let isAway = false;
  const options = () => ({
    database: databaseOf(quietOrm),
    temporal: {
      epoch: async () => {
        if (isAway) throw new Error('Temporal is away');
        return 'epoch';
      },
    },
    gateway: {
      isRunning: async (id: string) => {
        asked.push(id);
        if (id.endsWith('-3')) throw new Error('no answer');
        return true;
      },
    },
    log,
  });
  beforeAll(async () => {
    quiet = await startWorld();
    quietOrm = await openDatabase({ url: quiet.config.DATABASE_URL, entities, poolSize: 4, applicationName: 'pace' });
    await quiet.sql(
      `insert into workflow_runs (id, workflow, subject_id, owner_id, stage, created_at, started_epoch, checked_at)
       select 'checked/' || n, 'checked', 'subject', 'own_a', 'open', now(), 'epoch',
         now() - interval '59 minutes 58 seconds'
       from generate_series(1, 25) n`,
    );
  });
  afterAll(async () => {
    await quietOrm.close();
    await quiet.close();
  });

  test('a row is checked once an hour; three workers together check at most ten rows a second', async () => {
    const loops = [1, 2, 3].map(() => startEndedRunsLoop(options()));
    try {
      await eventually(
        async () => asked.length,
        (count) => count === 25,
      );
      await new Promise((resolve) => setTimeout(resolve, 1_500));
    } finally {
      await Promise.all(loops.map((loop) => loop.stop()));
    }
    expect(new Set(asked).size).toBe(25);
    expect(asked).toHaveLength(25);
    // The turns, by the clock that they are taken by; a loaded machine may make a call of one late.
    const turns = await quiet.sql<{ count: number; after_ms: number | null }>(
      `select count(*)::int as count,
         extract(epoch from checked_at - lag(checked_at) over (order by checked_at))::float8 * 1000 as after_ms
       from workflow_runs where id like 'checked/%' and id <> 'checked/-3' group by checked_at order by checked_at`,
    );
    for (const { count, after_ms } of turns) {
      expect(count).toBeLessThanOrEqual(10);
      expect(after_ms ?? Number.POSITIVE_INFINITY).toBeGreaterThanOrEqual(1_000);
    }
  });

  test('with Temporal away no run counts as ended, and unanswered checks are repeated in a minute', async () => {
    await quiet.sql(`update workflow_runs set checked_at = now() - interval '61 minutes' where id = 'checked/13'`);
    isAway = true;
    await expect(checkSome(options())).rejects.toThrow('Temporal is away');
    isAway = false;
    await quiet.sql(`update workflow_runs set id = 'checked/-3' where id = 'checked/13'`);
    await eventually(
      () => checkSome(options()),
      (taken) => taken === 1,
    );
    const [row] = await quiet.sql(
      `select extract(epoch from checked_at - now() + interval '1 hour')::int as seconds from workflow_runs
       where id = 'checked/-3'`,
    );
    expect(row?.seconds).toBeGreaterThanOrEqual(50);
    expect(row?.seconds).toBeLessThanOrEqual(60);
  });
});
