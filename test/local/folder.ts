/**
 * Folders of a test file's own that the system user postgres can pass through, removed at its end with what they
 * caused to lie elsewhere.
 * @module
 */

import { existsSync } from 'node:fs';
import { chmod, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from '@jest/globals';
import { folderElsewhere } from '../../src/supervisor/postgres-place.ts';

const made: string[] = [];

export async function testFolder(): Promise<string> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), 'bursar-local-')));
  await chmod(dir, 0o711);
  made.push(dir);
  return dir;
}

afterAll(async () => {
  for (const dir of made) {
    for (const dataDir of [dir, join(dir, '.bursar')].filter(existsSync)) {
      await rm(await folderElsewhere(dataDir), { recursive: true, force: true });
    }
    await rm(dir, { recursive: true, force: true });
  }
});
