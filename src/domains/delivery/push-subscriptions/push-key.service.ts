/** The keys that sign push messages (VAPID): made at first use, sealed, replaced by a rotation; earlier ones still sign for their devices. @module */
import { createECDH } from 'node:crypto';
import * as z from 'zod';
import { firstRowOf, oneRowOf, runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { recordAudit } from '../../../events/record.ts';
import type { Cause } from '../../../platform/cause.ts';
import type { Vault } from '../../../vault/vault.ts';

const keyRow = z.object({ id: z.coerce.number().int(), publicKey: z.string() });
export type PushKey = Readonly<z.output<typeof keyRow>>;

/** The one that devices subscribe with now. Of several first uses at once, one makes it. */
export async function currentPushKey(tx: Tx, vault: Vault, at: Date): Promise<PushKey> {
  const known = await findCurrent(tx);
  if (known !== undefined) return known;
  const { publicKey, sealed } = await freshKey(vault);
  await runSql(
    tx,
    `insert into push_keys (public_key, sealed_private_key, is_current, created_at) values ($1, $2, true, $3)
     on conflict (is_current) where is_current do nothing`,
    [publicKey, sealed, at],
  );
  return oneRowOf(tx, keyRow, currentSql);
}

/** Devices that subscribed before keep their key until they subscribe again. */
export async function rotatePushKey(tx: Tx, vault: Vault, cause: Cause): Promise<PushKey> {
  const { publicKey, sealed } = await freshKey(vault);
  await runSql(tx, 'update push_keys set is_current = false where is_current');
  const key = await oneRowOf(
    tx,
    keyRow,
    `insert into push_keys (public_key, sealed_private_key, is_current, created_at) values ($1, $2, true, $3)
     returning id, public_key as "publicKey"`,
    [publicKey, sealed, cause.at],
  );
  await recordAudit(tx, cause, { action: 'push_key.rotated', subjectId: publicKey, details: { publicKey } });
  return key;
}

/** The key with which a device subscribed; undefined for one that Bursar never had. */
export const pushKeyOf = (tx: Tx, publicKey: string): Promise<PushKey | undefined> =>
  firstRowOf(tx, keyRow, 'select id, public_key as "publicKey" from push_keys where public_key = $1', [publicKey]);

const currentSql = 'select id, public_key as "publicKey" from push_keys where is_current';
const findCurrent = (tx: Tx): Promise<PushKey | undefined> => firstRowOf(tx, keyRow, currentSql);

async function freshKey(vault: Vault): Promise<{ readonly publicKey: string; readonly sealed: string }> {
  const pair = createECDH('prime256v1');
  const publicKey = pair.generateKeys().toString('base64url');
  const privateKey = Buffer.concat([Buffer.alloc(32), pair.getPrivateKey()])
    .subarray(-32)
    .toString('base64url');
  return { publicKey, sealed: await vault.seal(privateKey, pushKeyContext(publicKey)) };
}

export const pushKeyContext = (publicKey: string): string => `push-key/${publicKey}`;
