/** A start that is killed while Temporal makes its tables must not keep every later one from starting. @module */
import { existsSync } from 'node:fs';
import { copyFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
// biome-ignore lint/correctness/noUnresolvedImports: part of Node since 22.5, which the linter does not list yet.
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from '@jest/globals';
import { clearHalfMade } from '../../src/supervisor/temporal-file.ts';
import { testFolder } from './folder.ts';

test('an incomplete file is removed with its journal files, a complete one stays', async () => {
  const dir = await testFolder();
  const file = join(dir, 'temporal.db');
  const made = (...statements: string[]) => {
    const database = new DatabaseSync(file);
    for (const statement of ['pragma journal_mode = wal', ...statements]) database.exec(statement);
    database.close();
  };
  await writeFile(`${file}-wal`, 'of a file that is gone');
  await clearHalfMade(file);
  expect(await readdir(dir)).toEqual([]);

  for (const statements of [[], ['create table executions (id)'], ['create table namespaces (id)']]) {
    made(...statements);
    await clearHalfMade(file);
    expect(await readdir(dir)).toEqual([]);
  }

  made('create table namespaces (id)', `insert into namespaces values ('default')`);
  await clearHalfMade(file);
  expect(existsSync(file)).toBe(true);
});

test('a complete file with the journal of a killed server stays', async () => {
  const [dir, copy] = [await testFolder(), await testFolder()];
  const database = new DatabaseSync(join(dir, 'temporal.db'));
  database.exec('pragma journal_mode = wal; create table namespaces (id); insert into namespaces values (1)');
  for (const end of ['', '-wal']) await copyFile(join(dir, `temporal.db${end}`), join(copy, `temporal.db${end}`));
  database.close();
  await clearHalfMade(join(copy, 'temporal.db'));
  expect(await readdir(copy)).toContain('temporal.db-wal');
});
