/**
 * Keeps a set of processes running: starts each, waits until it is ready, restarts it with growing pauses when it ends,
 * and stops them in a given order. Knows nothing of what they do.
 * @module
 */
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasExited, type Launch, runToEnd, type StopSteps, spawnLogged, stopChild } from './launch.ts';
import { capLogs, lastLines } from './log-files.ts';

export type Plan = {
  name: string;
  /** Asked before every start, so that a start may repair what the last end left behind. */
  launch(): Promise<Launch>;
  /** Absent = the program says so itself over IPC: `{ ready: true }`. */
  ready?: (alive: () => boolean) => Promise<unknown>;
  stop: StopSteps;
  /** What ends it at once when there is no time for `stop`. */
  kill?: NodeJS.Signals;
};

export type Supervisor = {
  /** Resolves when the program is ready for the first time; from then on it is kept running. */
  keep(plan: Plan): Promise<void>;
  /** Runs a program once, to its end. */
  once(launch: Launch): Promise<string>;
  /** Stops all, the named ones in this order; nothing is started any more. */
  stop(order: readonly string[]): Promise<void>;
  /** Ends all at once. */
  kill(): void;
};

type Options = {
  logDir: string;
  /** Gets every process id as soon as there is one. */
  started(name: string, pid: number): Promise<void>;
  say(line: string): void;
};

const firstTries = 3;
const readyWithinMs = 120_000;
const pauses = { firstMs: 200, longestMs: 10_000, forgottenAfterMs: 30_000 };

type Supervised = { plan: Plan; child?: ChildProcess };

export function createSupervisor({ logDir, started, say }: Options): Supervisor {
  const stopping = new AbortController();
  const keeping = new Map<string, Supervised>();
  const logs = setInterval(() => capLogs(logDir), 10_000).unref();

  async function startOne(supervised: Supervised): Promise<ChildProcess> {
    const { plan } = supervised;
    const launch = await plan.launch();
    stopping.signal.throwIfAborted();
    const child = spawnLogged(launch, { logFile: logFile(plan.name), ipc: !plan.ready, detached: true });
    supervised.child = child;
    const saysReady = plan.ready ? undefined : readyMessage(child);
    const failed = new Promise<never>((_, reject) => child.once('error', reject));
    failed.catch(() => undefined);
    if (child.pid !== undefined) await started(plan.name, child.pid);
    const ready = plan.ready?.(() => !hasExited(child)) ?? saysReady;
    // What makes it ready may wait long for a program that is gone.
    ready?.catch(() => undefined);
    const gone = endedEarly(child);
    gone.catch(() => undefined);
    await Promise.race([ready, failed, gone]).catch(async (error: unknown) => {
      await stopChild(child, plan.stop);
      throw error;
    });
    return child;
  }

  /** Waits for the end again and again; every failure to start counts as another end. */
  async function restartForEver(supervised: Supervised, first: ChildProcess): Promise<void> {
    let child: ChildProcess | undefined = first;
    let pauseMs = pauses.firstMs;
    while (!stopping.signal.aborted) {
      const since = performance.now();
      if (child) {
        const how = await ended(child);
        if (stopping.signal.aborted) return;
        if (performance.now() - since > pauses.forgottenAfterMs) pauseMs = pauses.firstMs;
        say(`${supervised.plan.name} ended (${how}), starting it again`);
      }
      await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      pauseMs = Math.min(pauseMs * 2, pauses.longestMs);
      if (stopping.signal.aborted) return;
      child = await startOne(supervised).catch((error: unknown) => {
        if (!stopping.signal.aborted) say(`${supervised.plan.name} did not start: ${messageOf(error)}`);
        return undefined;
      });
    }
  }

  const logFile = (name: string) => join(logDir, `${name}.log`);

  return {
    async keep(plan) {
      const supervised: Supervised = { plan };
      keeping.set(plan.name, supervised);
      for (let attempt = 1; ; attempt += 1) {
        try {
          const child = await startOne(supervised);
          void restartForEver(supervised, child);
          return;
        } catch (error) {
          stopping.signal.throwIfAborted();
          if (attempt === firstTries)
            throw new Error(startFailure(plan.name, error, logFile(plan.name)), { cause: error });
          await sleep(pauses.firstMs);
        }
      }
    },
    once: runToEnd,
    async stop(order) {
      stopping.abort(new Error('stopping'));
      clearInterval(logs);
      const rest = [...keeping.keys()].filter((name) => !order.includes(name));
      for (const name of [...rest, ...order]) {
        const supervised = keeping.get(name);
        if (supervised?.child) await stopChild(supervised.child, supervised.plan.stop);
      }
    },
    kill() {
      stopping.abort(new Error('stopping'));
      for (const { plan, child } of keeping.values())
        if (child && !hasExited(child)) child.kill(plan.kill ?? 'SIGKILL');
    },
  };
}

/** `{ ready: true }` from the program itself; ending first, or silence, is a failure. */
function readyMessage(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`not ready within ${readyWithinMs / 1000} s`)), readyWithinMs);
    child.on('message', (message) => {
      if ((message as { ready?: unknown }).ready !== true) return;
      clearTimeout(late);
      resolve();
    });
    child.once('error', () => clearTimeout(late));
    child.once('exit', (code, signal) => {
      clearTimeout(late);
      reject(new Error(`it ended (${signal ?? `code ${code}`}) before it was ready`));
    });
  });
}

/** Rejects when the program ends; a process that could not be started rejects with its own error. */
async function endedEarly(child: ChildProcess): Promise<never> {
  const how = child.pid === undefined ? await new Promise<never>(() => undefined) : await ended(child);
  throw new Error(`it ended (${how}) before it was ready`);
}

function ended(child: ChildProcess): Promise<string> {
  const how = () => child.signalCode ?? `code ${child.exitCode}`;
  return hasExited(child) ? Promise.resolve(how()) : new Promise((resolve) => child.once('exit', () => resolve(how())));
}

function startFailure(name: string, error: unknown, log: string): string {
  const lines = lastLines(log, 8);
  return `${name} does not start: ${messageOf(error)}${lines ? `\n${lines}` : ''}\nIts log: ${log}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
