/**
 * The secrets of a local installation: from the environment, else generated once and stored in the data folder,
 * readable by its owner alone. Must never print or log one.
 * @module
 */
import { generateKeyPairSync, randomBytes, randomInt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeAtomically, writeOnce } from './atomic-file.ts';

export type Secrets = {
  dashboardSecret: string;
  /** With it the simulated outside world reads the business clock. */
  clockKey: string;
  vaultKey: string;
  networkKey: string;
  signingKey: string;
  postgresPassword: string;
  /** Of the role that the processes run as. */
  applicationPassword: string;
};

/** The owner key made on first start, so that a second start can name it again. */
export type Owner = { apiKey: string; ownerId: string | null };

export async function loadSecrets(dir: string, env: NodeJS.ProcessEnv): Promise<Secrets> {
  return {
    dashboardSecret: env.BURSAR_DASHBOARD_SECRET || (await kept(dir, 'dashboard.secret', random)),
    clockKey: env.BURSAR_CLOCK_KEY || (await kept(dir, 'clock.key', random)),
    vaultKey: env.BURSAR_VAULT_KEY || (await kept(dir, 'vault.key', () => randomBytes(32).toString('base64'))),
    networkKey: env.BURSAR_NETWORK_KEY || (await kept(dir, 'network.key', random)),
    signingKey: env.BURSAR_SIGNING_KEY || (await kept(dir, 'signing.key', signingKey)),
    postgresPassword: await kept(dir, 'postgres.password', random),
    applicationPassword: await kept(dir, 'postgres-app.password', random),
  };
}

/** `prefix` is the deployment's: a key of the other mode is kept, but not used. */
export async function loadOwner(dir: string, env: NodeJS.ProcessEnv, prefix: string): Promise<Owner> {
  const file = ownerFile(prefix);
  await kept(dir, file, () => ownerText({ apiKey: prefix + base62(40), ownerId: null }));
  const owner = JSON.parse(await readFile(join(dir, file), 'utf8')) as Owner;
  return env.BURSAR_API_KEY && env.BURSAR_API_KEY !== owner.apiKey
    ? { apiKey: env.BURSAR_API_KEY, ownerId: null }
    : owner;
}

/** Keeps the owner's id beside the key it was learned with; a key from the environment is not kept. */
export async function rememberOwner(dir: string, prefix: string, owner: Owner): Promise<void> {
  const path = join(dir, ownerFile(prefix));
  const stored = JSON.parse(await readFile(path, 'utf8')) as Owner;
  if (stored.apiKey === owner.apiKey && stored.ownerId !== owner.ownerId) await writeAtomically(path, ownerText(owner));
}

function ownerFile(prefix: string): string {
  return prefix.includes('live') ? 'owner.live.json' : 'owner.json';
}

function ownerText(owner: Owner): string {
  return `${JSON.stringify(owner, null, 2)}\n`;
}

async function kept(dir: string, name: string, make: () => string): Promise<string> {
  const path = join(dir, name);
  const found = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  });
  if (found === undefined) {
    await writeOnce(path, make());
    return kept(dir, name, make);
  }
  if (found.trim() === '')
    throw new Error(`${path} is empty: restore it from a backup, or delete it to have a new one made`);
  return found;
}

function random(): string {
  return randomBytes(32).toString('base64url');
}

function signingKey(): string {
  return generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function base62(length: number): string {
  const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  return Array.from({ length }, () => letters[randomInt(letters.length)]).join('');
}
