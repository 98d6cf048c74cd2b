/** The demo as a stranger runs it: its own process on a fresh folder, a second time over the same data, no secret said. @module */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Ready } from '../../src/main/start.ts';
import type { ChildMark } from '../../src/supervisor/pids.ts';
import { isAlive } from '../../src/supervisor/pids.ts';
import { hasBrowser } from '../support/browser.ts';
import { installationFolder } from '../support/installation.ts';

let folder: Awaited<ReturnType<typeof installationFolder>>;
const running = new Set<ChildProcess>();

beforeAll(async () => {
  folder = await installationFolder();
});
afterAll(async () => {
  for (const child of running) {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
  await folder.remove();
});

const lastLine = 'demo done: 12 of 12 steps';

test('the demo runs to its end on a new folder and again over the same data, and prints no secret', async () => {
  const first = await demo();
  const attested = /recorded as passkey:psk_\w+, attested at/;
  expect(attested.test(first.text)).toBe(hasBrowser);
  expect(first.text).toContain('wallet 172.51 EUR');
  expect(first.text).toMatch(/business time is \d+ h \d+ min ahead of real time, at \d{4}-/);
  expect(first.text).toMatch(/came back \(MD07: .*\), and 15\.00 EUR are available again/);
  expect(first.text).toMatch(
    /Declined: merchant Sandbox Casino is blocked.* The owner can also allow it once\..* approved by the rule allowed_once/s,
  );
  expect(first.text).toMatch(/approved, recorded as signal:anna; then sent once, and settled/);
  const second = await demo({ BURSAR_CHROMIUM: '/nowhere/chromium' });
  expect(second.text).toMatch(/approved through the API by key:key_\w+; .* no Chromium was found/);
  expect(second.text).toContain('wallet 172.51 EUR');
  // It went on where the first one stopped: the same key, ports and owner.
  expect(second.ready).toEqual(first.ready);
  // On an idle machine it takes 6 s; a busy one is compared with itself.
  expect(second.readyToDoneMs).toBeLessThan(Math.max(60_000, 3 * first.readyToDoneMs));
  for (const { text } of [first, second]) {
    for (const secret of await secretsOf(first.ready)) expect(text.includes(secret)).toBe(false);
    expect(text).not.toMatch(/\b(sk_(sandbox|test|live)_|at_(test|live|dlg)_|whsec_|spt_)\w/);
    expect(text).not.toMatch(/postgres(ql)?:\/\//);
  }
}, 480_000);

async function demo(
  env: Readonly<Record<string, string>> = {},
): Promise<{ text: string; ready: Ready; readyToDoneMs: number }> {
  const script = fileURLToPath(new URL('../../src/main/demo.ts', import.meta.url));
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, '--exit'], {
    env: { ...process.env, BURSAR_DATA_DIR: folder.dir, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  let out = '';
  let err = '';
  let readyAt = 0;
  let doneAt = 0;
  let children: ChildMark[] = [];
  let ready: Promise<Ready> | undefined;
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
    if (ready === undefined && out.startsWith('ready ')) {
      readyAt = performance.now();
      ready = kept<Ready>('ready.json');
    }
    if (doneAt === 0 && out.includes(lastLine)) doneAt = performance.now();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString();
  });
  const pids = setInterval(async () => {
    const file = await kept<{ children: ChildMark[] }>('pids.json').catch(() => undefined);
    if (file !== undefined) children = file.children;
  }, 500);
  const [code] = await once(child, 'exit');
  clearInterval(pids);
  running.delete(child);
  if (code !== 0) throw new Error(`the demo ended with ${code}:\n${out}\n${err}`);
  expect(out.trimEnd().split('\n').at(-1)).toBe(lastLine);
  expect(out.match(/^\d+ of 12 {2}/gm)).toHaveLength(12);
  expect(children).toHaveLength(5);
  expect(children.filter(isAlive)).toEqual([]);
  expect(existsSync(join(folder.dir, 'ready.json'))).toBe(false);
  // A sentence goes on in the next line, two columns further right.
  return {
    text: (out + err).replaceAll('\n          ', ' '),
    ready: (await ready) as Ready,
    readyToDoneMs: doneAt - readyAt,
  };
}

const kept = async <T>(name: string): Promise<T> => JSON.parse(await readFile(join(folder.dir, name), 'utf8')) as T;

/** The files that hold the installation's secrets, at the least. */
const madeByTheStart = ['dashboard', 'network', 'postgres-app', 'postgres', 'signing', 'vault'].map((name) =>
  expect.stringMatching(new RegExp(`^${name}\\.(key|secret|password)$`)),
);

/** What ready.json holds, and every key that the installation made for itself. */
async function secretsOf({ apiKey, dashboardSecret, networkKey, databaseUrl }: Ready): Promise<string[]> {
  const files = (await readdir(folder.dir)).filter((name) => /\.(key|secret|password)$/.test(name));
  expect(files).toEqual(expect.arrayContaining(madeByTheStart));
  const contents = await Promise.all(files.map((name) => readFile(join(folder.dir, name), 'utf8')));
  const lines = contents.flatMap((content) => content.trim().split('\n')).filter((line) => !line.startsWith('-----'));
  return [apiKey, dashboardSecret, networkKey, databaseUrl, ...lines];
}
