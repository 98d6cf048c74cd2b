/** When the bootstrap installs and when it does not, with an npm that only writes down that it was called. @module */

import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { copyFile, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { waitUntil } from '../../src/supervisor/launch.ts';
import { testFolder } from './folder.ts';

const lockfile = {
  '': { name: 'x' },
  'node_modules/a': { version: '1.0.0', integrity: 'sha512-a' },
  'node_modules/elsewhere': { version: '1.0.0', integrity: 'sha512-e', optional: true, os: ['aix'] },
};

/** A project with its own copy of the bootstrap, and an npm that installs what the lockfile says. */
async function project({ npmFails = false, npmTakesMs = 0, npmWaits = false } = {}) {
  const dir = await testFolder();
  const bootstrap = join(dir, 'src/main/bootstrap.mjs');
  await mkdir(join(dir, 'src/main'), { recursive: true });
  await mkdir(join(dir, 'bin'));
  await copyFile(fileURLToPath(new URL('../../src/main/bootstrap.mjs', import.meta.url)), bootstrap);
  await writeFile(
    join(dir, 'src/main/cli.ts'),
    'process.stdout.write(JSON.stringify(process.argv.slice(2)));process.exit(7)',
  );
  const npm = `#!${process.execPath}
const fs = require('fs');
fs.appendFileSync('calls', process.argv.slice(2).join(' ') + '\\n');
console.log('npm talks');
const install = () => {
  if (${npmWaits} && !fs.existsSync('may-install')) return void setTimeout(install, 20);
  if (${npmFails}) process.exit(1);
  fs.rmSync('node_modules', { recursive: true, force: true });
  fs.mkdirSync('node_modules/.bin', { recursive: true });
  fs.symlinkSync(process.execPath, 'node_modules/.bin/node');
  const { packages } = JSON.parse(fs.readFileSync('package-lock.json'));
  const here = Object.entries(packages).filter(([path, { os }]) => path && !os);
  fs.writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages: Object.fromEntries(here) }));
};
setTimeout(install, ${npmTakesMs});
`;
  await writeFile(join(dir, 'bin/npm'), npm, { mode: 0o755 });
  const lock = (packages: object) => writeFile(join(dir, 'package-lock.json'), JSON.stringify({ packages }));
  await lock(lockfile);
  const env = { ...process.env, PATH: `${join(dir, 'bin')}${delimiter}${process.env.PATH}` };
  const run = (...args: string[]) => promisify(execFile)(process.execPath, [bootstrap, ...args], { env });
  const calls = async () => (await readFile(join(dir, 'calls'), 'utf8').catch(() => '')).split('\n').length - 1;
  return { dir, bootstrap, env, lock, run, calls };
}

describe('bootstrap', () => {
  test('installs once, with messages on stderr only, and does nothing the second time', async () => {
    const { run, calls, dir } = await project();
    const { stdout, stderr } = await run();
    expect(stdout).toBe('');
    expect(stderr).toMatch(/not installed yet.*\n[\s\S]*npm talks[\s\S]*packages installed in \d+ s/);
    expect(await readFile(join(dir, 'calls'), 'utf8')).toMatch(/^ci --include=dev /);
    expect(await run()).toEqual({ stdout: '', stderr: '' });
    expect(await calls()).toBe(1);
  });

  test.each([
    ['another version', { ...lockfile, 'node_modules/a': { version: '1.0.1', integrity: 'sha512-a' } }],
    ['other contents', { ...lockfile, 'node_modules/a': { version: '1.0.0', integrity: 'sha512-b' } }],
    ['a package more', { ...lockfile, 'node_modules/b': { version: '1.0.0' } }],
    ['a package less', { '': {} }],
  ])('installs again when the lockfile names %s', async (_, packages) => {
    const { run, calls, lock } = await project();
    await run();
    await lock(packages);
    await run();
    expect(await calls()).toBe(2);
    await run();
    expect(await calls()).toBe(2);
  });

  test('installs again when an installation was cut off or was made for another machine', async () => {
    const { run, calls, dir } = await project();
    await run();
    await rm(join(dir, 'node_modules/.bin/node'));
    await run();
    await writeFile(join(dir, 'node_modules/.package-lock.json'), '{"packages": {');
    await run();
    const elsewhere = { packages: { ...lockfile } };
    await writeFile(join(dir, 'node_modules/.package-lock.json'), JSON.stringify(elsewhere));
    await run();
    expect(await calls()).toBe(4);
  });

  test('of two at once one installs and the other waits for it', async () => {
    const { dir, bootstrap, env, run, calls } = await project({ npmWaits: true });
    const first = run();
    await waitUntil('npm', async () => (await calls()) === 1, { withinMs: 60_000 });
    const second = spawn(process.execPath, [bootstrap], { env, stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    second.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk;
    });
    await waitUntil('the second', async () => said.includes('waiting for it'), { withinMs: 60_000 });
    await writeFile(join(dir, 'may-install'), '');
    await Promise.all([first, once(second, 'exit')]);
    expect([second.exitCode, await calls()]).toEqual([0, 1]);
  });

  test('the lock of an installation that was killed is taken over', async () => {
    const { run, calls, bootstrap, env, dir } = await project({ npmTakesMs: 700 });
    const killed = spawn(process.execPath, [bootstrap], { env, stdio: ['ignore', 'ignore', 'pipe'] });
    await once(killed.stderr, 'data');
    killed.kill('SIGKILL');
    await once(killed, 'exit');
    expect(await readFile(join(dir, '.bursar/install.lock'), 'utf8')).toMatch(new RegExp(`^${killed.pid} `));
    await run();
    expect(await calls()).toBeGreaterThanOrEqual(1);
    expect(await run()).toEqual({ stdout: '', stderr: '' });
  });

  test('of many that find the lock of a dead process one at a time installs, and no file is left', async () => {
    const { dir, run, calls } = await project({ npmTakesMs: 50 });
    const dead = spawn(process.execPath, ['-e', '']);
    await once(dead, 'exit');
    await mkdir(join(dir, '.bursar'));
    // As an earlier version wrote it, and with a takeover that was cut off.
    await writeFile(join(dir, '.bursar/install.lock'), String(dead.pid));
    const digest = createHash('sha256').update(String(dead.pid)).digest('hex').slice(0, 16);
    await writeFile(join(dir, `.bursar/install.lock.retiring-${digest}-1`), `${dead.pid} x`);
    await Promise.all(Array.from({ length: 8 }, () => run()));
    expect(await calls()).toBe(1);
    expect(await readdir(join(dir, '.bursar'))).toEqual([]);
  });

  test('a failed installation ends with 1 and a message, and the next one tries again', async () => {
    const { run, calls } = await project({ npmFails: true });
    for (const count of [1, 2]) {
      await expect(run()).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('npm ci failed (1)') });
      expect(await calls()).toBe(count);
    }
  });

  test('with arguments, or called as bursar, it is the command line', async () => {
    const { run, dir, bootstrap, env } = await project();
    const answer = { code: 7, stdout: '["ledger","verify"]' };
    await expect(run('ledger', 'verify')).rejects.toMatchObject(answer);
    const bursar = join(dir, 'bin/bursar');
    await symlink(bootstrap, bursar);
    await expect(promisify(execFile)(process.execPath, [bursar], { env })).rejects.toMatchObject({
      code: 7,
      stdout: '[]',
    });
  });
});
