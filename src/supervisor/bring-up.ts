/**
 * Starts everything in order over one data folder and stops it again; continues an interrupted start. Must not print a
 * secret.
 * @module
 */
import { runLists, runListUrl } from '../temporal/run-lists.ts';
import { temporalSecurity } from '../temporal/security.ts';
import { setUpTemporal } from '../temporal/set-up.ts';
import { checkConfig, checkPostgres, checkTemporal, type ReadConfig } from './checks.ts';
import { openDataDir } from './data-dir.ts';
import { firstOwner } from './first-owner.ts';
import { runToEnd, type StopSteps } from './launch.ts';
import { apiNodeOptions } from './node-options.ts';
import { type Claim, claimDataDir, stopOrphans } from './pids.ts';
import { type ChosenPorts, choosePorts, type Ports } from './ports.ts';
import { stopPostgres } from './postgres.ts';
import {
  type Addresses,
  apiEnv,
  defaultEntries,
  type Entries,
  type Known,
  migrateEnv,
  program,
  sandboxEnv,
  stopProgram,
  workerEnv,
} from './processes.ts';
import { type Ready, removeReady, writeReady } from './ready-file.ts';
import { loadOwner, loadSecrets, rememberOwner, type Secrets } from './secrets.ts';
import { type DatabaseUrls, postgresPlan, temporalPlan, temporalProgram } from './servers.ts';
import { readStartSettings, type StartSettings } from './settings.ts';
import { createSupervisor, type Supervisor } from './supervisor.ts';
import { stopTemporal } from './temporal-server.ts';

export type StartOptions = {
  /** How the processes read their settings. */
  readConfig: ReadConfig;
  env?: NodeJS.ProcessEnv;
  /** The programs; tests put their own here. */
  entries?: Partial<Entries>;
  /** Progress, one line at a time. */
  say?: (line: string) => void;
};

export type Running = {
  ready: Ready;
  /** Absent in live mode, where no file holds the keys. */
  readyFile: string | undefined;
  /** The one line that says where everything is; begins with `ready `. */
  line: string;
  stop(): Promise<void>;
};

/** First the traffic, last the truth. */
const stopOrder = ['sandbox', 'api', 'worker', 'temporal', 'postgres'];

/** `running` resolves when all of it is ready; `stop` and `kill` may be called at any time, also before. */
export type Starting = { running: Promise<Running>; stop(): Promise<void>; kill(): void };

export function start(options: StartOptions): Starting {
  const site: Site = {};
  const stop = () => {
    site.stopped ??= takeDown(site);
    return site.stopped;
  };
  const running = bringUp(site, options, stop).catch(async (error: unknown) => {
    await stop();
    // what was made while a stop was under way already
    await takeDown(site);
    throw error;
  });
  return { running, stop, kill: () => site.supervisor?.kill() };
}

/** What exists so far, for who has to take it down. */
type Site = { dir?: string; claim?: Claim; supervisor?: Supervisor; stopped?: Promise<void> };

function goOn(site: Site): void {
  if (site.stopped !== undefined) throw new Error('stopped before everything was up');
}

