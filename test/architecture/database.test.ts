/** Three ways to access the database, and no other: the type of every row is checked. @module */
import { readdir, readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';

const root = new URL('../../', import.meta.url);

async function filesWith(form: RegExp): Promise<string[]> {
  const found: string[] = [];
  for (const folder of ['src', 'activities', 'workflows']) {
    const files = await readdir(new URL(`${folder}/`, root), { recursive: true });
    for (const file of files.filter((name) => name.endsWith('.ts'))) {
      const path = `${folder}/${file}`;
      if (path.startsWith('src/db/')) continue;
      if (form.test(await readFile(new URL(path, root), 'utf8'))) found.push(path);
    }
  }
  return found.sort();
}

/** Not the product's database: the simulated outside world has its own, and these prepare or examine a server. */
const ofTheServer = /^src\/(sandbox|supervisor)\/|^src\/main\/(bootstrap|migrate|temporal-setup)/;

test('no file outside of src/db sends a statement through a client or a pool', async () => {
  const files = await filesWith(/\b(client|pool)\.query\(/);
  expect(files.filter((file) => !ofTheServer.test(file))).toEqual([]);
});

test('no file outside of src/db executes a statement whose rows are neither typed by a query nor parsed', async () => {
  expect(await filesWith(/from '[^']*db\/execute\.ts'/)).toEqual([]);
  expect(await filesWith(/\b(tx|em)\.(execute|getConnection)\(/)).toEqual([]);
});

test('no file claims the type of a row: rows are typed by a query, or parsed', async () => {
  expect(await filesWith(/\b(rows|oneRow)</)).toEqual([]);
  expect(await filesWith(/\bz\.(any|custom<[^>]*>)\(\)/)).toEqual([]);
});

test('no SQL template of a query has a type from a cast', async () => {
  expect(await filesWith(/sql<[^>]*>`[^`]*`\s*as\s+(?!const)/)).toEqual([]);
});
