/** Goal: a wake is never lost, whatever fails between claim and signal. Method: a gateway that fails as told. @module */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { databaseOf } from '../../../src/db/database.ts';
import { type Orm, openDatabase } from '../../../src/db/orm.ts';
import { entities } from '../../../src/main/entities.ts';
import { createClock } from '../../../src/platform/clock.ts';
import { createLogger } from '../../../src/platform/log.ts';
import type { Process } from '../../../src/platform/processes.ts';
import { reconcileProcesses } from '../../../src/relay/processes.ts';
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

const pass = () => {
  const database = databaseOf(orm);
  const act = async ({ id }: Process) => {
    if (isAway) throw new Error('Temporal is away');
    woken.push(id);
  };
  return reconcileProcesses({
    database,
    clock: createClock(database, 'sandbox'),
    temporal: { epoch: async () => 'epoch' } as never,
    gateway: { start: act, wake: act } as never,
    log: createLogger({ name: 'test', level: 'silent' }),
  });
};

test('a wake that failed, or whose sender died, is sent again; one that arrived is not', async () => {
  await world.sql(
    `insert into processes (id, workflow, subject_id, owner_id, stage, is_open, started_epoch, wanted_wake, created_at)
     values ('intent/int_a', 'intentLifecycle', 'int_a', 'own_a', 'denied', false, 'epoch', true, '2026-01-01')`,
  );
  await expect(pass()).rejects.toThrow(/no process could be reached/);
  isAway = false;
  await pass();
  expect(woken).toEqual([]); // Its claim has not lapsed yet: the first sender may only be slow.
  await world.sql(`update processes set waking_until = now() - interval '1 second'`);
  await pass();
  expect(woken).toEqual(['intent/int_a']);
  await pass();
  expect(woken).toEqual(['intent/int_a']);
});

test('a change during the signal is told by another one', async () => {
  woken.length = 0;
  await world.sql(`update processes set wanted_wake = true, waking_until = now() + interval '1 minute'`);
  await pass();
  expect(woken).toEqual([]);
  await world.sql('update processes set waking_until = null');
  await pass();
  expect(woken).toEqual(['intent/int_a']);
});
