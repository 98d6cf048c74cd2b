/** Goal: what areas register is complete. Method: the modules against the migrations and the workflow bundle. @module */
import { readdir, readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { intentsArea } from '../../src/domains/spending/intents/intent.contract.ts';
import { modules, ownerOfTable, publishedAreas, workflows } from '../../src/main/modules/index.ts';
import { servedArea } from '../../src/main/modules/module.ts';
import { workflowRegistry } from '../../src/temporal/workflow-registry.ts';

const migrations = new URL('../../src/db/migrations/', import.meta.url);

async function tablesOfMigrations(): Promise<string[]> {
  const tables = new Set<string>();
  for (const file of (await readdir(migrations)).sort()) {
    const sql = await readFile(new URL(file, migrations), 'utf8');
    const statements = sql.matchAll(
      /\b(?:create table (?:if not exists )?(\w+)|drop table (?:if exists )?(\w+)|alter table (?:only )?(\w+) rename to (\w+))/gi,
    );
    for (const [, created, dropped, renamed, newName] of statements) {
      if (created !== undefined) tables.add(created);
      if (dropped !== undefined) tables.delete(dropped);
      if (renamed !== undefined && newName !== undefined) {
        tables.delete(renamed);
        tables.add(newName);
      }
    }
  }
  return [...tables].sort();
}

test('every table belongs to exactly one area', async () => {
  const registered = modules.flatMap(({ areas }) => areas.flatMap(({ tables }) => tables));
  expect(registered.filter((table, index) => registered.indexOf(table) !== index)).toEqual([]);
  expect([...ownerOfTable.keys()].sort()).toEqual(await tablesOfMigrations());
});

test('every workflow of the bundle is registered, and no other', async () => {
  const bundle = await readFile(new URL('../../workflows/index.ts', import.meta.url), 'utf8');
  const exported = [...bundle.matchAll(/export \{ (\w+) \}/g)].map(([, name]) => name);
  expect([...workflows.keys()].sort()).toEqual(exported.sort());
});

test('two workflow types cannot share a name or an id prefix', () => {
  const [one, other] = [...workflows.values()];
  if (one === undefined || other === undefined) throw new Error('expected two workflows');
  expect(() => workflowRegistry([one, { ...other, type: one.type }])).toThrow('registered twice');
  expect(() => workflowRegistry([one, { ...other, idPrefix: one.idPrefix }])).toThrow('same id prefix');
});

test('each area has one place in the documentation', () => {
  const positions = modules.flatMap(({ areas }) => areas.flatMap(({ served }) => served?.position ?? []));
  expect(positions.filter((position, index) => positions.indexOf(position) !== index)).toEqual([]);
  expect(publishedAreas.map(({ tag }) => tag).slice(0, 3)).toEqual(['Health', 'Customers', 'Limits']);
});

test('an area without a handler, and a workflow without a summary, do not compile', () => {
  // The compiler checks this file, too: it reports an expected error that does not occur.
  const incomplete = () => [
    servedArea('intents', {
      contract: intentsArea,
      position: 1,
      tables: [],
      // @ts-expect-error no handler of the contract's operations is given
      handlers: () => ({}),
    }),
    servedArea('intents', {
      contract: intentsArea,
      position: 1,
      tables: [],
      handlers: () => {
        throw new Error('not called');
      },
      // @ts-expect-error the summary is missing
      workflows: [{ type: 'intentLifecycle', idPrefix: 'intent', queue: 'main' }],
    }),
  ];
  expect(typeof incomplete).toBe('function');
});
