/**
 * The command line: `bursar ledger verify` recomputes every owner's ledger in full and compares it with the checkpoints
 * outside the database. Reads only. Exit code 0: intact, 1: differences, 2: could not check.
 * @module
 */
import type { KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { type Database, databaseOf } from '../db/database.ts';
import { openDatabase } from '../db/orm.ts';
import {
  checkpointFolder,
  keyIdOf,
  ownersWithBooks,
  publicKeyOf,
  publicKeysIn,
  signingKeyFrom,
  treasuryEntities,
  verifyCheckpoints,
} from '../domains/treasury/index.ts';
import { verifyOwner } from '../usecases/treasury/verify-owner.ts';
import { reconciliationQueries } from './modules/index.ts';
import { recordChains } from './record-chains.ts';

const usage = `usage: bursar ledger verify

Recomputes every book and every chain of records, and reconciles the records of all areas.
The database is DATABASE_URL, or that of the running Bursar (BURSAR_DATA_DIR, .bursar by default).
`;

type Environment = Readonly<Record<string, string | undefined>>;
type Say = (text: string) => unknown;

/** The exit code. */
export async function runCommand(args: readonly string[], env: Environment, say: Say): Promise<number> {
  if (args.join(' ') !== 'ledger verify') {
    say(usage);
    return 2;
  }
  const dataDir = env.BURSAR_DATA_DIR ?? '.bursar';
  const url = env.DATABASE_URL ?? (await runningDatabase(dataDir));
  const folder = join(dataDir, 'checkpoints');
  const orm = await openDatabase({
    url,
    entities: treasuryEntities,
    poolSize: 2,
    applicationName: 'bursar-ledger-verify',
  });
  try {
    return await verifyLedger(databaseOf(orm), folder, await ownKey(env, dataDir), say);
  } finally {
    await orm.close();
  }
}

async function verifyLedger(database: Database, folder: string, own: KeyObject | undefined, say: Say): Promise<number> {
  const keys = await publicKeysIn(folder);
  if (own !== undefined) keys.set(keyIdOf(own), own);
  let differences = 0;
  const tell = (subject: string, message: string) => {
    differences += 1;
    say(`  ${subject} ${message}\n`);
  };

  let journals = 0;
  let owners = 0;
  for (const ownerId of await ownersWithBooks(database.read())) {
    const found = await verifyOwner({ database })(ownerId, {
      full: true,
      publicKeys: keys,
      chains: recordChains,
      reconciliation: reconciliationQueries,
    });
    say(
      `${ownerId}: ${found.journals} journals, sealed through ${found.sealedThrough}, ${found.unsealed} not sealed yet\n`,
    );
    for (const { chain, sealedThrough, unsealed } of found.records) {
      if (sealedThrough + unsealed > 0)
        say(`  ${chain}: sealed through ${sealedThrough}, ${unsealed} not sealed yet\n`);
    }
    for (const difference of found.differences) tell(difference.subject, difference.message);
    journals += found.journals;
    owners += 1;
  }
  const outside = await verifyCheckpoints(database, checkpointFolder(folder), keys);
  say(`${folder}: ${outside.checkpoints} checkpoints${own === undefined ? ', own signing key not at hand' : ''}\n`);
  for (const difference of outside.differences) tell(difference.subject, difference.message);

  const decision = differences === 0 ? 'the ledger is whole' : `${differences} differences`;
  say(`${decision}: ${owners} owners, ${journals} journals, ${outside.checkpoints} checkpoints\n`);
  return differences === 0 ? 0 : 1;
}

async function runningDatabase(dataDir: string): Promise<string> {
  const path = join(dataDir, 'ready.json');
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) throw new Error(`set DATABASE_URL, or start Bursar first: there is no ${path}`);
  return z.looseObject({ databaseUrl: z.string() }).parse(JSON.parse(text)).databaseUrl;
}

/** The public half; only what was signed by a known key is believed. */
async function ownKey(env: Environment, dataDir: string): Promise<KeyObject | undefined> {
  const pem = env.BURSAR_SIGNING_KEY ?? (await readFile(join(dataDir, 'signing.key'), 'utf8').catch(() => undefined));
  return pem === undefined ? undefined : publicKeyOf(signingKeyFrom(pem));
}

if (import.meta.main) {
  try {
    process.exitCode = await runCommand(process.argv.slice(2), process.env, (text) => process.stdout.write(text));
  } catch (error) {
    process.stderr.write(`bursar: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 2;
  }
}
