/** What a local installation keeps on disk, and who may read it. @module */

import { createPrivateKey } from 'node:crypto';
import { appendFile, chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { writeAtomically, writeOnce } from '../../src/supervisor/atomic-file.ts';
import { openDataDir } from '../../src/supervisor/data-dir.ts';
import { capLogs, lastLines } from '../../src/supervisor/log-files.ts';
import { type Ready, readReady, removeReady, writeReady } from '../../src/supervisor/ready-file.ts';
import { loadOwner, loadSecrets, rememberOwner } from '../../src/supervisor/secrets.ts';
import { readStartSettings } from '../../src/supervisor/settings.ts';
import { testFolder } from './folder.ts';

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

describe('the data folder', () => {
  test('is passable but not readable by others where it is made, and left alone where it exists', async () => {
    const dir = await testFolder();
    const made = await openDataDir({ BURSAR_DATA_DIR: join(dir, 'a', 'data') });
    expect(await modeOf(made)).toBe('711');
    expect(await modeOf(join(made, 'logs'))).toBe('700');
    const own = join(dir, 'own');
    await mkdir(own);
    await chmod(own, 0o700);
    expect(await modeOf(await openDataDir({ BURSAR_DATA_DIR: own }))).toBe('700');
  });
});

describe('secrets', () => {
  test('are made once, readable by their owner alone, and the same at the next start', async () => {
    const dir = await testFolder();
    const first = await loadSecrets(dir, {});
    expect(new Set(Object.values(first)).size).toBe(Object.keys(first).length);
    expect(Buffer.from(first.vaultKey, 'base64')).toHaveLength(32);
    expect(Buffer.from(first.dashboardSecret, 'base64url')).toHaveLength(32);
    expect(createPrivateKey(first.signingKey).asymmetricKeyType).toBe('ed25519');
    for (const name of await readdir(dir)) expect([name, await modeOf(join(dir, name))]).toEqual([name, '600']);
    expect(await loadSecrets(dir, {})).toEqual(first);
  });

  test('are the same for starts that come at once', async () => {
    const dir = await testFolder();
    const all = await Promise.all(Array.from({ length: 5 }, () => loadSecrets(dir, {})));
    for (const secrets of all) expect(secrets).toEqual(all[0]);
  });

  test('come from the environment where it names them, and are then not stored', async () => {
    const dir = await testFolder();
    const secrets = await loadSecrets(dir, { BURSAR_DASHBOARD_SECRET: 'given', BURSAR_SIGNING_KEY: 'pem' });
    expect(secrets).toMatchObject({ dashboardSecret: 'given', signingKey: 'pem' });
    expect(await readdir(dir)).not.toContain('dashboard.secret');
    expect(await readdir(dir)).not.toContain('signing.key');
  });

  test('an emptied file is an error and not a new secret', async () => {
    const dir = await testFolder();
    await writeFile(join(dir, 'vault.key'), '');
    await expect(loadSecrets(dir, {})).rejects.toThrow('vault.key is empty');
  });

  test('the owner key is well-formed, stored with the owner id, and differs in the other mode', async () => {
    const dir = await testFolder();
    const { apiKey, ownerId } = await loadOwner(dir, {}, 'sk_sandbox_');
    expect(apiKey).toMatch(/^sk_sandbox_[0-9A-Za-z]{40}$/);
    expect(ownerId).toBeNull();
    await rememberOwner(dir, 'sk_sandbox_', { apiKey, ownerId: 'own_1' });
    expect(await loadOwner(dir, {}, 'sk_sandbox_')).toEqual({ apiKey, ownerId: 'own_1' });
    expect(await modeOf(join(dir, 'owner.json'))).toBe('600');
    expect((await loadOwner(dir, {}, 'sk_live_')).apiKey).toMatch(/^sk_live_/);
    expect(await loadOwner(dir, { BURSAR_API_KEY: 'sk_test_mine' }, 'sk_sandbox_')).toEqual({
      apiKey: 'sk_test_mine',
      ownerId: null,
    });
    await rememberOwner(dir, 'sk_sandbox_', { apiKey: 'sk_test_mine', ownerId: 'own_2' });
    expect((await loadOwner(dir, {}, 'sk_sandbox_')).ownerId).toBe('own_1');
  });
});

describe('ready.json', () => {
  const ready = { apiUrl: 'http://localhost:1', apiKey: 'sk_sandbox_x'.repeat(500) } as Ready;

  test('is never read partially, also while it is written repeatedly', async () => {
    const dir = await testFolder();
    await writeReady(dir, ready);
    let isWriting = true;
    const writing = (async () => {
      for (let count = 0; count < 40; count += 1)
        await writeReady(dir, { ...ready, apiUrl: `http://localhost:${count}` });
      isWriting = false;
    })();
    let reads = 0;
    while (isWriting) {
      expect((await readReady(dir))?.apiKey).toBe(ready.apiKey);
      reads += 1;
    }
    await writing;
    expect(reads).toBeGreaterThan(5);
    expect(await modeOf(join(dir, 'ready.json'))).toBe('600');
    expect(await readdir(dir)).toEqual(['ready.json']);
    await removeReady(dir);
    expect(await readReady(dir)).toBeUndefined();
  });

  test('is readable by its owner alone even where an older one was open to others', async () => {
    const dir = await testFolder();
    await writeFile(join(dir, 'ready.json'), '{}', { mode: 0o644 });
    await writeReady(dir, ready);
    expect(await modeOf(join(dir, 'ready.json'))).toBe('600');
  });

  test('writing once keeps the first', async () => {
    const dir = await testFolder();
    const path = join(dir, 'x');
    const first = await Promise.all(['a', 'b', 'c', 'd'].map((text) => writeOnce(path, text)));
    expect(first.filter(Boolean)).toHaveLength(1);
    await writeAtomically(path, 'e');
    expect(await readFile(path, 'utf8')).toBe('e');
  });
});

describe('log files', () => {
  test('above their size are moved to .1 and begun again; others stay', async () => {
    const dir = await testFolder();
    await writeFile(join(dir, 'api.log'), 'x'.repeat(101));
    await writeFile(join(dir, 'worker.log'), 'a\nb\nc\n');
    capLogs(dir, 100);
    await appendFile(join(dir, 'api.log'), 'next\n');
    expect(await readFile(join(dir, 'api.log'), 'utf8')).toBe('next\n');
    expect((await stat(join(dir, 'api.log.1'))).size).toBe(101);
    expect(lastLines(join(dir, 'worker.log'), 2)).toBe('b\nc');
  });
});

describe('settings of a start', () => {
  test('all errors are reported at once, without a password', () => {
    const env = { BURSAR_MODE: 'prod', PORT: '80x', DATABASE_URL: 'mysql://root:hunter2@db', BURSAR_PUBLIC_URL: 'pay' };
    const refusal = () => readStartSettings(env);
    for (const part of ['BURSAR_MODE is prod', 'PORT is 80x', 'DATABASE_URL must', 'BURSAR_PUBLIC_URL is pay']) {
      expect(refusal).toThrow(part);
    }
    expect(refusal).not.toThrow('hunter2');
  });

  test('empty values count as absent', () => {
    expect(readStartSettings({ PORT: '', HOST: '', BURSAR_MODE: '' })).toMatchObject({
      mode: 'sandbox',
      port: undefined,
      host: '127.0.0.1',
      namespace: 'default',
    });
    expect(readStartSettings({ PORT: '0' }).port).toBe(0);
  });
});
