/**
 * The processes over a data folder: one supervisor at a time, and the processes that it started, stored in pids.json. A
 * process is identified by its id and start time; another one with the same id is never signalled.
 * @module
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeAtomically, writeOnce } from './atomic-file.ts';
import type { StopSteps } from './launch.ts';

export type ProcessMark = { pid: number; startedAt: string };
export type ChildMark = ProcessMark & { name: string };
type PidsFile = { supervisor: ProcessMark; children: ChildMark[] };

/** The right to run over a folder, and the list of what runs. */
export type Claim = {
  /** Left over by supervisors that died; they may still run. */
  orphans: ChildMark[];
  orphansStopped(): Promise<void>;
  started(name: string, pid: number): Promise<void>;
  release(): Promise<void>;
};

export class AlreadyRunningError extends Error {
  readonly pid: number;
  constructor(dir: string, pid: number) {
    super(`Bursar runs already over ${dir}, as process ${pid}`);
    this.pid = pid;
  }
}

export async function claimDataDir(dir: string): Promise<Claim> {
  const path = join(dir, 'pids.json');
  const supervisor = processMark(process.pid);
  if (!supervisor) throw new Error('the start time of this very process cannot be read');
  while (!(await writeOnce(path, text({ supervisor, children: [] })))) await retireDead(dir, path, supervisor);

  const dead = (await readdir(dir)).filter((name) => name.startsWith('pids.json.dead-'));
  const files = await Promise.all(dead.map(async (name) => parse(await readFile(join(dir, name), 'utf8'))));
  const children = new Map<string, ChildMark>();
  let writing: Promise<void> = Promise.resolve();
  return {
    orphans: files.flatMap((file) => file?.children ?? []),
    async orphansStopped() {
      const locks = (await readdir(dir)).filter((name) => name.startsWith(retiring));
      for (const name of [...dead, ...locks]) await rm(join(dir, name), { force: true });
    },
    started(name, pid) {
      const mark = processMark(pid);
      if (mark) children.set(name, { name, ...mark });
      writing = writing.then(() => writeAtomically(path, text({ supervisor, children: [...children.values()] })));
      return writing;
    },
    async release() {
      await writing;
      await rm(path, { force: true });
    },
  };
}

/** The live supervisor's process id, if there is one. */
export async function runningSupervisor(dir: string): Promise<number | undefined> {
  const file = parse(await readFile(join(dir, 'pids.json'), 'utf8').catch(() => ''));
  return file && isAlive(file.supervisor) ? file.supervisor.pid : undefined;
}

/** Stops what still runs of them, in the order given; answers the names of those that were running. */
export async function stopOrphans(orphans: ChildMark[], stepsOf: (name: string) => StopSteps): Promise<string[]> {
  const alive = orphans.filter(isAlive);
  for (const orphan of alive) {
    for (const { signal, withinMs } of stepsOf(orphan.name)) {
      if (!isAlive(orphan)) break;
      signalIfThere(orphan.pid, signal);
      for (let waited = 0; waited < withinMs && isAlive(orphan); waited += 25) await sleep(25);
    }
    if (isAlive(orphan)) throw new Error(`${orphan.name} (process ${orphan.pid}) of an earlier start does not stop`);
  }
  return alive.map(({ name }) => name);
}

/** The process may end between the check and the signal. */
export function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

export function isAlive({ pid, startedAt }: ProcessMark): boolean {
  return processMark(pid)?.startedAt === startedAt;
}

/** Undefined where there is no such process, or only a zombie. */
export function processMark(pid: number): ProcessMark | undefined {
  if (process.platform === 'linux') return markFromProc(pid);
  const { status, stdout } = spawnSync('ps', ['-o', 'state=,lstart=', '-p', String(pid)], {
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' },
  });
  const [, state, startedAt] = /^\s*(\S+)\s+(.+?)\s*$/.exec(stdout ?? '') ?? [];
  return status !== 0 || !startedAt || state?.startsWith('Z') ? undefined : { pid, startedAt };
}

/** Ticks since boot are unique for one boot only, hence the boot's id. */
function markFromProc(pid: number): ProcessMark | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // the name in parentheses may hold anything, so fields are counted behind its end
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return ['Z', 'X'].includes(fields[0] as string) ? undefined : { pid, startedAt: `${boot}/${fields[19]}` };
  } catch {
    return undefined;
  }
}

/** Moves a dead supervisor's file aside. Of several processes that find it, one does; the others look again. */
async function retireDead(dir: string, path: string, self: ProcessMark): Promise<void> {
  const contents = await readFile(path, 'utf8').catch(() => undefined);
  if (contents === undefined) return;
  const file = parse(contents);
  if (file && isAlive(file.supervisor)) throw new AlreadyRunningError(dir, file.supervisor.pid);
  const lock = join(dir, `${retiring}${createHash('sha256').update(contents).digest('hex').slice(0, 16)}`);
  const held = await lockedBy(lock, self);
  if (held === undefined) return sleep(lookAgainMs);
  // Only the holder moves this file; what another one has put in its place since is not this file.
  if ((await readFile(path, 'utf8').catch(() => undefined)) === contents)
    await rename(path, join(dir, `pids.json.dead-${process.pid}-${Math.random().toString(36).slice(2)}`));
  for (const name of held) await rm(name, { force: true });
}

const retiring = 'pids.json.retiring-';
const lookAgainMs = 10;

/**
 * The files of the lock, where this process has taken it; undefined while another one has it. A holder that died is
 * followed by the process that writes the next number.
 */
async function lockedBy(lock: string, self: ProcessMark): Promise<string[] | undefined> {
  const files: string[] = [];
  for (;;) {
    const name = `${lock}-${files.length + 1}`;
    files.push(name);
    if (await writeOnce(name, JSON.stringify(self))) return files;
    const holder = await readFile(name, 'utf8').then(
      (text) => JSON.parse(text) as ProcessMark,
      () => undefined, // It has just finished.
    );
    if (holder === undefined || isAlive(holder)) return undefined;
  }
}

function parse(content: string): PidsFile | undefined {
  try {
    return JSON.parse(content) as PidsFile;
  } catch {
    return undefined;
  }
}

function text(file: PidsFile): string {
  return `${JSON.stringify(file, null, 2)}\n`;
}
