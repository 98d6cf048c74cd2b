/**
 * Runs Temporal's development server with settings for speed, on 127.0.0.1 only, and waits until it answers.
 * temporal-setup creates namespaces and search attributes.
 * @module
 */
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { hasExited, type Launch, type StopSteps, spawnLogged, stopChild, waitUntil } from './launch.ts';

export type TemporalOptions = {
  binary: string;
  port: number;
  /** Absent = no Web UI. */
  uiPort?: number;
  /** Absent = everything is forgotten at the end. */
  dbFile?: string;
  namespace?: string;
  /** Dynamic configuration beside the one for speed, `key=value`. */
  settings?: readonly string[];
};

export type Temporal = { address: string; uiUrl?: string; pid: number; stop(): Promise<void> };

export const stopTemporal: StopSteps = [
  { signal: 'SIGTERM', withinMs: 10_000 },
  { signal: 'SIGKILL', withinMs: 2_000 },
];

export async function startTemporal(options: TemporalOptions & { dir: string }): Promise<Temporal> {
  const child = spawnLogged(temporalLaunch(options), { logFile: join(options.dir, 'temporal.log') });
  const stop = () => stopChild(child, stopTemporal);
  const address = await temporalAnswers(options, () => !hasExited(child)).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return { address, ...temporalUi(options), pid: child.pid as number, stop };
}

export function temporalLaunch(options: TemporalOptions): Launch {
  const { binary, port, uiPort, dbFile, namespace = 'default', settings = [] } = options;
  const args = ['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(port), '--log-level', 'error'];
  args.push(...(uiPort === undefined ? ['--headless'] : ['--ui-port', String(uiPort)]));
  if (dbFile) args.push('--db-filename', dbFile, ...pragmas);
  if (namespace !== 'default') args.push('--namespace', namespace);
  // Search attributes are temporal-setup's alone: the server would add its own at the same time, under other columns.
  for (const setting of [...quick, ...settings]) args.push('--dynamic-config-value', setting);
  args.push('--disable-config-file', '--disable-config-env');
  return { command: binary, args, env: temporalEnv() };
}

export function temporalUi({ uiPort }: TemporalOptions): { uiUrl?: string } {
  return uiPort === undefined ? {} : { uiUrl: `http://localhost:${uiPort}` };
}

/** The port opens when the frontend serves; whether a namespace answers is asked by temporal-setup. */
export async function temporalAnswers({ port }: { port: number }, alive: () => boolean): Promise<string> {
  await waitUntil('Temporal', () => isListening(port), { withinMs: 60_000, alive });
  return `127.0.0.1:${port}`;
}

const pragmas = ['--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=NORMAL'];

// Without these every hop between server and worker waits up to 50 ms, and four partitions stall for seconds.
const quick = [
  'history.transferProcessorMaxPollRPS=2000',
  'history.timerProcessorMaxPollRPS=2000',
  'history.visibilityProcessorMaxPollRPS=2000',
  'matching.numTaskqueueReadPartitions=1',
  'matching.numTaskqueueWritePartitions=1',
];

/** A user's own TEMPORAL_* settings are for other servers; the version check would call out of the machine. */
function temporalEnv(): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = process.env;
  return { PATH, HOME, TMPDIR, TEMPORAL_VERSION_CHECK_DISABLED: '1' };
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: '127.0.0.1', port });
    const end = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
  });
}
