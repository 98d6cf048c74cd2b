/**
 * Where the command finds the service and its secrets: flags, the environment, the file that `bursar init` wrote, and
 * the running installation. A stored secret is only used for the service that it was made for.
 * @module
 */
import { chmod, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { makeFolder } from '../platform/make-folder.ts';
import { writeAtomically } from '../supervisor/atomic-file.ts';
import { dataDirPath } from '../supervisor/data-dir.ts';
import { type Ready, readReady } from '../supervisor/ready-file.ts';
import { CommandError, exitCodes } from './exit-codes.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

const kept = z.object({
  agentId: z.string().optional(),
  agentToken: z.string().optional(),
  /** Only of an owner that `init --new-owner` made. */
  ownerKey: z.string().optional(),
  /** Signs what `listen` forwards. */
  listenSecret: z.string().optional(),
  /** How far `listen` of an earlier version forwarded. */
  positions: z.record(z.string(), z.int()).optional(),
});
/** What is kept for one service. */
export type Kept = z.output<typeof kept>;

const file = z.object({
  /** The service of the last `init`: commands go there unless another one is named. */
  current: z.string(),
  services: z.record(z.string(), kept),
});
type File = z.output<typeof file>;

/** Of an earlier version: one service. */
const fileOfOne = kept
  .extend({ apiUrl: z.string() })
  .transform(({ apiUrl, ...own }): File => ({ current: apiUrl, services: { [apiUrl]: own } }));

export type Settings = {
  readonly apiUrl: string;
  readonly ownerKey: string | undefined;
  readonly agentToken: string | undefined;
  /** What is kept for this service. */
  readonly kept: Kept;
  readonly file: string;
  readonly ready: Ready | undefined;
};

export const settingsFile = (env: Environment): string =>
  env.BURSAR_CLI_FILE ?? join(dataDirPath({ ...env }), 'cli.json');

export async function readSettings(env: Environment, given: { readonly api?: string | undefined }): Promise<Settings> {
  const file = settingsFile(env);
  const [found, ready] = [await readFileOf(file), await readReady(dataDirPath({ ...env }))];
  const apiUrl = (
    given.api ??
    env.BURSAR_API_URL ??
    found?.current ??
    ready?.apiUrl ??
    'http://localhost:8400'
  ).replace(/\/$/, '');
  const own = found?.services[apiUrl] ?? {};
  const local = ready?.apiUrl === apiUrl ? ready : undefined;
  return {
    apiUrl,
    ownerKey: env.BURSAR_API_KEY ?? own.ownerKey ?? local?.apiKey,
    agentToken: env.BURSAR_TOKEN ?? own.agentToken,
    kept: own,
    file,
    ready: local,
  };
}

type Place = Pick<Settings, 'file' | 'apiUrl'>;

/** Adds to what is kept for this service, or replaces it. What is kept for others stays. */
export async function keep({ file, apiUrl }: Place, changes: Kept, { isCurrent = false } = {}): Promise<void> {
  const found = await readFileOf(file);
  const contents: File = {
    current: isCurrent ? apiUrl : (found?.current ?? apiUrl),
    services: { ...found?.services, [apiUrl]: { ...found?.services[apiUrl], ...changes } },
  };
  await makeItsFolder(file);
  await writeAtomically(file, `${JSON.stringify(contents, null, 2)}\n`).catch((error: unknown) => {
    throw new CommandError(exitCodes.usage, `${file} cannot be written (${codeOf(error)}): ${remedy}`);
  });
}

const remedy = 'name another file by BURSAR_CLI_FILE';
const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'unknown';

/** The data folder may be made here first: the system user postgres has to pass it later. */
export async function makeItsFolder(file: string): Promise<void> {
  const folder = dirname(file);
  try {
    const made = await makeFolder(folder);
    if (made !== undefined) await chmod(folder, 0o711);
  } catch (error) {
    throw new CommandError(exitCodes.usage, `${folder} cannot be made (${codeOf(error)}): ${remedy}`);
  }
}

async function readFileOf(path: string): Promise<File | undefined> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw new CommandError(exitCodes.usage, `${path} cannot be read (${codeOf(error)}): ${remedy}`);
  });
  if (text === undefined) return undefined;
  if (await isOpenToOthers(path)) {
    throw new CommandError(exitCodes.usage, `${path} holds a token and others may read it: chmod 600 ${path}`);
  }
  const parsed = z.union([file, fileOfOne]).safeParse(jsonOf(text));
  if (!parsed.success) throw new CommandError(exitCodes.usage, `${path} is damaged: delete it, then run bursar init`);
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
