/**
 * Connections that die under open transactions leave no hole in the pool, however many of them there are: the
 * processes outlive their database.
 * @module
 */

import { expect, test } from '@jest/globals';
import * as z from 'zod';
import { databaseOf } from '../../../src/db/database.ts';
import { openDatabase } from '../../../src/db/orm.ts';
import { oneRowOf, runSql } from '../../../src/db/statement.ts';
import { entities } from '../../../src/main/modules/index.ts';
import { startWorld } from '../../support/world.ts';

test('every connection is cut under its transaction, three times over, and the pool serves again', async () => {
  const world = await startWorld();
  const poolSize = 3;
  const url = world.config.DATABASE_URL;
  const orm = await openDatabase({ url, entities, poolSize, applicationName: 'dead-connections' });
  const database = databaseOf(orm);
  try {
    for (let round = 0; round < 3; round += 1) {
      const inside = Array.from({ length: poolSize }, () => Promise.withResolvers<void>());
      const cut = Promise.withResolvers<void>();
      const writing = inside.map(({ resolve }) =>
        database.write(async (tx) => {
          await runSql(tx, 'select 1');
          resolve();
          await cut.promise;
          return runSql(tx, 'select 2');
        }),
      );
      const ends = Promise.allSettled(writing);
      await Promise.all(inside.map(({ promise }) => promise));
      const killed = await world.sql(
        // Returns when they are gone, so that the next round counts none of them again.
        "select pg_terminate_backend(pid, 60000) from pg_stat_activity where application_name = 'dead-connections'",
      );
      expect(killed).toHaveLength(poolSize);
      cut.resolve();
      expect((await ends).map(({ status }) => status)).toEqual(Array.from({ length: poolSize }, () => 'rejected'));
      const served = await Promise.all(
        Array.from({ length: 2 * poolSize }, () =>
          database.write((tx) => oneRowOf(tx, z.object({ answer: z.int() }), 'select 42 as answer')),
        ),
      );
      expect(served.map(({ answer }) => answer)).toEqual(Array.from({ length: 2 * poolSize }, () => 42));
    }
  } finally {
    await orm.close();
    await world.close();
  }
});
