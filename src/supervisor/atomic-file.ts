/**
 * Writes a file so that a reader, or a start after a crash, sees the whole of it or nothing. Readable by us alone.
 * @module
 */
import { link, mkdtemp, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

export async function writeAtomically(path: string, text: string, mode = 0o600): Promise<void> {
  await viaHalf(path, text, mode, (half) => rename(half, path));
}

/** Writes only if there is no file yet; false: another process was first, and its file stays. */
export async function writeOnce(path: string, text: string, mode = 0o600): Promise<boolean> {
  try {
    await viaHalf(path, text, mode, (half) => link(half, path));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  }
}

async function viaHalf(
  path: string,
  text: string,
  mode: number,
  place: (half: string) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(dirname(path), `.${basename(path)}-`));
  const half = join(folder, 'half');
  try {
    const file = await open(half, 'wx', mode);
    try {
      await file.chmod(mode);
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await place(half);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
