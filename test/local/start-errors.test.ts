/**
 * Goal: a start that cannot succeed ends at once, with one sentence that names the setting and no secret, and leaves
 * nothing running. Method: real starts of `src/main/start.ts`, one for each thing that may be wrong.
 * @module
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { freePort } from '../../src/supervisor/ports.ts';
import { startPostgres } from '../../src/supervisor/postgres.ts';
import { testFolder } from './folder.ts';

const script = fileURLToPath(new URL('../../src/main/start.ts', import.meta.url));
const password = 'geheim-4711';

let dir: string;
let oldPostgres: Server;
let silent: Server;
let postgres: Awaited<ReturnType<typeof startPostgres>>;
const sockets = new Set<Socket>();
beforeAll(async () => {
  dir = await testFolder();
  oldPostgres = await listening(answerAsPostgres14);
  silent = await listening(() => undefined);
  const own = await testFolder();
  postgres = await startPostgres({ dir: own, port: await freePort(), password: 'own', durable: false });
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  for (const server of [oldPostgres, silent]) server.close();
  await postgres.stop();
});

async function listening(onConnection: (socket: Socket) => void): Promise<Server> {
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    onConnection(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
const portOf = (server: Server): number => (server.address() as AddressInfo).port;

/** As much of the protocol as a client needs to ask for the version. */
function answerAsPostgres14(socket: Socket): void {
  const message = (type: string, body: Buffer): Buffer => {
    const head = Buffer.alloc(5);
    head.write(type);
    head.writeInt32BE(body.length + 4, 1);
    return Buffer.concat([head, body]);
  };
  const int = (value: number, bytes: 2 | 4): Buffer => {
    const buffer = Buffer.alloc(bytes);
    if (bytes === 2) buffer.writeInt16BE(value);
    else buffer.writeInt32BE(value);
    return buffer;
  };
  const ready = message('Z', Buffer.from('I'));
  const column = Buffer.concat([
    int(1, 2),
    Buffer.from('server_version\0'),
    int(0, 4),
    int(0, 2),
    int(25, 4),
    int(-1, 2),
    int(-1, 4),
    int(0, 2),
  ]);
  const row = Buffer.concat([int(1, 2), int(4, 4), Buffer.from('14.2')]);
  socket.on('data', (data) => {
    if (data[0] === 0) socket.write(Buffer.concat([message('R', int(0, 4)), ready]));
    else if (data[0] === 'Q'.charCodeAt(0)) {
      const done = message('C', Buffer.from('SHOW\0'));
      socket.write(Buffer.concat([message('T', column), message('D', row), done, ready]));
    } else if (data[0] === 'X'.charCodeAt(0)) socket.end();
  });
}

type Ended = { readonly code: number | null; readonly out: string; readonly err: string };

async function start(env: NodeJS.ProcessEnv, user: { uid?: number; gid?: number } = {}): Promise<Ended> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script], {
    env: { PATH: process.env.PATH, HOME: dir, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...user,
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, out, err };
}

const wrongPassword = (): string => {
  const url = new URL(postgres.url);
  url.password = password;
  return url.href;
};