async function bringUp(site: Site, options: StartOptions, stop: () => Promise<void>): Promise<Running> {
  const { env = process.env, say = () => undefined } = options;
  const entries = { ...defaultEntries, ...options.entries };
  const settings = readStartSettings(env);
  // what children write (logs, Temporal's database file) is readable by us alone
  process.umask(0o077);
  const dir = await openDataDir(env);
  const claim = await claimDataDir(dir);
  Object.assign(site, { dir, claim });
  goOn(site);
  await removeReady(dir);
  await endOrphans(claim, say);
  const secrets = await loadSecrets(dir, env);
  const keyPrefix = settings.mode === 'live' ? 'sk_live_' : 'sk_sandbox_';
  const owner = await loadOwner(dir, env, keyPrefix);
  const { ports, moved } = await chosenPorts(dir, settings, say);
  const supervisor = createSupervisor({ logDir: `${dir}/logs`, started: claim.started, say });
  site.supervisor = supervisor;
  goOn(site);
  await checkSurroundings(options.readConfig, { env, dir, settings, secrets, apiKey: owner.apiKey }, ports);
  goOn(site);

  const servers = { dir, env, settings, secrets, ports, say, supervisor };
  const [database, temporal] = await Promise.all([startDatabase(servers), startTemporalServer(servers)]);
  const addresses = addressesOf(settings, ports, database, temporal);
  const known: Known = { env, dir, settings, secrets, apiKey: owner.apiKey, addresses };
  say('migrating the database');
  await migrate(known, entries);

  goOn(site);
  say('starting sandbox, API and worker');
  const keep = (name: string, entry: string, childEnv: NodeJS.ProcessEnv, nodeOptions?: readonly string[]) =>
    supervisor.keep({ name, launch: async () => program(entry, childEnv, nodeOptions), stop: stopProgram });
  await Promise.all([
    ...(addresses.sandboxUrl ? [keep('sandbox', entries.sandbox, sandboxEnv(known))] : []),
    keep('api', entries.api, apiEnv(known), apiNodeOptions),
    keep('worker', entries.worker, workerEnv(known)),
  ]);
  const ownerId = await firstOwner(addresses.apiLocalUrl, owner.apiKey);
  await rememberOwner(dir, keyPrefix, { apiKey: owner.apiKey, ownerId });
  const ready = readyOf(known, { ownerId, uiUrl: temporal.uiUrl, cli: temporal.cli });
  for (const line of linksForOperators(ready, env.TEMPORAL_UI_URL)) say(line);
  const file = settings.mode === 'sandbox' ? await writeReady(dir, ready) : undefined;
  return { ready, readyFile: file, line: readyLine(ready, moved, file), stop };
}

/** Before anything is started: a setting that no program takes, or a server that does not answer, ends the start here. */
async function checkSurroundings(readConfig: ReadConfig, known: Omit<Known, 'addresses'>, ports: Ports): Promise<void> {
  const { settings, env } = known;
  const { databaseUrl, migrationDatabaseUrl, temporalAddress } = settings;
  const addresses = addressesOf(
    settings,
    ports,
    { application: databaseUrl ?? 'postgres://127.0.0.1/bursar', migration: migrationDatabaseUrl },
    { address: temporalAddress ?? `127.0.0.1:${ports.temporal}`, uiUrl: null },
  );
  checkConfig(readConfig, apiEnv({ ...known, addresses }), workerEnv({ ...known, addresses }));
  await Promise.all([
    ...(databaseUrl === undefined ? [] : [checkPostgres(databaseUrl)]),
    ...(migrationDatabaseUrl === undefined
      ? []
      : [checkPostgres(migrationDatabaseUrl, 'BURSAR_MIGRATION_DATABASE_URL')]),
    ...(temporalAddress === undefined ? [] : [checkTemporal(temporalAddress, temporalSecurity(env))]),
  ]);
}

async function takeDown(site: Site): Promise<void> {
  const { supervisor, claim, dir } = site;
  if (dir && claim) await removeReady(dir);
  await supervisor?.stop(stopOrder);
  await claim?.release();
  delete site.claim;
}

async function endOrphans(claim: Claim, say: (line: string) => void): Promise<void> {
  const order = (name: string) => (stopOrder.indexOf(name) + stopOrder.length) % stopOrder.length;
  const orphans = claim.orphans.toSorted((a, b) => order(a.name) - order(b.name));
  const stepsOf = (name: string): StopSteps =>
    ({ postgres: stopPostgres, temporal: stopTemporal })[name] ?? stopProgram;
  const ended = await stopOrphans(orphans, stepsOf);
  if (ended.length > 0) say(`an earlier start died and left ${ended.join(', ')} running: stopped`);
  await claim.orphansStopped();
}

type Servers = {
  dir: string;
  env: NodeJS.ProcessEnv;
  settings: StartSettings;
  secrets: Secrets;
  ports: Ports;
  say(line: string): void;
  supervisor: Supervisor;
};

async function chosenPorts(dir: string, settings: StartSettings, say: (line: string) => void): Promise<ChosenPorts> {
  const without: (keyof Ports)[] = [
    ...(settings.databaseUrl ? (['postgres'] as const) : []),
    ...(settings.temporalAddress ? (['temporal', 'temporalUi'] as const) : []),
    ...(settings.mode === 'live' ? (['sandbox'] as const) : []),
  ];
  const chosen = await choosePorts({ dir, port: settings.port, host: settings.host, without });
  for (const line of chosen.moved) say(line);
  return chosen;
}

