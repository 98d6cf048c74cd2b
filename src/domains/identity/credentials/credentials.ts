/**
 * Resolves a bearer token or the dashboard's secret to its caller, for the edge. A token of the other mode is unknown.
 * @module
 */
import type { Database } from '../../../db/database.ts';
import { startListener } from '../../../db/listener.ts';
import type { Tx } from '../../../db/tx.ts';
import type { Credentials } from '../../../http/authenticate.ts';
import type { Caller } from '../../../http/caller.ts';
import { second } from '../../../kernel/instant.ts';
import type { Logger } from '../../../platform/log.ts';
import { credentialKind, type Mode } from '../../../platform/mode.ts';
import { hashSecret } from '../../../vault/secret-hash.ts';
import { type Found, keyByHash, tokenByHash } from './credential.queries.ts';
import { createCredentialCache } from './credential-cache.ts';
import { createClockKey, createDashboardSecret } from './dashboard-secret.ts';

export type OpenCredentials = Credentials & {
  /** After a revocation by this process, so that it does not wait for the notification. */
  forget(): void;
  close(): Promise<void>;
};

type MerchantCaller = Extract<Caller, { kind: 'merchant' }>;

type Options = {
  readonly database: Database;
  /** For the one connection that hears of revocations. */
  readonly databaseUrl: string;
  readonly mode: Mode;
  readonly log: Logger;
  /** BURSAR_DASHBOARD_SECRET as configured; undefined refuses every use. */
  readonly dashboardSecret: string | undefined;
  /** BURSAR_CLOCK_KEY; undefined refuses every use. */
  readonly clockKey: string | undefined;
  /** Finds a merchant by the hash of its key; the table belongs to another domain. */
  readonly merchantByHash: (tx: Tx, hash: string) => Promise<MerchantCaller | undefined>;
};

export function openCredentials({
  database,
  databaseUrl,
  mode,
  log,
  dashboardSecret,
  clockKey,
  merchantByHash,
}: Options): OpenCredentials {
  const cache = createCredentialCache<Found>();
  const merchants = createCredentialCache<MerchantCaller>();
  const forget = (): void => {
    cache.forget();
    merchants.forget();
  };
  const dashboard = createDashboardSecret(dashboardSecret);
  const listener = startListener({
    url: databaseUrl,
    channels: { bursar_credentials: forget },
    applicationName: 'bursar-credentials',
    log,
    onListening: (isListening) => {
      cache.listening(isListening);
      merchants.listening(isListening);
    },
  });
  const lookUp = (token: string, hash: string): Promise<Found | undefined> =>
    credentialKind(token, mode) === 'agent'
      ? tokenByHash(database.read(), hash, new Date())
      : keyByHash(database.read(), hash);

  return {
    dashboard,
    clock: createClockKey(clockKey),
    forget,
    close: listener.stop,
    merchant: async (key) => {
      const hash = hashSecret(key);
      const recalled = merchants.recall(hash);
      if (recalled !== undefined) return recalled;
      const age = merchants.age();
      const caller = await merchantByHash(database.read(), hash);
      if (caller !== undefined) merchants.remember(hash, caller, age);
      return caller;
    },
    bearer: async (token) => {
      if (credentialKind(token, mode) === undefined) return undefined;
      const hash = hashSecret(token);
      const recalled = cache.recall(hash);
      if (recalled !== undefined) return recalled.caller;
      const age = cache.age();
      const found = await lookUp(token, hash);
      if (found !== undefined && !expiresWithin(found, second)) cache.remember(hash, found, age);
      return found?.caller;
    },
  };
}

/** What expires within the time it would be remembered is asked for again. */
const expiresWithin = ({ expiresAt }: Found, ms: number): boolean =>
  expiresAt !== null && expiresAt.getTime() - Date.now() <= ms;
