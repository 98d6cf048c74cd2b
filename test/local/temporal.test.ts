/** The namespace and search attributes on a real server, and where its program comes from. @module */

import { createHash } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Connection } from '@temporalio/client';
import { waitUntil } from '../../src/supervisor/launch.ts';
import { freePort } from '../../src/supervisor/ports.ts';
import { temporalBinary } from '../../src/supervisor/temporal-binary.ts';
import { startTemporal, type Temporal } from '../../src/supervisor/temporal-server.ts';
import { filterAttributes } from '../../src/temporal/filter-attributes.ts';
import { setUpTemporal } from '../../src/temporal/set-up.ts';
import { startForbidding } from '../support/forbidding-proxy.ts';
import { testFolder } from './folder.ts';

describe('temporal-setup', () => {
  let temporal: Temporal;
  beforeAll(async () => {
    const dir = await testFolder();
    temporal = await startTemporal({ binary: await temporalBinary({ dir }), dir, port: await freePort() });
  });
  afterAll(() => temporal.stop());

  test('creates a namespace with a retention of 30 days, once, with search attributes that queries can use', async () => {
    const { address } = temporal;
    const first = await setUpTemporal({ address, namespace: 'bursar' });
    expect(first).toContain('namespace bursar made (keeps runs 30 days)');
    for (const name of Object.keys(filterAttributes())) expect(first).toContain(name);
    const again = await Promise.all([1, 2].map(() => setUpTemporal({ address, namespace: 'bursar' })));
    expect(new Set(again)).toEqual(
      new Set([`temporal ${address}: namespace bursar keeps runs 30 days, has all 6 search attributes`]),
    );
    const connection = await Connection.connect({ address });
    const { config } = await connection.workflowService.describeNamespace({ namespace: 'bursar' });
    expect(Number(config?.workflowExecutionRetentionTtl?.seconds)).toBe(30 * 24 * 3_600);
    const query = Object.keys(filterAttributes())
      .map((name) => `${name} is not null`)
      .join(' and ');
    const { count } = await connection.workflowService.countWorkflowExecutions({ namespace: 'bursar', query });
    expect(Number(count)).toBe(0);
    await connection.close();
  });

  const retentionOf = async (namespace: string): Promise<number> => {
    const connection = await Connection.connect({ address: temporal.address });
    const { config } = await connection.workflowService.describeNamespace({ namespace });
    await connection.close();
    return Number(config?.workflowExecutionRetentionTtl?.seconds) / day;
  };
  const make = async (namespace: string, days: number): Promise<void> => {
    const connection = await Connection.connect({ address: temporal.address });
    const workflowExecutionRetentionPeriod = { seconds: (days * day) as never };
    await connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
    await connection.close();
  };

  test.each([
    [90, 'keeps runs 90 days'],
    [7, 'keeps runs only 7 days: 30 are better, change it where it was made'],
  ])('leaves a namespace that others made with %d days as it is', async (days, said) => {
    const namespace = `others-${days}`;
    await make(namespace, days);
    const { address } = temporal;
    expect(await setUpTemporal({ address, namespace })).toContain(`namespace ${namespace} ${said},`);
    await setUpTemporal({ address, namespace, isOwnServer: days === 90 });
    expect(await retentionOf(namespace)).toBe(days);
  });

  test('raises the one day of our own development server', async () => {
    const { address } = temporal;
    const own = { address, namespace: 'default', isOwnServer: true };
    expect(await setUpTemporal(own)).toContain('default now keeps runs 30 days');
    expect(await setUpTemporal(own)).toContain('default keeps runs 30 days');
    expect(await retentionOf('default')).toBe(30);
  });

  test('waits until a start is accepted, and leaves no run behind', async () => {
    const connection = await Connection.connect({ address: temporal.address });
    const probes = async () => {
      const query = "WorkflowType = 'bursar-setup-probe'";
      const { count } = await connection.workflowService.countWorkflowExecutions({ namespace: 'bursar', query });
      return Number(count);
    };
    await setUpTemporal({ address: temporal.address, namespace: 'bursar' });
    await waitUntil('no probe is left', async () => (await probes()) === 0, { withinMs: 60_000 });
    await connection.close();
  });

  test('without permission to add search attributes, it names the missing ones and continues', async () => {
    await make('cloud', 30);
    const cloud = await startForbidding(temporal.address, /OperatorService|UpdateNamespace|RegisterNamespace/);
    const { address } = cloud;
    const lacking = await setUpTemporal({ address, namespace: 'cloud' });
    expect(lacking).toMatch(
      /lacks the search attributes BursarOwnerId \(Keyword\), .*BursarAmountCents \(Int\): .*search-attribute create --namespace cloud/,
    );
    await expect(setUpTemporal({ address, namespace: 'nowhere' })).rejects.toThrow(
      'there is no Temporal namespace nowhere, and making one is not permitted here: make it first',
    );
    await setUpTemporal({ address: temporal.address, namespace: 'cloud' });
    expect(await setUpTemporal({ address, namespace: 'cloud' })).toContain('has all 6 search attributes');
    await cloud.close();
  });
});

