/**
 * Makes a folder and the folders above it. Node's own recursive `mkdir` never returns where the file system refuses a
 * folder with ENOENT although its parent exists, as /proc does.
 * @module
 */
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Returns the first folder that it made, or undefined when all existed. `mode` is given to the folders it makes. */
export async function makeFolder(path: string, mode = 0o777): Promise<string | undefined> {
  try {
    await mkdir(path, { mode });
    return path;
  } catch (error) {
    if (await isFolder(path)) return undefined;
    const parent = dirname(path);
    if (!isMissing(error) || parent === path) throw error;
    const first = await makeFolder(parent, mode);
    await mkdir(path, { mode });
    return first ?? path;
  }
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';
