/** Goal: entities and migrated tables agree. Method: every mapped column is looked up in the database itself. @module */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
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
