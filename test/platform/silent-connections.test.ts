/**
 * Goal: a connection to PostgreSQL that is open and silent keeps nobody waiting, and a statement that works may take as
 * long as it needs. Method: real PostgreSQL behind a proxy that loses questions, answers, or everything.
 * @module
 */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import * as z from 'zod';
import { type Database, databaseOf, isDatabaseAway } from '../../src/db/database.ts';
import { startListener } from '../../src/db/listener.ts';
import { type Orm, openDatabase } from '../../src/db/orm.ts';
import { oneRowOf, runSql } from '../../src/db/statement.ts';
import { entities } from '../../src/main/modules/index.ts';
import { checkPostgres } from '../../src/supervisor/checks.ts';
import { startWire, type Wire } from '../support/wire.ts';
import { eventually } from '../support/world.ts';

const server = `${process.env.TEST_PG}postgres`;
const applicationName = 'bursar-silent';
let wire: Wire;
let direct: pg.Client;
let orm: Orm;
let database: Database;
beforeAll(async () => {
  direct = new pg.Client({ connectionString: server });
  await direct.connect();
  await direct.query('create table if not exists silent_rows (id text primary key)');
  wire = await startWire(server);
});
beforeEach(async () => {
  wire.heal();
  await orm?.close();
  const options = { entities, poolSize: 2, poolTimeoutMs: 20_000, lookEveryMs: 100 };
  orm = await openDatabase({ url: wire.via(server), applicationName, ...options });
  database = databaseOf(orm);
  expect(await answer()).toBe(42);
});
afterAll(async () => {
  await orm?.close();
  await wire.close();
  await direct.query('drop table silent_rows');
  await direct.end();
});

const row = z.object({ answer: z.int() });
const answer = async (tx = database.read()) => (await oneRowOf(tx, row, 'select 42 as answer')).answer;
const errorOf = (work: Promise<unknown>) => work.then(() => undefined).catch((error: unknown) => error);
const sessions = async () => {
  const found = await direct.query('select pid from pg_stat_activity where application_name = $1', [applicationName]);
  return found.rows.length;
};

test.each(['question', 'answer'] as const)(
  'a statement whose %s is lost ends as when the database is away, and the next one is answered',
  async (lost) => {
    wire.lose(lost, 'select 42', 1);
    expect(isDatabaseAway(await errorOf(answer()))).toBe(true);
    expect(wire.lost()).toBe(1);
    expect(await answer()).toBe(42);
    await eventually(sessions, (count) => count <= 2);
  },
);

test('the locks of a transaction whose answer is lost are given back, and it has changed nothing', async () => {
  const insert = (tx = database.read()) => runSql(tx, `insert into silent_rows values ('mine')`);
  wire.lose('answer', 'silent_rows', 1);
  const writing = database.write(async (tx) => {
    // PostgreSQL itself would end it after a minute.
    await runSql(tx, 'set local idle_in_transaction_session_timeout = 0');
    return insert(tx);
  });
  expect(isDatabaseAway(await errorOf(writing))).toBe(true);
  // Waits for the lock of the key until the transaction is gone.
  expect(await insert()).toBe(1);
  expect((await direct.query('select id from silent_rows')).rows).toEqual([{ id: 'mine' }]);
});

test('every connection of the pool is silent at once: all that wait are told, and the pool serves again', async () => {
  for (let round = 0; round < 2; round += 1) {
    wire.lose('answer', 'select 42');
    const all = Array.from({ length: 2 }, () => errorOf(database.write((tx) => answer(tx))));
    expect((await Promise.all(all)).map(isDatabaseAway)).toEqual([true, true]);
    wire.heal();
    expect(await Promise.all([answer(), answer(), answer()])).toEqual([42, 42, 42]);
  }
  await eventually(sessions, (count) => count <= 2);
});

test('a statement that works, or waits for a lock, is not cut, however long it takes', async () => {
  const asking = new pg.Client({ connectionString: server });
  await asking.connect();
  try {
    await asking.query('begin');
    await asking.query('lock table silent_rows in access exclusive mode');
    const slow = oneRowOf(database.read(), row, 'select 42 as answer from pg_sleep(3)');
    const locked = oneRowOf(database.read(), row, 'select 42 as answer from (select count(*) from silent_rows) c');
    expect((await slow).answer).toBe(42);
    await asking.query('commit');
    expect((await locked).answer).toBe(42);
  } finally {
    await asking.end();
  }
});

const sleeping = `select pid from pg_stat_activity where application_name = 'bursar-away' and wait_event = 'PgSleep'`;

test('while nobody answers on any connection, what waits ends', async () => {
  const impatient = await openDatabase({
    ...{ url: wire.via(server), applicationName: 'bursar-away', entities, poolSize: 2 },
    ...{ poolTimeoutMs: 2_000, lookEveryMs: 100 },
  });
  try {
    const one = databaseOf(impatient);
    await eventually(
      () => answer(one.read()).catch(() => 0),
      (found) => found === 42,
    );
    const slow = errorOf(oneRowOf(one.read(), row, 'select 42 as answer from pg_sleep(1000)'));
    await eventually(
      async () => (await direct.query(sleeping)).rows.length,
      (count) => count === 1,
    );
    wire.goSilent();
    expect(isDatabaseAway(await slow)).toBe(true);
    wire.heal();
    await eventually(
      () => answer(one.read()).catch(() => 0),
      (found) => found === 42,
    );
  } finally {
    await impatient.close();
    await direct.query(`select pg_terminate_backend(pid) from (${sleeping}) s`);
  }
});

test('a connection that falls silent before its first statement is answered keeps no place in the pool', async () => {
  const impatient = await openDatabase({
    ...{ url: wire.via(server), applicationName: 'bursar-first', entities, poolSize: 2 },
    ...{ poolTimeoutMs: 1_000, lookEveryMs: 100 },
  });
  const firsts = async () =>
    (await direct.query(`select 1 from pg_stat_activity where application_name = 'bursar-first'`)).rows.length;
  try {
    const one = databaseOf(impatient);
    await direct.query(
      `select pg_terminate_backend(pid, 60000) from pg_stat_activity where application_name = 'bursar-first'`,
    );
    wire.lose('question', 'pg_backend_pid');
    const all = await Promise.all(Array.from({ length: 6 }, () => errorOf(answer(one.read()))));
    expect(all.filter((one) => !isDatabaseAway(one))).toEqual([]);
    expect(wire.lost()).toBeGreaterThanOrEqual(1);
    await eventually(firsts, (count) => count === 0);
    wire.heal();
    await eventually(
      () => Promise.all([answer(one.read()), answer(one.read())]).catch(() => []),
      (found) => found.length === 2,
    );
    expect(await firsts()).toBeLessThanOrEqual(2);
  } finally {
    await impatient.close();
  }
});

test('a listener on a silent connection is stopped, though the other side never closes', async () => {
  const heard = { listening: 0 };
  const listener = startListener({
    ...{ url: wire.via(server), applicationName: 'bursar-heard', channels: { nothing: () => undefined } },
    log: { debug: () => undefined },
    onListening: (isListening) => {
      heard.listening += Number(isListening);
    },
  });
  await eventually(
    async () => heard.listening,
    (times) => times > 0,
  );
  wire.goSilent();
  await listener.stop();
  expect(heard.listening).toBe(1);
});

test('the check of a start says that a server which accepts and answers nothing does not answer', async () => {
  await checkPostgres(wire.via(server));
  wire.lose('question', 'server_version');
  await expect(checkPostgres(wire.via(server))).rejects.toThrow('no PostgreSQL answers at');
  expect(wire.lost()).toBe(1);
});
