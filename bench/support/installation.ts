/**
 * A whole installation as `npm start` runs it, over a separate folder: durable PostgreSQL, the Temporal development
 * server, API and worker, and the sandbox in sandbox mode. Agents are put into the tables, because live mode has no card
 * processor here.
 * @module
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { start } from '../../src/main/start.ts';
import type { ChildMark } from '../../src/supervisor/pids.ts';
import { benchFolder, fillWal, openSql, type Sql, sayDurable } from './postgres.ts';
import { nobodyOutside } from './program.ts';
import type { Ending } from './run.ts';

export type BenchInstallation = {
  readonly url: string;
  readonly ownerId: string;
  readonly headers: Record<string, string>;
  readonly temporalAddress: string;
  readonly databaseUrl: string;
  /** As the superuser, who may vacuum and order a checkpoint. */
  readonly sql: Sql;
  /** In sandbox mode; null in live. */
  readonly sandboxUrl: string | null;
  readonly networkKey: string;
  /** Of every program, for their CPU time. */
  readonly pids: Readonly<Record<string, number>>;
};

type Options = {
  readonly mode?: 'live' | 'sandbox';
  /** Private ones that may be connected to. */
  readonly allowedOrigins?: readonly string[];
  /** Further settings. */
  readonly env?: Readonly<Record<string, string>>;
};

export async function startInstallation(
  atEnd: Ending,
  { mode = 'live', allowedOrigins = [], env = {} }: Options = {},
): Promise<BenchInstallation> {
  const dir = await benchFolder(atEnd);
  const { PATH = '', HOME = '' } = process.env;
  const starting = start({
    env: {
      PATH,
      HOME,
      BURSAR_MODE: mode,
      BURSAR_DATA_DIR: dir,
      PORT: '0',
      BURSAR_ALLOWED_ORIGINS: allowedOrigins.join(','),
      ...(mode === 'live'
        ? nobodyOutside
        : { BURSAR_RATE_LIMIT_PER_MINUTE: nobodyOutside.BURSAR_RATE_LIMIT_PER_MINUTE }),
      ...env,
    },
  });
  atEnd(starting.stop);
  const { ready } = await starting.running;
  const address = new URL(ready.databaseUrl);
  address.username = 'postgres';
  address.password = (await readFile(join(dir, 'postgres.password'), 'utf8')).trim();
  const sql = openSql(address.href, atEnd);
  await sayDurable(sql);
  await fillWal(sql);
  const { children } = JSON.parse(await readFile(join(dir, 'pids.json'), 'utf8')) as { children: ChildMark[] };
  return {
    url: ready.apiUrl.replace('localhost', '127.0.0.1'), // An address that resolves to two families is dialled twice.
    ownerId: ready.ownerId,
    headers: { authorization: `Bearer ${ready.apiKey}`, 'content-type': 'application/json' },
    temporalAddress: ready.temporalAddress,
    databaseUrl: ready.databaseUrl,
    sql,
    sandboxUrl: ready.sandboxUrl,
    networkKey: ready.networkKey,
    pids: Object.fromEntries(children.map(({ name, pid }) => [name, pid])),
  };
}
