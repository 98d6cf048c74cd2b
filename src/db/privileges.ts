/**
 * The privileges of the application role, which owns nothing. Tables of evidence (ledger, events, audit, decisions) are
 * written only through functions that run as their owner. Applied after every migration, so a new table needs no further
 * grants; a new table of evidence is added to one of the lists here.
 * @module
 */
import pg from 'pg';

/** Written only by SECURITY DEFINER functions. */
export const writtenByFunctions: readonly string[] = [
  ...['journals', 'journal_texts', 'ledger_entries', 'ledger_accounts'],
  ...['events', 'purged_events', 'audit', 'decisions'],
];
/** Rows are added and never change. */
export const onlyAdded: readonly string[] = [
  'journal_seals',
  'contra_lines',
  'ledger_checkpoints',
  'record_seals',
  'record_checkpoints',
  'record_salts',
  'transitions',
  'transaction_events',
  'access_events',
  'beneficiary_screenings',
  'payee_checks',
  'policy_versions',
];
/** Further tables that the application role does not write freely, with what it may do besides reading. */
const restricted: Readonly<Record<string, string>> = {
  // The sealer takes out what it seals.
  unsealed_journals: 'delete',
  unsealed_records: 'delete',
  // What a key signed stays verifiable until the key is revoked, which a trigger makes final.
  signing_keys: 'insert, update (ends_at)',
  mikro_orm_migrations: '',
  sql_functions: '',
};

export function writesAllowedOn(table: string): string {
  if (writtenByFunctions.includes(table)) return '';
  if (onlyAdded.includes(table)) return 'insert';
  return restricted[table] ?? 'insert, update, delete';
}

/** `client` is connected as the migration role. The role of `applicationUrl` gets what it needs, and nothing else. */
export async function grantToApplication(client: pg.ClientBase, applicationUrl: string): Promise<void> {
  const role = await roleOf(applicationUrl);
  const [own] = (await client.query<{ role: string }>('select current_user as role')).rows;
  if (own?.role === role) return; // One role does everything; health says so.
  const to = pg.escapeIdentifier(role);
  const { rows: tables } = await client.query<{ name: string }>(
    `select c.relname as name from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')`,
  );
  const { rows: functions } = await client.query<{ signature: string }>(
    `select p.oid::regprocedure::text as signature from pg_proc p
     where p.pronamespace = 'public'::regnamespace and p.prosecdef`,
  );
  const { rows: databases } = await client.query<{ name: string }>('select current_database() as name');
  const statements = [
    // Temporary views and functions are how a caller would lead a function that runs as its owner astray.
    ...databases.map(({ name }) => `revoke temporary on database ${pg.escapeIdentifier(name)} from public, ${to}`),
    'revoke create on schema public from public',
    `revoke all on schema public from ${to}`,
    `grant usage on schema public to ${to}`,
    `revoke all on all tables in schema public from ${to}`,
    `grant select on all tables in schema public to ${to}`,
    `grant usage on all sequences in schema public to ${to}`,
    ...tables.flatMap(({ name }) => {
      const writes = writesAllowedOn(name);
      return writes === '' ? [] : [`grant ${writes} on public.${pg.escapeIdentifier(name)} to ${to}`];
    }),
    ...functions.flatMap(({ signature }) => [
      `revoke all on function ${signature} from public`,
      `grant execute on function ${signature} to ${to}`,
    ]),
  ];
  await client.query(['begin', ...statements, 'commit'].join(';\n'));
}

async function roleOf(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  await client.connect();
  try {
    const { rows } = await client.query<{ role: string }>('select current_user as role');
    return rows[0]?.role ?? '';
  } finally {
    await client.end();
  }
}
