/**
 * ready.json: the addresses and keys of a running installation, for its user only (mode 600). Complete or absent, never
 * partial.
 * @module
 */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeAtomically } from './atomic-file.ts';

export type Ready = {
  apiUrl: string;
  docsUrl: string;
  apiKey: string;
  ownerId: string;
  dashboardSecret: string;
  networkKey: string;
  temporalAddress: string;
  temporalUiUrl: string | null;
  temporalNamespace: string;
  temporalCli: string | null;
  databaseUrl: string;
  sandboxUrl: string | null;
};

export function readyFile(dir: string): string {
  return join(dir, 'ready.json');
}

export async function writeReady(dir: string, ready: Ready): Promise<string> {
  await writeAtomically(readyFile(dir), `${JSON.stringify(ready, null, 2)}\n`);
  return readyFile(dir);
}

export async function readReady(dir: string): Promise<Ready | undefined> {
  try {
    return JSON.parse(await readFile(readyFile(dir), 'utf8')) as Ready;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return undefined;
  }
}

export async function removeReady(dir: string): Promise<void> {
  await rm(readyFile(dir), { force: true });
}
