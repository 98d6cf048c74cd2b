/** Reads of passkeys: an owner's enrolled ones, oldest first. No decision is made here. @module */
import * as z from 'zod';
import { idValue } from '../../../db/row-values.ts';
import { firstRowOf, oneRowOf, rowsOf } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';

/** A row with the columns of `passkeyColumns`. */
export const passkeyRow = z.object({
  id: idValue('passkey'),
  ownerId: idValue('owner'),
  name: z.string(),
  credentialId: z.string(),
  publicKey: z.instanceof(Uint8Array),
  counter: z.int(),
  transports: z.array(z.string()),
  backedUp: z.boolean(),
  approvesFrom: z.date(),
  createdAt: z.date(),
  lastUsedAt: z.date().nullable(),
});
export type Passkey = Readonly<z.output<typeof passkeyRow>>;

export const passkeyColumns = `id, owner_id as "ownerId", name, credential_id as "credentialId",
  public_key as "publicKey", counter, transports, backed_up as "backedUp", approves_from as "approvesFrom",
  created_at as "createdAt", last_used_at as "lastUsedAt"`;

export const enrolledPasskeys = (tx: Tx, ownerId: string): Promise<Passkey[]> =>
  rowsOf(
    tx,
    passkeyRow,
    `select ${passkeyColumns} from passkeys where owner_id = $1 and revoked_at is null order by created_at, id`,
    [ownerId],
  );

/** When the owner's last passkey was removed, if that ever happened. */
export async function lastGoneAt(tx: Tx, ownerId: string): Promise<Date | null> {
  const { at } = await oneRowOf(
    tx,
    z.object({ at: z.date().nullable() }),
    'select max(revoked_at) as at from passkeys where owner_id = $1 and was_last',
    [ownerId],
  );
  return at;
}

const knownPasskeyRow = passkeyRow.extend({ revokedAt: z.date().nullable() });
export type KnownPasskey = Readonly<z.output<typeof knownPasskeyRow>>;

/** Also one that was removed. */
export const findPasskey = (tx: Tx, id: string): Promise<KnownPasskey | undefined> =>
  firstRowOf(tx, knownPasskeyRow, `select ${passkeyColumns}, revoked_at as "revokedAt" from passkeys where id = $1`, [
    id,
  ]);

/** The name of the passkey in `passkey:psk_…`, also of one that was removed; null for any other approver. */
export async function passkeyNameOf(tx: Tx, approvedBy: string | null): Promise<string | null> {
  const id = /^passkey:(.+)$/.exec(approvedBy ?? '')?.[1];
  if (id === undefined) return null;
  const found = await firstRowOf(tx, z.object({ name: z.string() }), 'select name from passkeys where id = $1', [id]);
  return found?.name ?? null;
}
