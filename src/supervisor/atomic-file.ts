/**
 * Writes a file atomically, so that a reader, or a start after a crash, sees all of it or nothing. Readable only by its
 * user.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { link, rm } from 'node:fs/promises';
import writeFileAtomic from 'write-file-atomic';

export const writeAtomically = (path: string, text: string, mode = 0o600): Promise<void> =>
  writeFileAtomic(path, text, { mode });

/** Writes only when the file does not exist. Returns false when another process wrote it first; that file stays. */
export async function writeOnce(path: string, text: string, mode = 0o600): Promise<boolean> {
  const complete = `${path}.${randomUUID()}`;
  await writeAtomically(complete, text, mode);
  try {
    await link(complete, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  } finally {
    await rm(complete, { force: true });
  }
}
