/**
 * The command line: src/cli has the commands that call the API, this file those that work on the database.
 * `bursar ledger verify` recomputes every owner's ledger in full and compares it with the checkpoints
 * outside the database; it reads only. Exit code 0: intact, 1: differences, 2: could not check. `bursar ledger prove`
 * proves one record under a signed checkpoint, and `bursar ledger check` checks such a proof. `bursar keys rotate`
 * publishes a new key of receipts and tokens, `bursar keys revoke <kid>` ends a compromised key at once. `bursar network
 * messages` lists what the card network sent and nothing has booked; `assign` and `dismiss` settle it.
 * `bursar mcp` serves MCP on standard input and output.
 * @module
 */
import type { KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { runProgram } from '../cli/program.ts';
import { readSettings } from '../cli/settings.ts';
import { type Database, databaseOf } from '../db/database.ts';
import { openDatabase } from '../db/orm.ts';
import { keyIdOf, publicKeyOf, signingKeyFrom } from '../domains/treasury/ledger/checkpoint.rules.ts';
import { checkpointFolder, publicKeysIn } from '../domains/treasury/ledger/checkpoint.store.ts';
import { verifyCheckpoints } from '../domains/treasury/ledger/checkpoint.verify.service.ts';
import { ownersWithBooks } from '../domains/treasury/ledger/verify.service.ts';
import { WalletRow } from '../domains/treasury/wallets/wallet.entity.ts';
import { verifyOwner } from '../usecases/treasury/verify-owner.ts';
import { revokeKeys, rotateKeyOfPush, rotateKeys } from './change-keys.ts';
import { serveMcp } from './mcp.ts';
import { entities, reconciliationQueries } from './modules/index.ts';
import { networkCommand } from './network-commands.ts';
import { checkProof, printProof } from './proof-commands.ts';
import { recordChains } from './record-chains.ts';

const usage = `usage: bursar ledger verify
       bursar ledger prove <journal, audit row or transaction>
       bursar ledger check <proof file> [<public key file>]
       bursar keys rotate
       bursar keys revoke <kid>
       bursar keys rotate-push
       bursar network messages
       bursar network assign <kind/id> <reason> [<euros>] [<card>]
       bursar network dismiss <kind/id> <reason>
       bursar mcp

ledger verify: recomputes every book and every chain of records, and reconciles the records of all areas.
ledger prove: prints the proof that a journal (jr_…), an audit row (aud_…) or the decision about a transaction (tx_…)
  is under a signed checkpoint, without any other record.
ledger check: checks such a proof. It needs no database, only the public key: the file named, or those beside the
  checkpoints.
keys rotate: publishes a new key of receipts and tokens, which signs ten minutes later; needs BURSAR_VAULT_KEY.
keys revoke: takes a compromised key of any purpose out of the published set; nothing that it signed is valid then.
  Needs BURSAR_VAULT_KEY, because the key that signs receipts and tokens is replaced at once.
keys rotate-push: replaces the key that signs push messages; devices keep the former one until they subscribe again.
  Needs BURSAR_VAULT_KEY.
network messages: lists what the card network sent and nothing has booked, because it contradicts its authorization, and
  what it said of an unknown card (unknown_card): what it moved is in suspense.
network assign: books such a message on its authorization; what it moved in another currency needs its amount in euros.
  What belongs to no payment is booked for the holder of its card, or of the card (ca_…) that is named.
network dismiss: decides that it is booked on no payment; what is in suspense is written off. Both are final, and the
  reason is kept in the audit log.
mcp: serves MCP on standard input and output with the token BURSAR_TOKEN, at the API of BURSAR_API_URL or the running one.
The database is DATABASE_URL, or that of the running Bursar (BURSAR_DATA_DIR, .bursar by default).
`;

type Environment = Readonly<Record<string, string | undefined>>;
type Say = (text: string) => unknown;

/** The exit code. */
export async function runCommand(args: readonly string[], env: Environment, say: Say): Promise<number> {
  const dataDir = env.BURSAR_DATA_DIR ?? '.bursar';
  const folder = join(dataDir, 'checkpoints');
  const keysAtHand = async () => {
    const [keys, own] = [await publicKeysIn(folder), await ownKey(env, dataDir)];
    return { own, keys: own === undefined ? keys : keys.set(keyIdOf(own), own) };
  };
  const onDatabase = async (of: typeof entities, name: string, work: (database: Database) => Promise<number>) => {
    const url = env.DATABASE_URL ?? (await runningDatabase(dataDir));
    const orm = await openDatabase({ url, entities: of, poolSize: 2, applicationName: `bursar-${name}` });
    try {
      return await work(databaseOf(orm));
    } finally {
      await orm.close();
    }
  };
  const [area, verb, file, keyFile, ...more] = args;
  if (area === 'ledger' && verb === 'check' && file !== undefined && more.length === 0)
    return checkProof(file, keyFile, async () => (await keysAtHand()).keys, say);
  if (area === 'mcp' && verb === undefined) return serveMcp(env, dataDir);
  if (area === 'network') {
    const run = networkCommand(args.slice(1));
    if (run !== undefined) return onDatabase(entities, 'network', (database) => run(database, say));
  }
  const [command, named] = commandOf(args);
  if (command === undefined) {
    say(usage);
    return 2;
  }
  return onDatabase([WalletRow], command.replace(' ', '-'), async (database) => {
    const sealing = { vaultKey: env.BURSAR_VAULT_KEY, dataDir };
    if (command === 'keys rotate') return rotateKeys(database, sealing, say);
    if (command === 'keys rotate-push') return rotateKeyOfPush(database, sealing, say);
    if (command === 'keys revoke') return revokeKeys(database, sealing, named, say);
    const { keys, own } = await keysAtHand();
    if (command === 'ledger prove') return printProof(database, named, keys, say);
    return verifyLedger(database, { folder, keys, own }, say);
  });
}

const commands = ['ledger verify', 'keys rotate', 'keys rotate-push'] as const;
/** Those that name a record. */
const namingCommands = ['ledger prove', 'keys revoke'] as const;
type Command = readonly [(typeof commands)[number], undefined] | readonly [(typeof namingCommands)[number], string];

function commandOf(args: readonly string[]): Command | readonly [undefined, undefined] {
  const [area, verb, named, ...more] = args;
  const isAsked = (command: string) => command === `${area} ${verb}`;
  const naming = namingCommands.find(isAsked);
  if (naming !== undefined && named !== undefined && more.length === 0) return [naming, named];
  const alone = commands.find(isAsked);
  return alone !== undefined && named === undefined ? [alone, undefined] : [undefined, undefined];
}

type Outside = {
  readonly folder: string;
  readonly keys: ReadonlyMap<string, KeyObject>;
  /** Undefined where the machine does not have it. */
  readonly own: KeyObject | undefined;
};

async function verifyLedger(database: Database, { folder, keys, own }: Outside, say: Say): Promise<number> {
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
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort();
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const signal of signals) process.once(signal, interrupt);
  process.exitCode = await runProgram(process.argv.slice(2), {
    env: process.env,
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    ended: interrupted.signal,
    onDatabase: async (args, say) => {
      for (const signal of signals) process.off(signal, interrupt); // They end this process as usual.
      return runCommand(args, args[0] === 'mcp' ? await withStoredToken(process.env) : process.env, say);
    },
  });
}

/** An MCP client needs no secret in its configuration where `bursar init` kept the token. */
async function withStoredToken(env: Environment): Promise<Environment> {
  if (env.BURSAR_TOKEN || env.BURSAR_API_KEY) return env;
  const { agentToken, apiUrl } = await readSettings(env, {});
  return agentToken === undefined ? env : { ...env, BURSAR_TOKEN: agentToken, BURSAR_API_URL: apiUrl };
}
