/**
 * What `bursar doctor` examines on this machine without the API: data folder, database, Temporal, and who listens at the
 * port. Only what the environment or the data folder names is examined.
 * @module
 */
import { constants } from 'node:fs';
import { access, readFile, statfs } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { checkPostgres, checkTemporal } from '../supervisor/checks.ts';
import { dataDirPath } from '../supervisor/data-dir.ts';
import { examinePostgres } from '../supervisor/examine-postgres.ts';
import type { Ready } from '../supervisor/ready-file.ts';
import { temporalFault } from '../temporal/examine.ts';
import { temporalSecurity } from '../temporal/security.ts';
import type { Environment } from './settings.ts';

export type Finding = {
  readonly check: string;
  readonly isOk: boolean;
  readonly found: string;
  /** Where it is not ok. */
  readonly remedy?: string;
};

type Place = { readonly env: Environment; readonly ready: Ready | undefined };

const good = (check: string, found: string): Finding => ({ check, isOk: true, found });
const bad = (check: string, found: string, remedy: string): Finding => ({ check, isOk: false, found, remedy });

const messageOf = (error: unknown): string => (error as Error).message;
const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'unknown';
const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** PostgreSQL stops when it cannot write its log, and needs some room to start again. */
const leastFreeBytes = 256 * 1024 * 1024;

/** The data folder, where there is one. */
export async function examineFolder(env: Environment): Promise<Finding[]> {
  const dir = dataDirPath({ ...env });
  const check = 'data folder';
  if (!(await isThere(dir))) return [];
  const fault = await access(dir, constants.W_OK | constants.X_OK).then(() => undefined, codeOf);
  if (fault !== undefined)
    return [bad(check, `this user may not write in ${dir} (${fault})`, 'give it to this user, or set BURSAR_DATA_DIR')];
  const { bavail, bsize } = await statfs(dir);
  const megabytes = Math.floor((bavail * bsize) / 1024 / 1024);
  return bavail * bsize < leastFreeBytes
    ? [bad(check, `only ${megabytes} MB are free at ${dir}`, 'make room: PostgreSQL stops when the disk is full')]
    : [good(check, `${dir}, ${megabytes} MB free`)];
}

/** With its own cluster, the folder has the keys too; what one sealed no other opens. */
async function vaultKeyOf(env: Environment): Promise<{ readonly key: string | undefined; readonly fault?: Finding }> {
  if (env.BURSAR_VAULT_KEY) return { key: env.BURSAR_VAULT_KEY };
  const dir = dataDirPath({ ...env });
  const file = join(dir, 'vault.key');
  try {
    return { key: await readFile(file, 'utf8') };
  } catch (error) {
    const isNew = codeOf(error) === 'ENOENT' && !(await isThere(join(dir, 'postgres.password')));
    if (isNew) return { key: undefined };
    const found = `${file} ${codeOf(error) === 'ENOENT' ? 'is missing' : `cannot be read (${codeOf(error)})`}`;
    const remedy =
      'set BURSAR_VAULT_KEY here too where the installation has it; else restore the file from a backup before the next ' +
      'start: what it sealed, no other key opens';
    return { key: undefined, fault: bad('vault key', found, remedy) };
  }
}

const mostApartMs = 5_000;

/** The database, where the environment or a running installation names it. */
export async function examineDatabase({ env, ready }: Place): Promise<Finding[]> {
  const { key, fault } = await vaultKeyOf(env);
  const faults = fault === undefined ? [] : [fault];
  const url = env.BURSAR_MIGRATION_DATABASE_URL || env.DATABASE_URL || ready?.databaseUrl;
  if (!url) return faults;
  const name = env.BURSAR_MIGRATION_DATABASE_URL ? 'BURSAR_MIGRATION_DATABASE_URL' : 'DATABASE_URL';
  try {
    await checkPostgres(url, name);
  } catch (error) {
    const remedy = /user and password/.test(messageOf(error))
      ? `correct user and password in ${name}; in the data folder they are kept in postgres.password`
      : `start PostgreSQL, or correct ${name}`;
    return [...faults, bad('PostgreSQL', messageOf(error), remedy)];
  }
  const examined = await examinePostgres(url, key).catch((error: unknown) =>
    bad('PostgreSQL', `cannot be examined (${codeOf(error)})`, `look at its log, or correct ${name}`),
  );
  if ('check' in examined) return [...faults, examined];
  const { schema, aheadMs, key: keyFault } = examined;
  return [
    ...faults,
    schemaFinding(schema),
    Math.abs(aheadMs) <= mostApartMs
      ? good('clock', 'agrees with the database’s')
      : bad(
          'clock',
          `this machine’s is ${Math.round(Math.abs(aheadMs) / 1_000)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} the database’s`,
          'set both by NTP: signatures and deadlines are refused when clocks differ',
        ),
    ...(keyFault === undefined ? [] : [keyFinding(keyFault)]),
  ];
}

function schemaFinding(schema: Awaited<ReturnType<typeof examinePostgres>>['schema']): Finding {
  const check = 'schema';
  if (schema === undefined)
    return good(check, 'not examined: only the role that owns it may; BURSAR_MIGRATION_DATABASE_URL');
  const { missing, unknown } = schema;
  if (unknown.length > 0)
    return bad(check, `is of a newer version: ${unknown.join(', ')}`, 'run that version or a newer one');
  return missing.length === 0
    ? good(check, 'up to date')
    : bad(
        check,
        `${missing.length} migrations are missing, the first ${missing[0]}`,
        'apply them: npm start does, elsewhere node src/main/migrate.ts',
      );
}

const keyFinding = (fault: string | null): Finding =>
  fault === null
    ? good('vault key', 'opens what the database keeps sealed')
    : bad('vault key', fault, 'restore the key of this database: vault.key of the data folder, or BURSAR_VAULT_KEY');

/** Temporal, where the environment or a running installation names it. */
export async function examineTemporal({ env, ready }: Place): Promise<Finding[]> {
  const address = env.TEMPORAL_ADDRESS || ready?.temporalAddress;
  if (!address) return [];
  const check = 'Temporal';
  const namespace = env.TEMPORAL_NAMESPACE || ready?.temporalNamespace || 'default';
  try {
    const security = temporalSecurity(env);
    await checkTemporal(address, security);
    const fault = await temporalFault({ address, namespace, security });
    const makes = 'node src/main/temporal-setup.ts makes it, where that is allowed';
    if (fault?.kind === 'namespace')
      return [bad(check, `${address} has no namespace ${namespace}`, `correct TEMPORAL_NAMESPACE; ${makes}`)];
    if (fault?.kind === 'attributes')
      return [bad(check, `namespace ${namespace} lacks the search attributes ${fault.lacking.join(', ')}`, makes)];
    return [good(check, `${address}, namespace ${namespace}`)];
  } catch (error) {
    return [bad(check, messageOf(error), 'start Temporal, or correct TEMPORAL_ADDRESS and its credentials')];
  }
}

/** Whether something listens where the service should. */
export function isTaken(apiUrl: string): Promise<boolean> {
  if (!URL.canParse(apiUrl)) return Promise.resolve(false);
  const { hostname, port, protocol } = new URL(apiUrl);
  return new Promise((resolve) => {
    const socket = connect({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port || (protocol === 'https:' ? 443 : 80)),
      timeout: 2_000,
    });
    const answer = (taken: boolean): void => {
      socket.destroy();
      resolve(taken);
    };
    socket.once('connect', () => answer(true));
    socket.once('timeout', () => answer(false));
    socket.once('error', () => answer(false));
  });
}
