/** Goal: entities and migrated tables agree. Method: every mapped column is looked up in the database itself. @module */
import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { EntitySchema } from '@mikro-orm/core';
import * as z from 'zod';
import { columnNameOf } from '../../../src/db/column-names.ts';
import { openDatabase } from '../../../src/db/orm.ts';
import { entities } from '../../../src/main/modules/index.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(async () => {
  await world.close();
});

test('every mapped column exists, and is nullable exactly where the entity says so', async () => {
  const orm = await openDatabase({ url: world.config.DATABASE_URL, entities, poolSize: 2, applicationName: 'test' });
  try {
    const differences: string[] = [];
    for (const meta of Object.values(orm.getMetadata().getAll())) {
      const columns = await world.sql<{ column_name: string; is_nullable: string }>(
        'select column_name, is_nullable from information_schema.columns where table_name = $1',
        [meta.tableName],
      );
      const nullable = new Map(columns.map((column) => [column.column_name, column.is_nullable === 'YES']));
      for (const property of meta.props) {
        for (const column of property.fieldNames ?? []) {
          const place = `${meta.tableName}.${column}`;
          if (!nullable.has(column)) differences.push(`${place} is missing`);
          else if (nullable.get(column) !== (property.nullable === true))
            differences.push(`${place} differs in nullability`);
        }
      }
    }
    expect(differences).toEqual([]);
  } finally {
    await orm.close();
  }
});

/** A property is declared by a builder, or as plain options once its schema is initialized. */
const isNullable = (property: object): boolean =>
  z
    .union([
      z.object({ '~options': z.object({ nullable: z.boolean().optional() }) }).transform((built) => built['~options']),
      z.object({ nullable: z.boolean().optional() }),
    ])
    .parse(property).nullable === true;

/** Also of the tables that no entity manager maps and only typed queries read. */
test('every declared column has its name and nullability in the database, and typed queries find it', async () => {
  const root = new URL('../../../src/', import.meta.url);
  const files = (await readdir(root, { recursive: true })).filter((file) => file.endsWith('.entity.ts'));
  const differences: string[] = [];
  let tables = 0;
  for (const file of files) {
    const exported: Record<string, unknown> = await import(new URL(file, root).href);
    for (const schema of Object.values(exported)) {
      if (!(schema instanceof EntitySchema)) continue;
      tables += 1;
      const { tableName = '', properties } = schema.meta;
      const columns = await world.sql<{ column_name: string; is_nullable: string }>(
        'select column_name, is_nullable from information_schema.columns where table_name = $1',
        [tableName],
      );
      const nullable = new Map(columns.map((column) => [column.column_name, column.is_nullable === 'YES']));
      for (const [name, property] of Object.entries(properties)) {
        const found = nullable.get(columnNameOf(name));
        if (found === undefined) differences.push(`${tableName}.${name} is missing`);
        else if (found !== isNullable(property)) differences.push(`${tableName}.${name} differs in nullability`);
      }
    }
  }
  expect(differences).toEqual([]);
  expect(tables).toBeGreaterThan(30);
});