const day = 86_400;

describe('the Temporal program', () => {
  const program = '#!/bin/sh\necho temporal version 9.9.9\n';
  let releases: Server;
  let answers: Record<string, string | Buffer> = {};
  let base = '';
  beforeAll(async () => {
    releases = createServer((request, response) => {
      const answer = answers[request.url?.split('/').at(-1) ?? ''];
      response.writeHead(answer === undefined ? 404 : 200).end(answer);
    });
    await new Promise<void>((resolve) => releases.listen(0, '127.0.0.1', resolve));
    base = `http://127.0.0.1:${(releases.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    releases.close();
  });

  const archive = `temporal_cli_1.5.1_${process.platform}_${process.arch === 'x64' ? 'amd64' : process.arch}.tar.gz`;

  /** An environment with nothing on PATH but the shell, and an empty home. */
  async function machine(go?: string) {
    const dir = await testFolder();
    const path = join(dir, 'bin');
    await mkdir(path);
    if (go) await writeFile(join(path, 'go'), `#!/bin/sh\n${go}\n`, { mode: 0o755 });
    const said: string[] = [];
    const env = { PATH: `${path}:/bin:/usr/bin`, HOME: join(dir, 'home') };
    const find = () => temporalBinary({ dir, env, releases: base, say: (line) => said.push(line) });
    return { dir, path, env, said, find, cache: join(dir, 'home', '.cache', 'bursar', 'temporal-1.5.1') };
  }

  function publish(packed: Buffer, sum = createHash('sha256').update(packed).digest('hex')) {
    answers = { [archive]: packed, 'checksums.txt': `00  other.tar.gz\n${sum}  ${archive}\n` };
  }

  test('is the one on PATH, or exactly the one TEMPORAL_CLI names', async () => {
    const { path, env, dir, find } = await machine();
    await writeFile(join(path, 'temporal'), program, { mode: 0o755 });
    expect(await find()).toBe(join(path, 'temporal'));
    const named = temporalBinary({ dir, env: { ...env, TEMPORAL_CLI: '/nowhere/temporal' } });
    await expect(named).rejects.toThrow('TEMPORAL_CLI names /nowhere/temporal, which does not run');
  });

  test('is downloaded once where its checksum is the published one', async () => {
    const { find, cache, said } = await machine();
    publish(gzipSync(tar({ LICENSE: 'x'.repeat(700), temporal: program })));
    expect(await find()).toBe(join(cache, 'temporal'));
    answers = {};
    expect(await find()).toBe(join(cache, 'temporal'));
    expect(said).toEqual([expect.stringContaining('downloading Temporal 1.5.1')]);
    expect(await readFile(join(cache, 'temporal'), 'utf8')).toBe(program);
    expect(await readdir(cache)).toEqual(['temporal']);
  });

  test('never uses a file with a wrong checksum, and leaves none in the cache', async () => {
    const { find, cache } = await machine();
    publish(gzipSync(tar({ temporal: program })), 'f'.repeat(64));
    await mkdir(cache, { recursive: true });
    await writeFile(join(cache, 'temporal'), '#!/bin/sh\nexit 1\n');
    await chmod(join(cache, 'temporal'), 0o755);
    await expect(find()).rejects.toThrow(/checksum of .* published is ffff/);
    expect(await readdir(cache)).toEqual(['temporal']);
  });

  test('is built with Go where no download is possible', async () => {
    answers = {};
    const { find, cache, said } = await machine(`printf '#!/bin/sh\\necho temporal version built' > "$GOBIN/temporal"`);
    expect(await find()).toBe(join(cache, 'temporal'));
    expect(said.join('\n')).toContain('building Temporal 1.5.1 with Go');
  });

  test('one error names every way when there is none', async () => {
    answers = {};
    const { find, cache } = await machine('echo no network >&2; exit 1');
    const error = (await find().catch((reason: Error) => reason)) as Error;
    for (const part of [
      'TEMPORAL_ADDRESS',
      'TEMPORAL_CLI',
      'PATH',
      cache,
      base,
      'answered 404',
      'go install',
      'no network',
    ]) {
      expect(error.message).toContain(part);
    }
    expect(await readdir(cache)).toEqual([]);
  });
});

function tar(files: Record<string, string>): Buffer {
  const blocks = Object.entries(files).flatMap(([name, content]) => {
    const header = Buffer.alloc(512);
    header.write(name, 0);
    header.write(Buffer.byteLength(content).toString(8).padStart(11, '0'), 124);
    const body = Buffer.alloc(Math.ceil(content.length / 512) * 512);
    body.write(content);
    return [header, body];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}
