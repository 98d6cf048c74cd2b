/**
 * Where the command finds the service and its secrets: flags, the environment, the file that `bursar init` wrote, and
 * the running installation. A stored secret is only used for the service that it was made for.
 * @module
 */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { writeAtomically } from '../supervisor/atomic-file.ts';
import { dataDirPath } from '../supervisor/data-dir.ts';
import { type Ready, readReady } from '../supervisor/ready-file.ts';
import { CommandError, exitCodes } from './exit-codes.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

const stored = z.object({
  apiUrl: z.string(),
  agentId: z.string().optional(),
  agentToken: z.string().optional(),
  /** Only of an owner that `init --new-owner` made. */
  ownerKey: z.string().optional(),
  /** Signs what `listen` forwards. */
  listenSecret: z.string().optional(),
  /** How far `listen` forwarded, by address. */
  positions: z.record(z.string(), z.int()).default({}),
});
export type Stored = z.output<typeof stored>;

export type Settings = {
  readonly apiUrl: string;
  readonly ownerKey: string | undefined;
  readonly agentToken: string | undefined;
  /** What `init` wrote for this service. */
  readonly stored: Stored;
  readonly file: string;
  readonly ready: Ready | undefined;
};

export const storedFile = (env: Environment): string =>
  env.BURSAR_CLI_FILE ?? join(dataDirPath({ ...env }), 'cli.json');

export async function readSettings(env: Environment, given: { readonly api?: string | undefined }): Promise<Settings> {
  const file = storedFile(env);
  const [found, ready] = [await readStored(file), await readReady(dataDirPath({ ...env }))];
  const apiUrl = (given.api ?? env.BURSAR_API_URL ?? found?.apiUrl ?? ready?.apiUrl ?? 'http://localhost:8400').replace(
    /\/$/,
    '',
  );
  const own = found?.apiUrl === apiUrl ? found : { apiUrl, positions: {} };
  const local = ready?.apiUrl === apiUrl ? ready : undefined;
  return {
    apiUrl,
    ownerKey: env.BURSAR_API_KEY ?? own.ownerKey ?? local?.apiKey,
    agentToken: env.BURSAR_TOKEN ?? own.agentToken,
    stored: own,
    file,
    ready: local,
  };
}

/** Refused where the file belongs to another service, whose secrets are nowhere else. */
export async function writeStored(file: string, contents: Stored): Promise<void> {
  const found = await readStored(file);
  if (found !== undefined && found.apiUrl !== contents.apiUrl) {
    throw new CommandError(
      exitCodes.usage,
      `${file} holds the secrets of ${found.apiUrl}: name another file by BURSAR_CLI_FILE for ${contents.apiUrl}`,
    );
  }
  await writeAtomically(file, `${JSON.stringify(contents, null, 2)}\n`);
}

async function readStored(file: string): Promise<Stored | undefined> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new CommandError(exitCodes.usage, `${file} cannot be read (${error.code})`);
  });
  if (text === undefined) return undefined;
  if (await isOpenToOthers(file)) {
    throw new CommandError(exitCodes.usage, `${file} holds a token and others may read it: chmod 600 ${file}`);
  }
  const parsed = stored.safeParse(jsonOf(text));
  if (!parsed.success) throw new CommandError(exitCodes.usage, `${file} is damaged: delete it, then run bursar init`);
  return parsed.data;
}

/** Windows has no such modes. */
export const isOpenToOthers = async (file: string): Promise<boolean> =>
  process.platform !== 'win32' && ((await stat(file)).mode & 0o077) !== 0;

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
