/**
 * Goal: a connection to PostgreSQL that stays open and silent keeps no batch, and so none of the later ones, waiting.
 * Method: real PostgreSQL behind a proxy of which connections become half open and stay so.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import * as z from 'zod';
import { type Database, databaseOf, isDatabaseAway } from '../../src/db/database.ts';
import { groupCommit } from '../../src/db/group-commit.ts';
import { type Orm, openDatabase } from '../../src/db/orm.ts';
import { rowsOf } from '../../src/db/statement.ts';
import { entities } from '../../src/main/modules/index.ts';
import { type FaultyLink, startFaultyLink } from '../load/faulty-link.ts';

let link: FaultyLink;
let orm: Orm;
let database: Database;
beforeAll(async () => {
  const url = new URL(`${process.env.TEST_PG}postgres`);
  link = await startFaultyLink({ host: url.hostname, port: Number(url.port) });
  url.host = `127.0.0.1:${link.port}`;
  orm = await openDatabase({ url: url.href, entities, poolSize: 4, applicationName: 'bursar-test' });
  database = databaseOf(orm);
});
afterAll(async () => {
  await orm?.close();
  await link.close();
});

const row = z.object({ value: z.int() });
const write = (items: readonly number[], answeredWithinMs: number) =>
  rowsOf(database.read(), row, 'select unnest($1::int[]) as value', [items], { answeredWithinMs });

/** Each question is swallowed, and its connection stays open. */
const silence = () => link.begin(1, { share: 1, lateMs: 0, halfOpenMs: 2 ** 31 - 2, kinds: ['half open'] });
const heal = () => link.begin(1, { share: 0, lateMs: 0, halfOpenMs: 0 });

test('a statement whose connection is silent ends as when the database is away, and the next one is answered', async () => {
  expect(await write([1], 60_000)).toEqual([{ value: 1 }]);
  silence();
  const error = await write([2], 100).catch((one: unknown) => one);
  expect(isDatabaseAway(error)).toBe(true);
  heal();
  expect(await write([3], 60_000)).toEqual([{ value: 3 }]);
});

test('a batch on a silent connection is repeated on another one, and what came meanwhile is written', async () => {
  let attempts = 0;
  const submit = groupCommit(async (items: readonly number[]) => {
    attempts += 1;
    if (attempts === 1) silence();
    else heal();
    const rows = await write(items, attempts === 1 ? 100 : 60_000);
    return rows.map(({ value }) => value);
  });
  expect(await Promise.all([submit(1), submit(2), submit(3)])).toEqual([1, 2, 3]);
  expect(attempts).toBe(3);
});
