/** Several programs install the same folder at once, with an npm that names each of its runs. @module */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { testFolder } from '../local/folder.ts';
import { install } from './install.ts';

/** Its first run takes 200 ms, each later one 200 ms more, so that they end one after the other. */
const npm = `#!${process.execPath}
const fs = require('fs');
fs.mkdirSync('node_modules/a', { recursive: true });
fs.appendFileSync(process.env.NPM_CALLS, 'x');
const number = fs.statSync(process.env.NPM_CALLS).size;
fs.writeFileSync('node_modules/a/run', String(number));
if (process.env.NPM_FAILS) { console.error('npm has no network'); process.exit(1); }
setTimeout(() => fs.writeFileSync('node_modules/.package-lock.json', '{}'), 200 * number);
`;

async function folderToInstall() {
  const dir = await testFolder();
  await mkdir(join(dir, 'bin'));
  await writeFile(join(dir, 'bin/npm'), npm, { mode: 0o755 });
  for (const name of ['package.json', 'package-lock.json']) await writeFile(join(dir, name), '{}');
  process.env.NPM_CALLS = join(dir, 'calls');
  process.env.PATH = `${join(dir, 'bin')}${delimiter}${path}`;
  return dir;
}

let path: string | undefined;
beforeAll(() => {
  path = process.env.PATH;
});

describe('install', () => {
  test('what the first one installed stays, while others that began with it end', async () => {
    const dir = await folderToInstall();
    const installed = () => readFile(join(dir, 'node_modules/a/run'), 'utf8');
    const all = [install(dir), install(dir), install(dir)];
    await Promise.race(all);
    const first = await installed();
    await Promise.all(all);
    expect(await readFile(join(dir, 'calls'), 'utf8')).toBe('xxx');
    expect(await installed()).toBe(first);
    await install(dir);
    expect(await readFile(join(dir, 'calls'), 'utf8')).toBe('xxx');
  });

  test('an npm that fails leaves nothing, and its output is in the error', async () => {
    const dir = await folderToInstall();
    process.env.NPM_FAILS = 'yes';
    await expect(install(dir)).rejects.toThrow('npm has no network');
    delete process.env.NPM_FAILS;
    expect(await readdir(dir)).not.toContain('node_modules');
    await install(dir);
    expect(await readdir(dir)).toContain('node_modules');
  });
});
