/**
 * Applies the SQL functions of `functions/*.sql`: each file whose text the database does not have yet, in one
 * transaction, after the migrations. A file contains only `create or replace function`, so each function is read and
 * changed in one place.
 * @module
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { ClientBase } from 'pg';

const folder = new URL('./functions/', import.meta.url);

/** Returns the names of the files applied now. The caller keeps others from doing the same meanwhile. */
export async function replaceFunctions(client: ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string; sha256: string }>('select name, sha256 from sql_functions');
  const had = new Map(rows.map(({ name, sha256 }) => [name, sha256]));
  const changed = (await functionFiles()).filter(({ name, sha256 }) => had.get(name) !== sha256);
  if (changed.length === 0) return [];
  await client.query('begin');
  try {
    // The files may name each other's functions, in any order.
    await client.query('set local check_function_bodies = off');
    for (const { name, sha256, text } of changed) {
      await client.query(text);
      await client.query(
        `insert into sql_functions values ($1, $2) on conflict (name) do update set sha256 = excluded.sha256`,
        [name, sha256],
      );
    }
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
  return changed.map(({ name }) => name);
}

async function functionFiles() {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.sql')).sort();
  return Promise.all(
    files.map(async (file) => {
      const text = await readFile(new URL(file, folder), 'utf8');
      const sha256 = createHash('sha256').update(text).digest('hex');
      return { name: file.replace(/\.sql$/, ''), sha256, text };
    }),
  );
}
