/** Which ports a start takes. @module */

import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { choosePorts, defaultPorts, freePort } from '../../src/supervisor/ports.ts';
import { testFolder } from './folder.ts';

const open: Server[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => new Promise((closed) => server.close(closed))));
});

async function occupy(port: number): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', () => resolve()));
  open.push(server);
}

describe('ports', () => {
  test('PORT=0 chooses free ports, all different, and the next start uses the same', async () => {
    const dir = await testFolder();
    const { ports, moved } = await choosePorts({ dir, port: 0 });
    expect(new Set(Object.values(ports)).size).toBe(5);
    expect(Object.values(ports).some((port) => Object.values(defaultPorts).includes(port))).toBe(false);
    expect(moved).toEqual([]);
    expect((await choosePorts({ dir, port: 0 })).ports).toEqual(ports);
    expect((await choosePorts({ dir })).ports).toEqual(ports);
  });

  test('a stored port that is in use is replaced, with a message', async () => {
    const dir = await testFolder();
    const { ports } = await choosePorts({ dir, port: 0 });
    await occupy(ports.api);
    const again = await choosePorts({ dir });
    expect(again.ports.api).not.toBe(ports.api);
    expect({ ...again.ports, api: 0 }).toEqual({ ...ports, api: 0 });
    expect(again.moved).toEqual([expect.stringContaining(`api ${ports.api} is taken`)]);
  });

  test('a taken default is replaced for this start alone: the next one uses the default again', async () => {
    const dir = await testFolder();
    const wanted = await freePort();
    // The defaults may be in use on this machine; another one stands for them.
    const defaults = { ...defaultPorts, api: wanted };
    await occupy(wanted);
    const first = await choosePorts({ dir, defaults });
    expect(first.ports.api).not.toBe(wanted);
    expect(first.moved).toContainEqual(expect.stringContaining(`api ${wanted} is taken`));
    await Promise.all(open.splice(0).map((server) => new Promise((closed) => server.close(closed))));
    expect((await choosePorts({ dir, defaults })).ports.api).toBe(wanted);
  });

  test('replacements that an older version stored are not used', async () => {
    const dir = await testFolder();
    const api = await freePort();
    await writeFile(join(dir, 'ports.json'), JSON.stringify({ ...defaultPorts, api }));
    expect((await choosePorts({ dir, defaults: { ...defaultPorts, api: await freePort() } })).ports.api).not.toBe(api);
  });

  test('a named PORT that is in use is an error, and it is never stored for later starts', async () => {
    const dir = await testFolder();
    const named = await freePort();
    await choosePorts({ dir, port: 0 });
    const before = JSON.parse(await readFile(join(dir, 'ports.json'), 'utf8'));
    expect((await choosePorts({ dir, port: named })).ports.api).toBe(named);
    expect(JSON.parse(await readFile(join(dir, 'ports.json'), 'utf8'))).toEqual(before);
    await occupy(named);
    await expect(choosePorts({ dir, port: named })).rejects.toThrow(`PORT ${named} is taken`);
  });

  test('a server that this start does not run gets no port, and an unreadable ports.json is written again', async () => {
    const dir = await testFolder();
    await writeFile(join(dir, 'ports.json'), '{ half');
    await occupy(await freePort());
    const { ports } = await choosePorts({ dir, port: 0, without: ['postgres', 'temporal', 'temporalUi'] });
    expect(ports.postgres).toBe(defaultPorts.postgres);
    expect(ports.api).not.toBe(defaultPorts.api);
  });
});
