/**
 * Goal: a migration that cannot run says why in one sentence, without a stack and without a password. Method: the
 * program as compose runs it, against a real server.
 * @module
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { freePort } from '../../src/supervisor/ports.ts';

let server = '';
let client: pg.Client;
const database = `migrate_errors_${process.pid}`;
const role = `plain_${process.pid}`;
const password = 'a-password-that-must-stay-secret';

beforeAll(async () => {
  server = process.env.TEST_PG ?? '';
  client = new pg.Client({ connectionString: `${server}postgres` });
  await client.connect();
  await client.query(`create database ${database}`);
  await client.query(`create role ${role} login password '${password}'`);
});
afterAll(async () => {
  await client.query(`drop database ${database} with (force)`);
  await client.query(`drop role ${role}`);
  await client.end();
});

function urlOf(change: Partial<Record<'username' | 'password' | 'port', string>> = {}): string {
  return Object.assign(new URL(`${server}${database}`), change).href;
}

function runMigrate(env: NodeJS.ProcessEnv) {
  const entry = fileURLToPath(new URL('../../src/main/migrate.ts', import.meta.url));
  const { status, stderr } = spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', entry], {
    env: { PATH: process.env.PATH, ...env },
    encoding: 'utf8',
    timeout: 25_000,
  });
  return { status, stderr };
}

const plain = { username: role, password };

test.each([
  ['no address', async () => ({}), 'DATABASE_URL is missing'],
  [
    'no server answers',
    async () => ({
      DATABASE_URL: urlOf(plain),
      BURSAR_MIGRATION_DATABASE_URL: urlOf({ ...plain, port: `${await freePort()}` }),
    }),
    'BURSAR_MIGRATION_DATABASE_URL: no PostgreSQL can be used at 127.0.0.1:',
  ],
  [
    'a wrong password of the application role',
    async () => ({
      DATABASE_URL: urlOf({ username: role, password: 'wrong' }),
      BURSAR_MIGRATION_DATABASE_URL: urlOf(),
    }),
    'refuses this user and password (28P01)',
  ],
  [
    'a role without rights',
    async () => ({ DATABASE_URL: urlOf(plain) }),
    'DATABASE_URL: this role may not change the schema (42501); the database has to belong to it',
  ],
] as const)('%s is one sentence', async (_, env, sentence) => {
  const { status, stderr } = runMigrate(await env());
  expect(stderr).toMatch(/^the migration cannot run: [^\n]+\n$/);
  expect(stderr).toContain(sentence);
  expect(stderr).not.toContain(password);
  expect(status).toBe(1);
});
