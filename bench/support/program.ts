/**
 * Processes beside the bench, separate as in a real deployment: the API, a floor, the load. Says what
 * CPU time they took. Knows nothing of what they do.
 * @module
 */
import { type ChildProcess, fork } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { apiNodeOptions, nodeOptions } from '../../src/supervisor/node-options.ts';
import type { Ending } from './run.ts';

export type Program = { readonly pid: number; readonly url: string; readonly child: ChildProcess };

/** Ready when it says so over its channel, as every program of ours does. */
export async function startProgram(
  entry: string,
  env: Readonly<Record<string, string>>,
  atEnd: Ending,
  options = nodeOptions,
): Promise<Program> {
  const path = fileURLToPath(new URL(`../../${entry}`, import.meta.url));
  const { PATH = '', HOME = '', BENCH_NODE_OPTIONS = '' } = process.env;
  const child = fork(path, {
    env: { PATH, HOME, ...env },
    execArgv: [...options, ...BENCH_NODE_OPTIONS.split(' ').filter(Boolean)],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  atEnd(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  });
  const said = await Promise.race([
    once(child, 'message').then(([message]) => message as { url?: string }),
    once(child, 'exit').then(() => undefined),
  ]);
  if (said === undefined) throw new Error(`${entry} ended before it was ready`);
  return { pid: child.pid as number, url: said.url ?? '', child };
}

export type ApiProgram = Program & {
  readonly apiKey: string;
  readonly networkKey: string;
  readonly bankKey: string;
  /** For a second process beside it. */
  readonly secrets: Readonly<Record<string, string>>;
};

type ApiOptions = {
  readonly databaseUrl: string;
  readonly dir: string;
  /** Settings that differ from those of the other benches. */
  readonly env?: Readonly<Record<string, string>>;
};

/**
 * Live mode does not validate its answers and reads no sandbox clock. The limiter is on, its ceiling out of the way.
 */
export async function startApi(
  mode: 'live' | 'sandbox',
  { databaseUrl, dir, env: own = {} }: ApiOptions,
  atEnd: Ending,
): Promise<ApiProgram> {
  const apiKey = `sk_${mode}_${randomBytes(16).toString('hex')}`;
  const [networkKey, bankKey] = [randomBytes(32).toString('hex'), randomBytes(32).toString('hex')];
  const secrets = {
    BURSAR_API_KEY: apiKey,
    BURSAR_NETWORK_KEY: networkKey,
    BURSAR_BANK_KEY: bankKey,
    BURSAR_VAULT_KEY: randomBytes(32).toString('base64'),
    BURSAR_SIGNING_KEY: generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
  };
  const env = {
    BURSAR_MODE: mode,
    BURSAR_DATA_DIR: dir,
    PORT: '0',
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: '127.0.0.1:9',
    ...secrets,
    ...nobodyOutside,
    ...own,
  };
  return {
    ...(await startProgram('src/main/api.ts', env, atEnd, apiNodeOptions)),
    apiKey,
    networkKey,
    bankKey,
    secrets,
  };
}

/** Live in every other way. */
export const nobodyOutside = {
  BURSAR_RATE_LIMIT_PER_MINUTE: '1000000000',
  BURSAR_SANDBOX_URL: 'http://127.0.0.1:9',
  BURSAR_ALLOW_SIMULATED: 'true',
} as const;
