/** One supervisor over a folder; only its own leftovers are stopped. @module */

import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { hasExited } from '../../src/supervisor/launch.ts';
import {
  AlreadyRunningError,
  claimDataDir,
  isAlive,
  processMark,
  runningSupervisor,
  stopOrphans,
} from '../../src/supervisor/pids.ts';
import { testFolder } from './folder.ts';

const steps = [
  { signal: 'SIGTERM', withinMs: 2_000 },
  { signal: 'SIGKILL', withinMs: 2_000 },
] as const;

const started: ChildProcess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

function sleeper(script = 'setInterval(() => {}, 1000)'): ChildProcess & { pid: number } {
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'ignore'] });
  started.push(child);
  return child as ChildProcess & { pid: number };
}

describe('pids.json', () => {
  test('a second claim is refused while the first supervisor lives, also when many claim at once', async () => {
    const dir = await testFolder();
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => claimDataDir(dir)));
    const claims = results.filter((result) => result.status === 'fulfilled');
    expect(claims).toHaveLength(1);
    expect(await runningSupervisor(dir)).toBe(process.pid);
    for (const result of results) {
      if (result.status === 'rejected') expect(result.reason.message).toContain(`as process ${process.pid}`);
    }
    await claims[0]?.value.release();
    expect(await runningSupervisor(dir)).toBeUndefined();
  });

  test('a dead supervisor is replaced by exactly one of many, which gets the list of its processes', async () => {
    const dead = await endedProcess();
    const child = { name: 'api', pid: 99_999_999, startedAt: 'never' };
    for (let round = 0; round < 20; round++) {
      const dir = await testFolder();
      await writeFile(join(dir, 'pids.json'), JSON.stringify({ supervisor: dead, children: [child] }));
      const results = await Promise.allSettled(Array.from({ length: 8 }, () => claimDataDir(dir)));
      const claims = results.filter((result) => result.status === 'fulfilled');
      expect(claims).toHaveLength(1);
      expect(claims[0]?.value.orphans).toEqual([child]);
      for (const result of results)
        if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(AlreadyRunningError);
    }
  });

  test('a start that dies while it replaces a dead supervisor is followed by the next, and no file is left', async () => {
    const dir = await testFolder();
    const dead = await endedProcess();
    const contents = JSON.stringify({ supervisor: dead, children: [] });
    await writeFile(join(dir, 'pids.json'), contents);
    const digest = createHash('sha256').update(contents).digest('hex').slice(0, 16);
    await writeFile(join(dir, `pids.json.retiring-${digest}-1`), JSON.stringify(dead));
    const claim = await claimDataDir(dir);
    expect(await runningSupervisor(dir)).toBe(process.pid);
    await claim.orphansStopped();
    await claim.release();
    expect((await readdir(dir)).filter((name) => name.startsWith('pids.json'))).toEqual([]);
  });

  test('a start that dies before it stopped the orphans leaves them to the next', async () => {
    const dir = await testFolder();
    const child = { name: 'api', pid: 99_999_999, startedAt: 'never' };
    await writeFile(join(dir, 'pids.json'), JSON.stringify({ supervisor: await endedProcess(), children: [child] }));
    const first = await claimDataDir(dir);
    await first.started('worker', process.pid);
    const file = JSON.parse(await readFile(join(dir, 'pids.json'), 'utf8'));
    await writeFile(join(dir, 'pids.json'), JSON.stringify({ ...file, supervisor: await endedProcess() }));
    const second = await claimDataDir(dir);
    expect(new Set(second.orphans.map(({ name }) => name))).toEqual(new Set(['api', 'worker']));
    await second.orphansStopped();
    await second.release();
    expect((await claimDataDir(dir)).orphans).toEqual([]);
  });

  test('a process is an orphan only if its start time matches', async () => {
    const ours = sleeper();
    const strangers = sleeper();
    const mark = processMark(ours.pid);
    expect(mark).toBeDefined();
    const orphans = [
      { name: 'api', ...mark! },
      { name: 'worker', pid: strangers.pid, startedAt: `${mark?.startedAt}0` },
    ];
    expect(await stopOrphans(orphans, () => steps)).toEqual(['api']);
    expect(isAlive(orphans[0]!)).toBe(false);
    expect(hasExited(strangers)).toBe(false);
    expect(processMark(strangers.pid)).toBeDefined();
  });

  test('an orphan that ignores the polite signal is ended', async () => {
    const stubborn = sleeper("process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.log('up')");
    await once(stubborn.stdout!, 'data');
    const orphan = { name: 'api', ...processMark(stubborn.pid)! };
    const quick = [{ signal: 'SIGTERM', withinMs: 100 }, steps[1]] as const;
    expect(await stopOrphans([orphan], () => quick)).toEqual(['api']);
    expect(isAlive(orphan)).toBe(false);
  });
});

async function endedProcess() {
  const child = sleeper('');
  const mark = processMark(child.pid)!;
  await once(child, 'exit');
  return mark;
}
