/** Reads of passkeys: an owner's enrolled ones, oldest first. No decision is made here. @module */
import { rows, type Tx } from '../../../db/tx.ts';
import type { Id } from '../../../kernel/ids.ts';

export type Passkey = {
  readonly id: Id<'passkey'>;
  readonly ownerId: Id<'owner'>;
  readonly name: string;
  readonly credentialId: string;
  readonly publicKey: Uint8Array;
  readonly counter: number;
  readonly transports: readonly string[];
  readonly backedUp: boolean;
  readonly approvesFrom: Date;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
};

export const passkeyColumns = `id, owner_id as "ownerId", name, credential_id as "credentialId",
  public_key as "publicKey", counter, transports, backed_up as "backedUp", approves_from as "approvesFrom",
  created_at as "createdAt", last_used_at as "lastUsedAt"`;

export const enrolledPasskeys = (tx: Tx, ownerId: string): Promise<Passkey[]> =>
  rows<Passkey>(
    tx,
    `select ${passkeyColumns} from passkeys where owner_id = $1 and revoked_at is null order by created_at, id`,
    [ownerId],
  );

/** When the owner's last passkey was removed, if that ever happened. */
export async function lastGoneAt(tx: Tx, ownerId: string): Promise<Date | null> {
  const [found] = await rows<{ at: Date | null }>(
    tx,
    'select max(revoked_at) as at from passkeys where owner_id = $1 and was_last',
    [ownerId],
  );
  return found?.at ?? null;
}
