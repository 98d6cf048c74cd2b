/**
 * How far `bursar listen` came, by service and address. In a file of its own, because it is written with every event: a
 * token that `init` keeps at the same moment must not be lost.
 * @module
 */
import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import { writeAtomically } from '../supervisor/atomic-file.ts';
import { CommandError, exitCodes } from './exit-codes.ts';
import { makeItsFolder, type Settings } from './settings.ts';

const positions = z.record(z.string(), z.int());
type Where = Pick<Settings, 'file' | 'apiUrl' | 'kept'>;

export async function readPosition(where: Where, address: string): Promise<number | undefined> {
  const place = placeOf(where, address);
  return (await readAll(fileOf(where)))[place] ?? where.kept.positions?.[place];
}

/** Another `listen` may have written the file meanwhile. */
export async function keepPosition(where: Where, address: string, position: number): Promise<void> {
  const [file, place] = [fileOf(where), placeOf(where, address)];
  const all = await readAll(file);
  if (all[place] === position) return;
  await makeItsFolder(file);
  await writeAtomically(file, `${JSON.stringify({ ...all, [place]: position }, null, 2)}\n`);
}

const fileOf = ({ file }: Where): string => file.replace(/(\.json)?$/, '.positions.json');
const placeOf = ({ apiUrl }: Where, address: string): string => `${apiUrl} ${address}`;

async function readAll(file: string): Promise<z.output<typeof positions>> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '{}';
    throw error;
  });
  try {
    return positions.parse(JSON.parse(text));
  } catch (error) {
    throw new CommandError(exitCodes.usage, `${file} is damaged (${(error as Error).name}): delete it, or use --from`);
  }
}
