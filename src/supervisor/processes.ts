/** The plans of Bursar's processes: how each is started, with only the environment variables that it needs. @module */
import { join } from 'node:path';
import { stopTimes } from '../platform/stop-times.ts';
import { temporalSecurityNames } from '../temporal/security.ts';
import { projectRoot } from './data-dir.ts';
import type { Launch, StopSteps } from './launch.ts';
import { nodeOptions } from './node-options.ts';
import type { Secrets } from './secrets.ts';
import type { StartSettings } from './settings.ts';

export type Entries = { api: string; worker: string; sandbox: string; migrate: string };

/** Where everything is, once it is known. */
export type Addresses = {
  apiUrl: string;
  /** For calls on this machine; `apiUrl` may lead through a proxy. */
  apiLocalUrl: string;
  apiPort: number;
  sandboxUrl: string | undefined;
  sandboxPort: number;
  /** For the application role. */
  databaseUrl: string;
  /** For the role that owns the schema; undefined where one role is both. */
  migrationDatabaseUrl: string | undefined;
  temporalAddress: string;
  /** Undefined where Bursar did not start Temporal; the environment may name it. */
  temporalUiUrl: string | undefined;
};

export const defaultEntries: Entries = {
  api: join(projectRoot, 'src/main/api.ts'),
  worker: join(projectRoot, 'src/main/worker.ts'),
  sandbox: join(projectRoot, 'src/main/sandbox.ts'),
  migrate: join(projectRoot, 'src/main/migrate.ts'),
};

/** Drains first; what hangs is ended. */
export const stopProgram: StopSteps = [
  { signal: 'SIGTERM', withinMs: stopTimes.killMs },
  { signal: 'SIGKILL', withinMs: 2_000 },
];

export type Known = {
  env: NodeJS.ProcessEnv;
  dir: string;
  settings: StartSettings;
  secrets: Secrets;
  apiKey: string;
  addresses: Addresses;
};

export function program(entry: string, env: NodeJS.ProcessEnv, options = nodeOptions): Launch {
  return { command: process.execPath, args: [...options, entry], env };
}

export function apiEnv(known: Known): NodeJS.ProcessEnv {
  const { addresses, settings, secrets, apiKey, env } = known;
  const uiUrl = env.TEMPORAL_UI_URL ?? addresses.temporalUiUrl;
  return {
    ...innerEnv(known),
    PORT: String(addresses.apiPort),
    HOST: settings.host,
    BURSAR_PUBLIC_URL: addresses.apiUrl,
    BURSAR_API_KEY: apiKey,
    BURSAR_DASHBOARD_SECRET: secrets.dashboardSecret,
    BURSAR_CLOCK_KEY: secrets.clockKey,
    BURSAR_NETWORK_KEY: secrets.networkKey,
    ...(env.BURSAR_BANK_KEY === undefined ? {} : { BURSAR_BANK_KEY: env.BURSAR_BANK_KEY }),
    ...(uiUrl ? { TEMPORAL_UI_URL: uiUrl } : {}),
    ...(env.BURSAR_MERCHANT_INVITE_CODES ? { BURSAR_MERCHANT_INVITE_CODES: env.BURSAR_MERCHANT_INVITE_CODES } : {}),
  };
}

export function workerEnv(known: Known): NodeJS.ProcessEnv {
  const { addresses, secrets } = known;
  return { ...innerEnv(known), BURSAR_PUBLIC_URL: addresses.apiUrl, BURSAR_SIGNING_KEY: secrets.signingKey };
}

export function migrateEnv(known: Known): NodeJS.ProcessEnv {
  const { databaseUrl, migrationDatabaseUrl } = known.addresses;
  return {
    ...plainEnv(known),
    DATABASE_URL: databaseUrl,
    ...(migrationDatabaseUrl === undefined ? {} : { BURSAR_MIGRATION_DATABASE_URL: migrationDatabaseUrl }),
  };
}

/** The outside world: it knows Bursar's address, the network's shared key and the right to read the clock. */
export function sandboxEnv(known: Known): NodeJS.ProcessEnv {
  const { addresses, secrets } = known;
  return {
    ...plainEnv(known),
    SANDBOX_PORT: String(addresses.sandboxPort),
    BURSAR_API_URL: addresses.apiLocalUrl,
    BURSAR_NETWORK_KEY: secrets.networkKey,
    BURSAR_CLOCK_KEY: secrets.clockKey,
  };
}

function innerEnv(known: Known): NodeJS.ProcessEnv {
  const { addresses, settings, secrets, env } = known;
  const sandboxOrigin = addresses.sandboxUrl ? [new URL(addresses.sandboxUrl).origin] : [];
  return {
    ...plainEnv(known),
    // they are for the user's own server, not for the one that was started here
    ...(settings.temporalAddress ? Object.fromEntries(temporalSecurityNames.map((name) => [name, env[name]])) : {}),
    DATABASE_URL: addresses.databaseUrl,
    TEMPORAL_ADDRESS: addresses.temporalAddress,
    TEMPORAL_NAMESPACE: settings.namespace,
    ...(addresses.sandboxUrl ? { BURSAR_SANDBOX_URL: addresses.sandboxUrl } : {}),
    BURSAR_ALLOWED_ORIGINS: [...new Set([...settings.allowedOrigins, ...sandboxOrigin])].join(','),
    BURSAR_VAULT_KEY: secrets.vaultKey,
  };
}

const given: readonly string[] = [
  ...['BURSAR_API_KEY', 'BURSAR_DASHBOARD_SECRET', 'BURSAR_VAULT_KEY', 'BURSAR_NETWORK_KEY', 'BURSAR_SIGNING_KEY'],
  ...['BURSAR_CLOCK_KEY', 'BURSAR_BANK_KEY', 'BURSAR_MERCHANT_INVITE_CODES'],
  ...['DATABASE_URL', 'BURSAR_MIGRATION_DATABASE_URL', 'PORT', 'HOST', 'BURSAR_PUBLIC_URL', 'BURSAR_ALLOWED_ORIGINS'],
  ...temporalSecurityNames,
];

/** The environment we got without the values above: each program is given those it needs. */
function plainEnv({ env, dir, settings }: Known): NodeJS.ProcessEnv {
  const rest = Object.fromEntries(Object.entries(env).filter(([name]) => !given.includes(name)));
  return { ...rest, BURSAR_MODE: settings.mode, BURSAR_DATA_DIR: dir };
}
