/**
 * What is wrong with a database: its schema, its clock beside this machine's, and the key that sealed its secrets.
 * Changes nothing, and repeats no password or key.
 * @module
 */
import { readdir } from 'node:fs/promises';
import pg from 'pg';
import { createVault, VaultError } from '../vault/vault.ts';
import { readVaultKeys, vaultCheck } from '../vault/vault-keys.ts';

export type PostgresFindings = {
  /** Undefined where this role may not see it. */
  readonly schema: { readonly missing: readonly string[]; readonly unknown: readonly string[] } | undefined;
  /** How far this machine's clock is ahead of the database's. */
  readonly aheadMs: number;
  /** Undefined: no key was given, or the database has none yet. Else the fault, null without one. */
  readonly key: string | null | undefined;
};

const answerWithinMs = 5_000;

export async function examinePostgres(url: string, vaultKey: string | undefined): Promise<PostgresFindings> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: answerWithinMs,
    query_timeout: answerWithinMs,
    application_name: 'bursar-doctor',
  });
  client.on('error', () => undefined); // The query below fails with it.
  await client.connect();
  try {
    return { schema: await schemaOf(client), aheadMs: await aheadOf(client), key: await keyFaultOf(client, vaultKey) };
  } finally {
    await client.end();
  }
}

/** PostgreSQL's codes. */
const forbidden = '42501';
const undefinedTable = '42P01';

const codeOf = (error: unknown): unknown => (error as { readonly code?: unknown }).code;

async function schemaOf(client: pg.Client): Promise<PostgresFindings['schema']> {
  const files = await readdir(new URL('../db/migrations/', import.meta.url));
  const wanted = files
    .filter((file) => file.endsWith('.sql'))
    .map((file) => file.replace(/\.sql$/, ''))
    .sort();
  try {
    const { rows } = await client.query<{ name: string }>('select name from mikro_orm_migrations order by name');
    const applied = new Set(rows.map(({ name }) => name));
    return {
      missing: wanted.filter((name) => !applied.has(name)),
      unknown: [...applied].filter((name) => !wanted.includes(name)),
    };
  } catch (error) {
    if (codeOf(error) === undefinedTable) return { missing: wanted, unknown: [] };
    if (codeOf(error) === forbidden) return undefined;
    throw error;
  }
}

/** Of three looks the shortest, which says it most exactly. */
async function aheadOf(client: pg.Client): Promise<number> {
  const looks: { readonly tookMs: number; readonly aheadMs: number }[] = [];
  for (let look = 0; look < 3; look++) {
    const from = Date.now();
    const { rows } = await client.query<{ ms: string }>('select extract(epoch from clock_timestamp()) * 1000 as ms');
    const to = Date.now();
    looks.push({ tookMs: to - from, aheadMs: (from + to) / 2 - Number(rows[0]?.ms) });
  }
  return looks.sort((one, other) => one.tookMs - other.tookMs)[0]?.aheadMs ?? 0;
}

async function keyFaultOf(client: pg.Client, vaultKey: string | undefined): Promise<string | null | undefined> {
  if (vaultKey === undefined) return undefined;
  try {
    const { rows } = await client.query<{ value: string }>(
      `select value from deployment_facts where name = 'vault_check'`,
    );
    const check = rows[0]?.value;
    if (check === undefined) return undefined;
    await vaultCheck.verify(createVault({ keys: readVaultKeys(vaultKey) }), check);
    return null;
  } catch (error) {
    if (codeOf(error) === undefinedTable || codeOf(error) === forbidden) return undefined;
    if (error instanceof VaultError) return error.message;
    throw error;
  }
}