type Case = readonly [what: string, env: () => NodeJS.ProcessEnv, sentence: RegExp];
const cases: readonly Case[] = [
  [
    'a database that is not there',
    () => ({ DATABASE_URL: `postgres://bursar:${password}@127.0.0.1:9/bursar` }),
    /^start failed: DATABASE_URL: no PostgreSQL can be used at 127\.0\.0\.1:9\/bursar \(ECONNREFUSED\)$/,
  ],
  [
    'a database that says nothing',
    () => ({ DATABASE_URL: `postgres://bursar:${password}@127.0.0.1:${portOf(silent)}/bursar` }),
    /^start failed: DATABASE_URL: no PostgreSQL answers at 127\.0\.0\.1:\d+\/bursar within 5 s$/,
  ],
  [
    'a wrong password',
    () => ({ DATABASE_URL: wrongPassword() }),
    /^start failed: DATABASE_URL: 127\.0\.0\.1:\d+\/\w+ refuses this user and password \(28P01\)$/,
  ],
  [
    'an address that is none',
    () => ({ DATABASE_URL: `postgres://bursar:${password}@[/bursar` }),
    /^start failed: DATABASE_URL is not a URL such as postgres:\/\/user:password@host:5432\/bursar$/,
  ],
  [
    'another kind of database',
    () => ({ DATABASE_URL: `mysql://bursar:${password}@127.0.0.1/bursar` }),
    /^start failed: DATABASE_URL must begin with postgres:\/\/$/,
  ],
  [
    'a PostgreSQL that is too old',
    () => ({ DATABASE_URL: `postgres://bursar:${password}@127.0.0.1:${portOf(oldPostgres)}/bursar` }),
    /^start failed: DATABASE_URL: 127\.0\.0\.1:\d+\/bursar is PostgreSQL 14\.2, and 18 or newer is needed$/,
  ],
  [
    'an unknown log level',
    () => ({ LOG_LEVEL: 'loud' }),
    /^start failed: the configuration is wrong: LOG_LEVEL: must be one of trace, debug, info, warn, error, fatal, silent$/,
  ],
  [
    'a Temporal that is not there',
    () => ({ TEMPORAL_ADDRESS: '127.0.0.1:9' }),
    /^start failed: TEMPORAL_ADDRESS: no Temporal server answers at 127\.0\.0\.1:9 \(ECONNREFUSED\)$/,
  ],
  [
    'a server that is no Temporal',
    () => ({ TEMPORAL_ADDRESS: `127.0.0.1:${portOf(silent)}` }),
    /^start failed: TEMPORAL_ADDRESS: no Temporal server can be used at 127\.0\.0\.1:\d+ \(.*\)$/,
  ],
  [
    'a Temporal address that is none',
    () => ({ TEMPORAL_ADDRESS: 'nonsense' }),
    /^start failed: the configuration is wrong: TEMPORAL_ADDRESS: must be host:port$/,
  ],
  [
    'a vault key of the wrong length',
    () => ({ BURSAR_VAULT_KEY: 'c2hvcnQ=' }),
    /^start failed: BURSAR_VAULT_KEY must be 32 bytes in base64 or hexadecimal, not 5; make one with: openssl rand -base64 32$/,
  ],
  [
    'a signing key that is none',
    () => ({ BURSAR_SIGNING_KEY: 'geheim' }),
    /^start failed: the configuration is wrong: BURSAR_SIGNING_KEY: must be an Ed25519 private key in PEM$/,
  ],
  [
    'a signing key that cannot be read',
    () => ({ BURSAR_SIGNING_KEY: `-----BEGIN PRIVATE KEY-----\n${password}\n-----END PRIVATE KEY-----` }),
    /^start failed: BURSAR_SIGNING_KEY must be an Ed25519 private key in PEM$/,
  ],
  [
    'live without a bank',
    () => ({ BURSAR_MODE: 'live' }),
    /^start failed: live needs a bank: set BURSAR_BANK_FOLDER, or use BURSAR_MODE=sandbox\. It has no card processor yet/,
  ],
  [
    'a port of the metrics that is none',
    () => ({ BURSAR_METRICS_PORT: 'http' }),
    /^start failed: the configuration is wrong: BURSAR_METRICS_PORT: must be a number$/,
  ],
  [
    'a loop that no worker has',
    () => ({ BURSAR_WORKER_LOOPS: 'relay,relays' }),
    /^start failed: the configuration is wrong: BURSAR_WORKER_LOOPS: must be one of relay, deliveries, sealer, purge; did you mean relay\?$/,
  ],
  [
    'an address to listen at that this machine does not have',
    () => ({ HOST: '192.0.2.1' }),
    /^start failed: HOST is 192\.0\.2\.1: this machine cannot listen there \(EADDRNOTAVAIL\)$/,
  ],
  [
    'a PORT that is taken',
    () => ({ PORT: String(portOf(silent)) }),
    /^start failed: PORT \d+ is taken: stop what listens there or choose another$/,
  ],
];

test.each(cases)('%s ends the start at once, with one sentence', async (what, env, sentence) => {
  const dataDir = join(dir, what.replaceAll(' ', '-'));
  const ended = await start({ BURSAR_DATA_DIR: dataDir, ...env() });
  expect(ended.err.trim()).toMatch(sentence);
  expect([ended.code, ended.out, ended.err.trim().split('\n').length]).toEqual([1, '', 1]);
  expect(ended.err).not.toContain(password);
  // Nothing was started: neither a server nor a program has a log.
  expect(await readdir(join(dataDir, 'logs')).catch(() => [])).toEqual([]);
  expect(await readdir(dataDir).catch(() => [])).not.toContain('pids.json');
});

test.each([
  ['that does not exist in one that is read-only', 'missing'],
  ['that is read-only', ''],
])('a data folder %s ends the start at once, with one sentence', async (_what, inside) => {
  const folder = join(dir, `read-only-${inside}`);
  await mkdir(folder);
  await chmod(folder, 0o555);
  // To root no folder is read-only.
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const dataDir = join(folder, inside);
  const ended = await start({ BURSAR_DATA_DIR: dataDir }, user);
  expect(ended.err.trim()).toBe(
    `start failed: ${dataDir.replace(/\/$/, '')} cannot be made or written by this user (EACCES): set BURSAR_DATA_DIR to another folder`,
  );
  expect([ended.code, ended.out]).toEqual([1, '']);
});

test('a data folder where the file system makes no folders ends the start at once, with one sentence', async () => {
  const ended = await start({ BURSAR_DATA_DIR: '/proc/bursar/data' });
  // Where there is no /proc, this user may not make it.
  expect(ended.err.trim()).toMatch(
    /^start failed: \/proc\/bursar\/data cannot be made or written by this user \((ENOENT|EACCES|EROFS)\): set BURSAR_DATA_DIR to another folder$/,
  );
  expect([ended.code, ended.out]).toEqual([1, '']);
});
