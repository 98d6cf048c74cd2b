/**
 * A second API and a second worker over the database and the Temporal of an installation. They are kept running like
 * the first ones. A test can kill them, and can put them behind other addresses of PostgreSQL and Temporal.
 * @module
 */
import { join } from 'node:path';
import { type ChildMark, isAlive, processMark, signalIfThere } from '../../src/supervisor/pids.ts';
import { freePort } from '../../src/supervisor/ports.ts';
import { apiEnv, defaultEntries, type Known, program, stopProgram, workerEnv } from '../../src/supervisor/processes.ts';
import { loadSecrets } from '../../src/supervisor/secrets.ts';
import { readStartSettings } from '../../src/supervisor/settings.ts';
import { createSupervisor } from '../../src/supervisor/supervisor.ts';
import type { Installation } from './installation.ts';
import { eventually } from './world.ts';

export type SecondName = 'api-2' | 'worker-2';

export type More = {
  /** Of the second API. */
  readonly apiUrl: string;
  child(name: SecondName): ChildMark;
  /** kill -9, and the process is gone when this returns; another one is started. */
  kill(name: SecondName): Promise<void>;
  stop(): Promise<void>;
};

type Elsewhere = { readonly databaseUrl?: string; readonly temporalAddress?: string };

export async function startMore(site: Installation, elsewhere: Elsewhere = {}): Promise<More> {
  const apiPort = await freePort();
  const known = await knownOf(site, apiPort, elsewhere);
  const marks = new Map<string, ChildMark>();
  const supervisor = createSupervisor({
    logDir: join(site.dir, 'logs'),
    say: () => undefined,
    started: async (name, pid) => {
      const mark = processMark(pid);
      if (mark !== undefined) marks.set(name, { name, ...mark });
    },
  });
  const keep = (name: SecondName, entry: string, env: NodeJS.ProcessEnv) =>
    supervisor.keep({ name, launch: async () => program(entry, env), stop: stopProgram });
  const stop = () => supervisor.stop(['api-2', 'worker-2']);
  try {
    await Promise.all([
      keep('api-2', defaultEntries.api, apiEnv(known)),
      keep('worker-2', defaultEntries.worker, workerEnv(known)),
    ]);
  } catch (error) {
    await stop();
    throw error;
  }
  const child = (name: SecondName): ChildMark => {
    const mark = marks.get(name);
    if (mark === undefined) throw new Error(`${name} was not started`);
    return mark;
  };
  return {
    apiUrl: `http://127.0.0.1:${apiPort}`,
    child,
    kill: async (name) => {
      const mark = child(name);
      if (isAlive(mark)) signalIfThere(mark.pid, 'SIGKILL');
      await eventually(
        async () => isAlive(mark),
        (alive) => !alive,
      );
    },
    stop,
  };
}

async function knownOf({ dir, env, ready }: Installation, apiPort: number, elsewhere: Elsewhere): Promise<Known> {
  return {
    env,
    dir,
    settings: readStartSettings(env),
    secrets: await loadSecrets(dir, env),
    apiKey: ready.apiKey,
    addresses: {
      apiUrl: ready.apiUrl,
      apiLocalUrl: `http://127.0.0.1:${apiPort}`,
      apiPort,
      sandboxUrl: ready.sandboxUrl ?? undefined,
      sandboxPort: 0,
      databaseUrl: elsewhere.databaseUrl ?? ready.databaseUrl,
      migrationDatabaseUrl: undefined,
      temporalAddress: elsewhere.temporalAddress ?? ready.temporalAddress,
      temporalUiUrl: ready.temporalUiUrl ?? undefined,
    },
  };
}
