/**
 * `bursar keys rotate` publishes a new key of receipts and tokens; `bursar keys revoke <kid>` takes a compromised key out
 * of the published set at once; `bursar keys rotate-push` replaces the key that signs push messages. Prints names of
 * keys and public keys, never a private one.
 * @module
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Database } from '../db/database.ts';
import { newId } from '../kernel/ids.ts';
import type { Cause } from '../platform/cause.ts';
import { createClock } from '../platform/clock.ts';
import { rotatePushKey } from '../usecases/delivery/rotate-push-key.ts';
import { revokeKey, rotateSigningKey } from '../usecases/identity/signing-keys.ts';
import { createVault, type Vault } from '../vault/vault.ts';
import { readVaultKeys } from '../vault/vault-keys.ts';
import { checkVault } from './infrastructure.ts';

type Sealing = { readonly vaultKey: string | undefined; readonly dataDir: string };
type Say = (text: string) => unknown;

/** The exit code. */
export async function rotateKeys(database: Database, sealing: Sealing, say: Say): Promise<number> {
  const vault = await checkedVault(database, sealing);
  const { kid, activeFrom } = await rotateSigningKey({ database, vault })(await ofCommand(database));
  say(`published the key ${kid}, which signs from ${activeFrom.toISOString()}; former keys stay published\n`);
  return 0;
}

/** The exit code. */
export async function rotateKeyOfPush(database: Database, sealing: Sealing, say: Say): Promise<number> {
  const vault = await checkedVault(database, sealing);
  const { publicKey } = await rotatePushKey({ database, vault })(await ofCommand(database));
  say(
    `devices subscribe with the key ${publicKey} from now on; those of before keep theirs until they subscribe again\n`,
  );
  return 0;
}

/** The exit code. */
export async function revokeKeys(database: Database, sealing: Sealing, kid: string, say: Say): Promise<number> {
  const vault = await checkedVault(database, sealing);
  const { purpose, agentId, revokedAt, isNew } = await revokeKey({ database, vault })(kid, await ofCommand(database));
  const whose = { service: 'of receipts and tokens', checkpoint: 'of checkpoints', agent: `of agent ${agentId}` }[
    purpose
  ];
  if (!isNew) {
    say(`the key ${kid} ${whose} had ended at ${revokedAt.toISOString()}; nothing was changed\n`);
    return 0;
  }
  say(
    `revoked the key ${kid} ${whose}: it is not published any more, and what it signed is invalid from now on\n` +
      'copies of the key set may be up to 5 minutes old; who keeps receipts needs new ones for what this key signed\n',
  );
  return 0;
}

async function checkedVault(database: Database, { vaultKey, dataDir }: Sealing): Promise<Vault> {
  const text = vaultKey ?? (await readFile(join(dataDir, 'vault.key'), 'utf8').catch(() => undefined));
  if (text === undefined) throw new Error('set BURSAR_VAULT_KEY: a new key is sealed with it');
  const vault = createVault({ keys: readVaultKeys(text) });
  await checkVault(database, vault); // Before anything is sealed with a wrong key.
  return vault;
}

/** The cause of what a command changes. In live the offset of the clock is never set. */
export async function ofCommand(database: Database): Promise<Cause> {
  const id = newId('audit');
  const at = await createClock(database, 'sandbox').now();
  return { causeId: `command:${id}`, requestId: id, actor: { kind: 'command' }, at };
}
