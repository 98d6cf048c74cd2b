/** The plans of PostgreSQL and Temporal for the supervisor, unless the environment names other servers. @module */
import { join } from 'node:path';
import { setUpTemporal } from '../temporal/set-up.ts';
import { applicationUrl, preparePostgres, stopPostgres } from './postgres.ts';
import type { Plan } from './supervisor.ts';
import { presentTemporal, temporalBinary } from './temporal-binary.ts';
import { clearHalfMade } from './temporal-file.ts';
import { stopTemporal, temporalAnswers, temporalLaunch } from './temporal-server.ts';

type PostgresNeeds = {
  dir: string;
  port: number;
  password: string;
  applicationPassword: string;
  say(line: string): void;
};

/** The same database, for the role that owns it and for the role that the processes run as. */
export type DatabaseUrls = { readonly migration: string | undefined; readonly application: string };

/** `databaseUrls` are known once the plan was ready. */
export function postgresPlan({
  dir,
  port,
  password,
  applicationPassword,
  say,
}: PostgresNeeds): Plan & { databaseUrls(): DatabaseUrls } {
  let prepared: Awaited<ReturnType<typeof preparePostgres>> | undefined;
  let url = '';
  return {
    name: 'postgres',
    async launch() {
      const isFirst = !prepared;
      prepared = await preparePostgres({ dir, port, password, database: 'bursar', applicationPassword, say });
      if (isFirst && !prepared.place.dataDir.startsWith(dir)) {
        say(`the database lies in ${prepared.place.dataDir}, where the system user postgres can reach it`);
      }
      return prepared.launch;
    },
    async ready(alive) {
      if (prepared) url = await prepared.ready(alive);
    },
    stop: stopPostgres,
    kill: 'SIGQUIT',
    databaseUrls: () => ({ migration: url, application: applicationUrl(url, applicationPassword) }),
  };
}

type TemporalNeeds = {
  dir: string;
  binary: string;
  port: number;
  uiPort: number;
  namespace: string;
  say(line: string): void;
};

/** Set up at every start: the server may come back empty, because its file was deleted. */
export function temporalPlan({ dir, say, ...options }: TemporalNeeds): Plan {
  const dbFile = join(dir, 'temporal.db');
  return {
    name: 'temporal',
    async launch() {
      await clearHalfMade(dbFile);
      return temporalLaunch({ ...options, dbFile });
    },
    async ready(alive) {
      const address = await temporalAnswers(options, alive);
      say(await setUpTemporal({ address, namespace: options.namespace, isOwnServer: true }));
    },
    stop: stopTemporal,
  };
}

/** The binary is required only to start a server; otherwise it is named if it is found. */
export async function temporalProgram(
  { dir, env, say }: { dir: string; env: NodeJS.ProcessEnv; say(line: string): void },
  isNeeded: boolean,
): Promise<string | undefined> {
  if (isNeeded) return temporalBinary({ dir, env, say });
  return presentTemporal({ dir, env }).catch(() => undefined);
}
