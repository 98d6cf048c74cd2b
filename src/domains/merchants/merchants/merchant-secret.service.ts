/** Replaces the secret key of a merchant; the former one is accepted for an overlap. Only the caller sees the secret. @module */
import { runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { recordChanges } from '../../../events/record.ts';
import type { Cause } from '../../../platform/cause.ts';
import { hasMoved, recordTransition } from '../../../platform/transitions.ts';
import { mintSecret } from '../../identity/index.ts';
import type { MerchantRow } from './merchant.entity.ts';
import { merchantKeyPrefix } from './merchant.service.ts';
import { merchantKeyData } from './merchant.wire.ts';

type Rotation = { readonly overlapMs: number; readonly now: Date };
export type RotatedSecret = { readonly secret: string; readonly formerUntil: Date };

/** The merchant is locked. Of earlier rotations nothing is accepted any more. `now` is real time. */
export async function rotateMerchantSecret(
  tx: Tx,
  merchant: MerchantRow,
  { overlapMs, now }: Rotation,
  cause: Cause,
): Promise<RotatedSecret> {
  const { id, ownerId, formerSecretUntil } = merchant;
  const { secret, hash, hint } = mintSecret(merchantKeyPrefix);
  if (formerSecretUntil != null && (await hasMoved(tx, 'merchant_key', id, cause.causeId))) {
    // This very request rotated before, and died before it could show the secret: that one is void.
    await runSql(tx, 'update merchants set secret_hash = $2, hint = $3 where id = $1', [id, hash, hint]);
    return { secret, formerUntil: formerSecretUntil };
  }
  const formerUntil = new Date(now.getTime() + overlapMs);
  await runSql(
    tx,
    `update merchants set secret_hash = $2, hint = $3, former_secret_hash = secret_hash, former_secret_until = $4
     where id = $1`,
    [id, hash, hint, formerUntil],
  );
  await recordTransition(tx, 'merchant_key', id, { from: merchant.hint, to: hint }, cause);
  const data = merchantKeyData(merchant, formerUntil);
  const details = { formerUntil: formerUntil.toISOString() };
  await recordChanges(tx, cause, [{ event: 'merchant_key.rotated', ownerId, subjectId: id, data, details }]);
  return { secret, formerUntil };
}
