/**
 * Goal: a wake is never lost, whatever fails between claim and signal, and no failure ends the worker. Method: a gateway
 * that fails or hangs on request, and a trigger that refuses the release of claims.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Database, databaseOf } from '../../../src/db/database.ts';
import { type Orm, openDatabase } from '../../../src/db/orm.ts';
import { entities } from '../../../src/main/modules/index.ts';
import { createClock } from '../../../src/platform/clock.ts';
import { createLogger } from '../../../src/platform/log.ts';
import type { WorkflowRun } from '../../../src/platform/workflow-runs.ts';
import { createRelay, type Relay } from '../../../src/relay/workflow-runs.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
let orm: Orm;
const woken: string[] = [];
let isAway = true;

beforeAll(async () => {
  world = await startWorld();
  orm = await openDatabase({ url: world.config.DATABASE_URL, entities, poolSize: 3, applicationName: 'test' });
});
afterAll(async () => {
  await orm.close();
  await world.close();
});

let relay: Relay;
const relayOn = (database: Database, batchMs: number): Relay => {
  const act = async ({ id }: WorkflowRun) => {
    if (isAway) throw new Error('Temporal is away');
    await during();
    woken.push(id);
  };
  return createRelay({
    database,
    clock: createClock(database, 'sandbox'),
    temporal: { epoch: async () => 'epoch', isReachable: async () => !isAway },
    gateway: { start: act, wake: act },
    log: createLogger({ name: 'test', level: 'silent' }),
    batchMs,
  });
};
beforeAll(() => {
  // The time of the one call that hangs; on a busy machine the others need more than the usual 0.3 s.
  relay = relayOn(databaseOf(orm), 3_000);
});
const pass = () => relay.pass();
let during = async (): Promise<unknown> => undefined;

test('a wake that failed, or whose sender died, is sent again; a delivered one is not', async () => {
  await world.sql(
    `insert into workflow_runs (id, workflow, subject_id, owner_id, stage, is_open, started_epoch, wanted_wake, created_at)
     values ('intent/int_a', 'intentLifecycle', 'int_a', 'own_a', 'denied', false, 'epoch', true, '2026-01-01')`,
  );
  await expect(pass()).rejects.toThrow(/none of 1 workflow runs could be reached/);
  isAway = false;
  await pass();
  expect(woken).toEqual([]); // Its claim has not expired yet: the first sender may only be slow.
  // Only where there is a claim: without one the wake would be lost.
  await world.sql(`update workflow_runs set waking_until = now() - interval '1 second' where waking_until is not null`);
  await pass();
  expect(woken).toEqual(['intent/int_a']);
  await pass();
  expect(woken).toEqual(['intent/int_a']);
});

test('a change during the signal sends another one', async () => {
  woken.length = 0;
  await world.sql(`update workflow_runs set wanted_wake = true, waking_until = now() + interval '1 minute'`);
  await pass();
  expect(woken).toEqual([]);
  await world.sql('update workflow_runs set waking_until = null');
  await pass();
  expect(woken).toEqual(['intent/int_a']);
});

test('a change while the run is started, or while its wake is under way, is followed by another wake', async () => {
  woken.length = 0;
  await world.sql(
    `insert into workflow_runs (id, workflow, subject_id, owner_id, stage, created_at)
     values ('intent/int_b', 'intentLifecycle', 'int_b', 'own_a', 'approved', '2026-01-01')`,
  );
  const wake = () => world.sql(`update workflow_runs set wanted_wake = true where id = 'intent/int_b'`);
  during = wake;
  await pass(); // Starts it.
  expect(woken).toEqual(['intent/int_b']);
  await world.sql(`update workflow_runs set started_epoch = 'epoch', retry_at = null`);
  await pass();
  expect(woken).toEqual(['intent/int_b', 'intent/int_b']);
  during = async () => undefined;
  await pass();
  await pass();
  expect(woken).toEqual(['intent/int_b', 'intent/int_b', 'intent/int_b']);
});

test('a late confirmation does not end the claim of a later change', async () => {
  woken.length = 0;
  let sent = (): void => undefined;
  const hanging = new Promise<void>((resolve) => {
    sent = resolve;
  });
  await world.sql(`update workflow_runs set wanted_wake = id = 'intent/int_b'`);
  during = () => hanging;
  expect((await pass()).woken).toBe(0); // The call hangs; the pass goes on without it.
  await world.sql(
    `update workflow_runs set wanted_wake = false, waking_until = now() + interval '1 minute' where id = 'intent/int_b'`,
  );
  sent();
  await relay.settled();
  const [row] = await world.sql(`select waking_until from workflow_runs where id = 'intent/int_b'`);
  expect(row).toEqual({ waking_until: expect.any(Date) });
  during = async () => undefined;
});

test('when claims cannot be given back, the pass fails, the process goes on, and the wakes are sent later', async () => {
  woken.length = 0;
  await world.sql('delete from workflow_runs');
  await world.sql(
    `insert into workflow_runs (id, workflow, subject_id, owner_id, stage, started_epoch, wanted_wake, created_at)
     select 'intent/int_' || n, 'intentLifecycle', 'int_' || n, 'own_a', 'approved', 'epoch', true, '2026-01-01'
     from generate_series(1, 20) n`, // More than the lanes, so that some are claimed and not begun.
  );
  await world.sql(
    `create function no_release() returns trigger language plpgsql as $$ begin raise exception 'not given back'; end $$;
     create trigger no_release before update on workflow_runs for each row
       when (old.waking_until is not null and new.wanted_wake) execute function no_release()`,
  );
  let go = (): void => undefined;
  const hanging = new Promise<void>((resolve) => {
    go = resolve;
  });
  during = () => hanging;
  const database = databaseOf(orm);
  let upkeep = 0;
  const slow: Database = {
    ...database,
    write: async (work) => {
      const written = await database.write(work);
      await sleep(500); // So that the upkeep still goes on when the claims are refused.
      upkeep += 1;
      return written;
    },
  };
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => {
    unhandled.push(error);
  };
  process.on('unhandledRejection', note);
  try {
    const hindered = relayOn(slow, 20);
    await expect(hindered.pass()).rejects.toThrow('not given back');
    expect(upkeep).toBe(2); // The pass went on to its end.
    expect(unhandled).toEqual([]);
    go();
    await hindered.settled();
  } finally {
    process.off('unhandledRejection', note);
    go();
    during = async () => undefined;
    await world.sql('drop trigger no_release on workflow_runs');
  }
  await world.sql(`update workflow_runs set waking_until = now() - interval '1 second' where waking_until is not null`);
  await pass();
  expect(new Set(woken).size).toBe(20);
});