async function startDatabase({ dir, settings, secrets, ports, say, supervisor }: Servers): Promise<DatabaseUrls> {
  if (settings.databaseUrl) return { migration: settings.migrationDatabaseUrl, application: settings.databaseUrl };
  say(`starting PostgreSQL on port ${ports.postgres}`);
  const { postgresPassword: password, applicationPassword } = secrets;
  const plan = postgresPlan({ dir, port: ports.postgres, password, applicationPassword, say });
  await supervisor.keep(plan);
  return plan.databaseUrls();
}

type TemporalParts = { address: string; uiUrl: string | null; cli: string | null };

async function startTemporalServer(needs: Servers): Promise<TemporalParts> {
  const { settings, ports, say, supervisor } = needs;
  const cli = (await temporalProgram(needs, !settings.temporalAddress)) ?? null;
  if (settings.temporalAddress) {
    const { temporalAddress: address, namespace } = settings;
    say(await setUpTemporal({ address, namespace, security: temporalSecurity(needs.env) }));
    return { address: settings.temporalAddress, uiUrl: null, cli };
  }
  say(`starting Temporal on port ${ports.temporal}`);
  const { dir } = needs;
  const { temporal: port, temporalUi: uiPort } = ports;
  await supervisor.keep(temporalPlan({ dir, binary: cli as string, port, uiPort, namespace: settings.namespace, say }));
  return { address: `127.0.0.1:${port}`, uiUrl: `http://localhost:${uiPort}`, cli };
}

async function migrate(known: Known, entries: Entries): Promise<void> {
  await runToEnd(program(entries.migrate, migrateEnv(known))).catch((cause: unknown) => {
    throw new Error(`the database was not migrated: ${(cause as Error).message}`, { cause });
  });
}

function addressesOf(
  settings: StartSettings,
  ports: Ports,
  database: DatabaseUrls,
  temporal: Pick<TemporalParts, 'address' | 'uiUrl'>,
): Addresses {
  const isEverywhere = ['0.0.0.0', '::', '127.0.0.1', 'localhost'].includes(settings.host);
  const local = isEverywhere ? '127.0.0.1' : settings.host;
  return {
    apiUrl: settings.publicUrl ?? `http://localhost:${ports.api}`,
    apiLocalUrl: `http://${local.includes(':') ? `[${local}]` : local}:${ports.api}`,
    apiPort: ports.api,
    sandboxUrl: settings.mode === 'sandbox' ? `http://127.0.0.1:${ports.sandbox}` : undefined,
    sandboxPort: ports.sandbox,
    databaseUrl: database.application,
    migrationDatabaseUrl: database.migration,
    temporalAddress: temporal.address,
    temporalUiUrl: temporal.uiUrl ?? undefined,
  };
}

function readyOf(
  { addresses, settings, secrets, apiKey }: Known,
  { ownerId, uiUrl, cli }: { ownerId: string; uiUrl: string | null; cli: string | null },
): Ready {
  return {
    apiUrl: addresses.apiUrl,
    docsUrl: `${addresses.apiUrl}/docs`,
    apiKey,
    ownerId,
    dashboardSecret: secrets.dashboardSecret,
    networkKey: secrets.networkKey,
    temporalAddress: addresses.temporalAddress,
    temporalUiUrl: uiUrl,
    temporalNamespace: settings.namespace,
    temporalCli: cli,
    databaseUrl: addresses.databaseUrl,
    sandboxUrl: addresses.sandboxUrl ?? null,
  };
}

/** The runs that an operator looks for, in the Web UI; none where its address is not known. */
function linksForOperators({ temporalUiUrl, temporalNamespace }: Ready, named: string | undefined): string[] {
  const base = named || temporalUiUrl;
  if (base === null) return [];
  return runLists.map(({ name, query }) => `runs: ${name}: ${runListUrl(base, temporalNamespace, query)}`);
}

function readyLine(ready: Ready, moved: string[], file: string | undefined): string {
  const { apiUrl, docsUrl, temporalUiUrl, temporalAddress, sandboxUrl } = ready;
  return [
    `ready API ${apiUrl}`,
    `docs ${docsUrl}`,
    temporalUiUrl ? `Temporal UI ${temporalUiUrl}` : `Temporal ${temporalAddress}`,
    ...(sandboxUrl ? [`sandbox ${sandboxUrl}`] : []),
    ...(file ? [`keys and addresses in ${file}`] : []),
    ...moved,
  ].join(' · ');
}
