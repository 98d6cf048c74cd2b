/**
 * The relay on real rows with a Temporal that only counts: for what the relay takes, in which order and how often.
 * @module
 */
import { databaseOf } from '../../src/db/database.ts';
import { openDatabase } from '../../src/db/orm.ts';
import { entities } from '../../src/main/modules/index.ts';
import { createClock } from '../../src/platform/clock.ts';
import { createLogger } from '../../src/platform/log.ts';
import type { WorkflowRun } from '../../src/platform/workflow-runs.ts';
import { createRelay, type Relay } from '../../src/relay/workflow-runs.ts';
import { noteAllStarted } from '../../src/temporal/known-workflow-runs.ts';
import { startWorld, type World } from './world.ts';

export type RelayWorld = Awaited<ReturnType<typeof startRelayWorld>>;

/** What the test makes of each call to Temporal. */
export type Calls = (kind: 'start' | 'wake', run: WorkflowRun) => Promise<void>;

export async function startRelayWorld() {
  const world: World = await startWorld();
  const orm = await openDatabase({ url: world.config.DATABASE_URL, entities, poolSize: 8, applicationName: 'relay' });
  const database = databaseOf(orm);
  const called: { kind: 'start' | 'wake'; id: string; ownerId: string }[] = [];
  let isAway = false;
  let calls: Calls = async () => undefined;
  const act =
    (kind: 'start' | 'wake') =>
    async (run: WorkflowRun): Promise<void> => {
      if (isAway) throw new Error('Temporal is away');
      called.push({ kind, id: run.id, ownerId: run.ownerId });
      await calls(kind, run);
      await noteAllStarted(database, [{ id: run.id, epoch: 'epoch' }]);
    };
  const temporal = { epoch: async () => 'epoch', isReachable: async () => !isAway };
  // With the usual 0.3 s a pass on a busy machine ends before the calls that a test counts.
  const relay = ({ batchMs = 60_000 } = {}): Relay =>
    createRelay({
      batchMs,
      database,
      clock: createClock(database, 'sandbox'),
      temporal,
      gateway: { start: act('start'), wake: act('wake') },
      log: createLogger({ name: 'test', level: 'silent' }),
    });
  return {
    ...world,
    database,
    temporal,
    called,
    /** Another instance over the same rows, as another worker run has it. Its passes wait `batchMs` for their calls. */
    relay,
    onCall: (answer: Calls) => {
      calls = answer;
    },
    goAway: (away: boolean) => {
      isAway = away;
    },
    /** Rows `<type>/<owner>-1` and so on; `values` are further columns and what they are set to. */
    rows: (workflow: string, ownerId: string, count: number, values: Readonly<Record<string, string>>) =>
      world.sql(
        `insert into workflow_runs (id, workflow, subject_id, owner_id, stage, created_at, ${Object.keys(values).join(', ')})
         select $1 || '/' || $2 || '-' || n, $1, 'subject', $2, 'open', now(), ${Object.values(values).join(', ')}
         from generate_series(1, $3::int) n`,
        [workflow, ownerId, count],
      ),
    clear: async () => {
      await world.sql('delete from workflow_runs');
      called.length = 0;
      calls = async () => undefined;
      isAway = false;
    },
    close: async () => {
      await orm.close();
      await world.close();
    },
  };
}
