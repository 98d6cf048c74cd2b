/**
 * Checks before a start: the settings as a whole, and the servers that the environment names. Each problem is one
 * message that an operator can act on, without passwords or keys.
 * @module
 */
import { createPrivateKey } from 'node:crypto';
import { connect as connectSocket } from 'node:net';
import pg from 'pg';
import { connect } from '../temporal/connect.ts';
import type { TemporalSecurity } from '../temporal/security.ts';
import { readVaultKeys } from '../vault/vault-keys.ts';

/** PostgreSQL 18 has `uuidv7()` and the plans that the measured statements rely on. */
const oldestPostgres = 18;
const answerWithinMs = 5_000;

/** Reads the settings of a process from its environment; throws one sentence for each invalid setting. */
export type ReadConfig = (env: NodeJS.ProcessEnv, needs?: readonly 'BURSAR_SIGNING_KEY'[]) => CheckedConfig;
type CheckedConfig = {
  readonly BURSAR_VAULT_KEY: string;
  readonly BURSAR_SIGNING_KEY?: string | undefined;
  readonly BURSAR_SANDBOX_URL?: string | undefined;
  readonly BURSAR_BANK_FOLDER?: string | undefined;
};

/** Checks the environments of the API and of the worker before either is started. */
export function checkConfig(readConfig: ReadConfig, api: NodeJS.ProcessEnv, worker: NodeJS.ProcessEnv): void {
  try {
    readVaultKeys(readConfig(api).BURSAR_VAULT_KEY);
    const { BURSAR_SIGNING_KEY, BURSAR_SANDBOX_URL, BURSAR_BANK_FOLDER } = readConfig(worker, ['BURSAR_SIGNING_KEY']);
    checkSigningKey(BURSAR_SIGNING_KEY ?? '');
    // Only live comes here without a simulator: a sandbox's configuration needs it.
    if (BURSAR_SANDBOX_URL === undefined && BURSAR_BANK_FOLDER === undefined) {
      throw new Error(
        'live needs a bank: set BURSAR_BANK_FOLDER, or use BURSAR_MODE=sandbox. ' +
          'It has no card processor yet, so cards wait for one',
      );
    }
  } catch (error) {
    throw new Error((error as Error).message.replace(/:\n\s*/, ': ').replaceAll(/\n\s*/g, '; '));
  }
}

function checkSigningKey(pem: string): void {
  try {
    if (createPrivateKey(pem).asymmetricKeyType === 'ed25519') return;
  } catch {
    // The library's message names a routine of OpenSSL; the sentence below names the setting.
  }
  throw new Error('BURSAR_SIGNING_KEY must be an Ed25519 private key in PEM');
}

/** `name`: the variable that the address came from. Throws when this database cannot be used. */
export async function checkPostgres(url: string, name = 'DATABASE_URL'): Promise<void> {
  const where = placeOf(url, name);
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: answerWithinMs,
    query_timeout: answerWithinMs,
  });
  client.on('error', () => undefined); // The query below fails with it.
  try {
    await client.connect();
    const { rows } = await client.query<{ server_version: string }>('show server_version');
    const version = rows[0]?.server_version ?? '';
    if (Number.parseInt(version, 10) >= oldestPostgres) return;
    throw new Error(`${name}: ${where} is PostgreSQL ${version}, and ${oldestPostgres} or newer is needed`);
  } catch (error) {
    throw isOwn(error, name) ? error : new Error(`${name}: ${postgresProblem(error, where)}`);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Host, port and database; user and password are left out. */
function placeOf(url: string, name: string): string {
  if (!URL.canParse(url)) throw new Error(`${name} is not a URL such as postgres://user:password@host:5432/bursar`);
  const { hostname, port, pathname } = new URL(url);
  return `${hostname || 'localhost'}:${port || '5432'}${pathname}`;
}

const isOwn = (error: unknown, name: string): boolean =>
  error instanceof Error && error.message.startsWith(`${name}: `) && !('code' in error);

function postgresProblem(error: unknown, where: string): string {
  const code = codeOf(error);
  if (code === '28P01' || code === '28000') return `${where} refuses this user and password (${code})`;
  if (code === '3D000') return `${where} does not exist on that server (${code}); create the database first`;
  if (code !== undefined) return `no PostgreSQL can be used at ${where} (${code})`;
  return `no PostgreSQL answers at ${where} within ${answerWithinMs / 1_000} s`;
}

/** Throws when no Temporal server answers there. */
export async function checkTemporal(address: string, security: TemporalSecurity): Promise<void> {
  const found = /^(\S+):(\d{1,5})$/.exec(address);
  if (found === null) throw new Error('TEMPORAL_ADDRESS must be host:port');
  const [, host = '', port = ''] = found;
  // gRPC asks again until its time is up; a refused connection is known at once. Not where a proxy is in between.
  if (process.env.grpc_proxy === undefined && process.env.https_proxy === undefined) {
    const code = await refusalOf(host.replace(/^\[|\]$/g, ''), Number(port));
    if (code !== undefined) throw new Error(`TEMPORAL_ADDRESS: no Temporal server answers at ${address} (${code})`);
  }
  try {
    const connection = await connect({ address, ...security, connectTimeout: answerWithinMs });
    await connection.close();
  } catch (error) {
    const why = error instanceof Error ? error.message.split('\n')[0] : 'unknown';
    throw new Error(`TEMPORAL_ADDRESS: no Temporal server can be used at ${address} (${why})`);
  }
}

/** The code of a connection that is refused; undefined for one that is accepted. */
function refusalOf(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connectSocket({ host, port, timeout: answerWithinMs });
    const answer = (code: string | undefined): void => {
      socket.destroy();
      resolve(code);
    };
    socket.once('connect', () => answer(undefined));
    socket.once('timeout', () => answer('ETIMEDOUT'));
    socket.once('error', (error: NodeJS.ErrnoException) => answer(codeOf(error) ?? 'unknown'));
  });
}

/** Of several addresses of one name, the first refusal's. */
function codeOf(error: unknown): string | undefined {
  const { code, errors } = error as { code?: unknown; errors?: readonly unknown[] };
  if (typeof code === 'string') return code;
  return errors?.[0] === undefined ? undefined : codeOf(errors[0]);
}
