/**
 * `npm start`: starts everything, waits for a signal, and stops everything. stdout gets the one line that begins with
 * `ready `, stderr the progress.
 * @module
 */
import { pathToFileURL } from 'node:url';
import {
  type StartOptions as Options,
  type Running,
  type Starting,
  start as startWith,
} from '../supervisor/bring-up.ts';
import { dataDirPath } from '../supervisor/data-dir.ts';
import { AlreadyRunningError, runningSupervisor } from '../supervisor/pids.ts';
import { type Ready, readReady } from '../supervisor/ready-file.ts';
import { stopSignals } from '../supervisor/stop-signals.ts';
import { readConfig } from './config.ts';

export type { Running, Starting } from '../supervisor/bring-up.ts';
export { AlreadyRunningError } from '../supervisor/pids.ts';
export type { Ready } from '../supervisor/ready-file.ts';

export type StartOptions = Omit<Options, 'readConfig'>;

/** Starts everything; the settings are those of src/main/config.ts. */
export const start = (options: StartOptions = {}): Starting => startWith({ readConfig, ...options });

export type RunOptions = StartOptions & {
  /** Done once, after the ready line; a number ends the run with that exit code. */
  afterReady?: (running: Running) => Promise<number | undefined>;
};

/** Runs until a signal (or `afterReady`) ends it and answers the exit code; nothing it started is left then. */
export async function runBursar({ afterReady, say = progress, ...options }: RunOptions = {}): Promise<number> {
  const starting = start({ ...options, say });
  let isForced = false;
  const signals = stopSignals({
    again: () => {
      if (isForced) return;
      isForced = true;
      say('ending at once');
      starting.kill();
      setTimeout(() => process.exit(130), 1_000);
    },
  });
  try {
    const first: Running | NodeJS.Signals = await Promise.race([starting.running, signals.came]);
    const code = typeof first === 'string' ? 0 : await whileUp(first, signals.came, afterReady);
    say('stopping');
    await starting.stop();
    return isForced ? 130 : code;
  } catch (error) {
    await starting.stop();
    say(await explained(error, options.env ?? process.env));
    return 1;
  } finally {
    signals.release();
  }
}

/** What runs over the data folder already, if anything does; `ready` is absent while it is still starting. */
export async function runningBursar(env = process.env): Promise<{ pid: number; ready: Ready | undefined } | undefined> {
  const dir = dataDirPath(env);
  const pid = await runningSupervisor(dir);
  return pid === undefined ? undefined : { pid, ready: await readReady(dir) };
}

async function whileUp(
  running: Running,
  signal: Promise<NodeJS.Signals>,
  afterReady: RunOptions['afterReady'],
): Promise<number> {
  process.stdout.write(`${running.line}\n`);
  const end = await Promise.race([signal, afterReady?.(running)]);
  if (typeof end === 'number') return end;
  await signal;
  return 0;
}

async function explained(error: unknown, env: NodeJS.ProcessEnv): Promise<string> {
  if (!(error instanceof AlreadyRunningError)) return `start failed: ${(error as Error).message}`;
  const apiUrl = (await runningBursar(env))?.ready?.apiUrl ?? 'still starting';
  return `${error.message} (${apiUrl}): stop it with Ctrl-C where it runs, or with \`kill ${error.pid}\``;
}

function progress(line: string): void {
  process.stderr.write(`${line}\n`);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.exit(await runBursar());
}
