/** Programs are kept running and stopped in order, whatever they are. @module */

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { type Launch, waitUntil } from '../../src/supervisor/launch.ts';
import { createSupervisor, type Plan, type Supervisor } from '../../src/supervisor/supervisor.ts';
import { testFolder } from './folder.ts';

let supervisor: Supervisor;
afterEach(() => supervisor.stop([]));

/** A stubborn process has this long to hear SIGTERM, and is then killed. */
const politeMs = 3_000;
const steps = [
  { signal: 'SIGTERM', withinMs: politeMs },
  { signal: 'SIGKILL', withinMs: 2_000 },
] as const;
/** Only how long a test that fails takes: on a busy machine a process needs seconds to start. */
const patienceMs = 60_000;

const ready = 'process.send({ ready: true });';
const stay = 'setInterval(() => {}, 1000);';

async function supervise() {
  const dir = await testFolder();
  const pids: Record<string, number[] | undefined> = {};
  const said: string[] = [];
  supervisor = createSupervisor({
    logDir: dir,
    started: async (name, pid) => {
      pids[name] = [...(pids[name] ?? []), pid];
    },
    say: (line) => said.push(line),
  });
  const plan = (name: string, script: string): Plan => {
    const launch: Launch = {
      command: process.execPath,
      args: ['-e', script],
      env: { ...process.env, JOURNAL: join(dir, 'journal') },
    };
    return { name, launch: async () => launch, stop: steps };
  };
  return { dir, pids, said, plan };
}

describe('supervisor', () => {
  test('a killed program is started again, each time it is killed', async () => {
    const { pids, plan, said } = await supervise();
    await supervisor.keep(plan('api', `${ready}${stay}`));
    for (const count of [2, 3]) {
      process.kill(pids.api?.at(-1) as number, 'SIGKILL');
      await waitUntil('restart', async () => pids.api?.length === count, { withinMs: patienceMs });
    }
    expect(said[0]).toBe('api ended (SIGKILL), starting it again');
  });

  test('one that ends while something else still waits for it is started again at once', async () => {
    const { pids, plan } = await supervise();
    let asked = 0;
    const slow: Plan['ready'] = () => {
      asked += 1;
      return asked === 2 ? new Promise(() => undefined) : Promise.resolve();
    };
    await supervisor.keep({ ...plan('temporal', stay), ready: slow });
    for (const count of [2, 3]) {
      process.kill(pids.temporal?.at(-1) as number, 'SIGKILL');
      const isBack = async () => pids.temporal?.length === count && asked === count;
      await waitUntil('restart', isBack, { withinMs: patienceMs });
    }
  });

  test('a process that does not start is tried three times and then reported with the end of its log', async () => {
    const { pids, plan } = await supervise();
    const failing = supervisor.keep(plan('worker', "console.error('no such table'); process.exit(3)"));
    await expect(failing).rejects.toThrow(
      /worker does not start: it ended \(code 3\)[\s\S]*no such table[\s\S]*worker\.log/,
    );
    expect(pids.worker).toHaveLength(3);
  });

  test('a missing program file is reported at once', async () => {
    const { plan } = await supervise();
    const launch = { command: '/nowhere/program', args: [], env: {} };
    const failing = supervisor.keep({ ...plan('api', ''), launch: async () => launch });
    await expect(failing).rejects.toThrow('ENOENT');
  });

  test('programs stop one after the other in the order given, and a stubborn one is ended', async () => {
    const { dir, plan, pids } = await supervise();
    const down = (name: string) =>
      `process.on('SIGTERM', () => setTimeout(() => { require('fs').appendFileSync(process.env.JOURNAL, '${name} '); process.exit(0) }, 50));`;
    const stubborn = "process.on('SIGTERM', () => require('fs').appendFileSync(process.env.JOURNAL, 'deaf '));";
    await supervisor.keep(plan('last', `${down('last')}${ready}${stay}`));
    await supervisor.keep(plan('first', `${down('first')}${ready}${stay}`));
    await supervisor.keep(plan('second', `${stubborn}${ready}${stay}`));
    await supervisor.stop(['first', 'second', 'last']);
    expect(await readFile(join(dir, 'journal'), 'utf8')).toBe('first deaf last ');
    for (const pid of Object.values(pids).flat()) expect(() => process.kill(pid as number, 0)).toThrow('ESRCH');
  });

  test('no process is started again after a stop, also not one that was waiting for its restart', async () => {
    const { pids, plan, dir } = await supervise();
    await writeFile(join(dir, 'journal'), '');
    await supervisor.keep(plan('api', `${ready}${stay}`));
    process.kill(pids.api?.[0] as number, 'SIGKILL');
    await supervisor.stop(['api']);
    await new Promise((resolve) => setTimeout(resolve, 500));
    const alive = (pids.api ?? []).filter((pid) => isThere(pid));
    expect(alive).toEqual([]);
    await expect(supervisor.keep(plan('worker', ready))).rejects.toThrow('stopping');
  });
});

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
