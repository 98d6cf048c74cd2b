/** Starts one process from its plan, and runs, awaits and stops it. Knows neither PostgreSQL nor Temporal. @module */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

export type Launch = {
  command: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  user?: SystemUser | undefined;
};

export type SystemUser = { uid: number; gid: number };

/** The signals that end a program, politest first, and how long each is given. */
export type StopSteps = readonly { signal: NodeJS.Signals; withinMs: number }[];

type SpawnOptions = { logFile: string; ipc?: boolean; detached?: boolean };

/** Output goes straight into the log file, so that a process outlives the supervisor that started it. */
export function spawnLogged(launch: Launch, { logFile, ipc = false, detached = false }: SpawnOptions): ChildProcess {
  const log = openSync(logFile, 'a', 0o600);
  try {
    return spawn(launch.command, launch.args, {
      // a system user may not be allowed to stand in the folder we were started from
      cwd: launch.user ? '/' : undefined,
      env: launch.env,
      ...launch.user,
      detached,
      stdio: ['ignore', log, log, ...(ipc ? (['ipc'] as const) : [])],
    });
  } finally {
    closeSync(log);
  }
}

export function hasExited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
}

/** Sends one signal after the other until the program is gone. */
export async function stopChild(child: ChildProcess, steps: StopSteps): Promise<void> {
  for (const { signal, withinMs } of steps) {
    if (hasExited(child)) return;
    child.kill(signal);
    await exitWithin(child, withinMs);
  }
}

/** Runs a program to its end; a failure carries what it wrote last. */
export async function runToEnd(launch: Launch): Promise<string> {
  const child = spawn(launch.command, launch.args, {
    cwd: launch.user ? '/' : undefined,
    env: launch.env,
    ...launch.user,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const collect = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-8_000);
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  const code = await new Promise<number | string>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (exitCode, signal) => resolve(exitCode ?? signal ?? 'unknown'));
  });
  if (code !== 0) throw new Error(`${launch.command} ended with ${code}: ${output.trim()}`);
  return output;
}

/** `coming`: not yet, and the time for it begins anew. */
export type Asked = boolean | 'coming';

/** Asks again and again until `ask` is true; `alive` false ends the wait early. */
export async function waitUntil(
  what: string,
  ask: () => Promise<Asked>,
  { withinMs, everyMs = 50, alive = () => true }: { withinMs: number; everyMs?: number; alive?: () => boolean },
): Promise<void> {
  let start = performance.now();
  for (;;) {
    const asked = await ask();
    if (asked === true) return;
    if (asked === 'coming') start = performance.now();
    if (!alive()) throw new Error(`${what}: the program ended before it answered`);
    if (performance.now() - start > withinMs) throw new Error(`${what}: no answer within ${withinMs / 1000} s`);
    await sleep(everyMs);
  }
}

async function exitWithin(child: ChildProcess, withinMs: number): Promise<void> {
  if (hasExited(child)) return;
  const enough = new AbortController();
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await Promise.race([exited, sleep(withinMs, undefined, { signal: enough.signal }).catch(() => undefined)]);
  enough.abort();
}
