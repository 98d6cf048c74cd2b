/**
 * Opens the data folder of a local installation. Other users may pass through it (the system user postgres has to) but
 * not list it; its files are readable by its owner alone.
 * @module
 */
import { constants } from 'node:fs';
import { access, chmod, realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeFolder } from '../platform/make-folder.ts';

export const projectRoot = fileURLToPath(new URL('../..', import.meta.url));

/** `BURSAR_DATA_DIR`, else `.bursar` in the project; answers its real path. */
export async function openDataDir(env: NodeJS.ProcessEnv): Promise<string> {
  const path = dataDirPath(env);
  try {
    return await openFolder(path);
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    throw new Error(`${path} cannot be made or written by this user (${code}): set BURSAR_DATA_DIR to another folder`);
  }
}

async function openFolder(path: string): Promise<string> {
  // the mode of a folder that is not ours to make (a home folder, a mount) stays as it is
  const made = await makeFolder(path);
  if (made !== undefined) await chmod(path, 0o711);
  await makeFolder(join(path, 'logs'), 0o700);
  await access(path, constants.W_OK | constants.X_OK);
  await access(join(path, 'logs'), constants.W_OK | constants.X_OK);
  return realpath(path);
}

export function dataDirPath(env: NodeJS.ProcessEnv): string {
  return env.BURSAR_DATA_DIR ? resolve(env.BURSAR_DATA_DIR) : join(projectRoot, '.bursar');
}
