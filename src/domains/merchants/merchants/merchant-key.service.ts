/**
 * Registers the encryption keys of a merchant and puts them in force, in the caller's transaction. A key counts for
 * nothing until the merchant has proven to hold it, so that no one can take another merchant's public key.
 * @module
 */
import { LockMode } from '@mikro-orm/core';
import { isUniqueViolation } from '../../../db/database.ts';
import { runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { recordChanges } from '../../../events/record.ts';
import type { ReachedId } from '../../../http/reaches.ts';
import { DomainError, notFound } from '../../../kernel/errors.ts';
import type { Id } from '../../../kernel/ids.ts';
import { assertBelowLimit } from '../../../platform/assert-limit.ts';
import type { Cause } from '../../../platform/cause.ts';
import { MerchantRow } from './merchant.entity.ts';
import { merchantKeyData } from './merchant.wire.ts';
import { type EncryptionJwk, MerchantKeyRow } from './merchant-key.entity.ts';
import { findKeyOfMerchant, provenHolder, thumbprintOf } from './merchant-key.queries.ts';

type OwnMerchant = { readonly id: Id<'merchant'>; readonly ownerId: string };

/** For changes of the merchant's keys, which happen one after the other. */
export async function lockMerchant(
  tx: Tx,
  { id, ownerId }: { readonly id: ReachedId<'merchant'>; readonly ownerId: string },
): Promise<MerchantRow> {
  const options = { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true } as const;
  const row = await tx.findOne(MerchantRow, { id, ownerId }, options);
  if (row === null) throw notFound('merchant', id);
  return row;
}

/** Not proven yet. The same key again is the same row. The merchant is locked, or is being made. */
export async function addEncryptionKey(
  tx: Tx,
  { id, ownerId }: OwnMerchant,
  jwk: EncryptionJwk,
  cause: Cause,
): Promise<MerchantKeyRow> {
  const thumbprint = await thumbprintOf(jwk);
  const known = await findKeyOfMerchant(tx, id, thumbprint);
  if (known !== null) return known;
  if ((await provenHolder(tx, thumbprint)) !== undefined) throw taken();
  // What was not proven counted for nothing, and makes room.
  await runSql(tx, 'delete from merchant_encryption_keys where merchant_id = $1 and proven_at is null', [id]);
  await assertBelowLimit(tx, 'merchant_keys', { ownerId, subject: id, at: cause.at }, { isLocked: true });
  const row = tx.create(MerchantKeyRow, {
    ...{ merchantId: id, thumbprint, jwk },
    ...{ provenAt: null, validUntil: null, createdAt: cause.at },
  });
  await tx.flush();
  return row;
}

/** Of a merchant that is registered. */
export async function registerEncryptionKey(
  tx: Tx,
  merchant: MerchantRow,
  jwk: EncryptionJwk,
  cause: Cause,
): Promise<MerchantKeyRow> {
  const thumbprint = await thumbprintOf(jwk);
  const isKnown = (await findKeyOfMerchant(tx, merchant.id, thumbprint)) !== null;
  const row = await addEncryptionKey(tx, merchant, jwk, cause);
  if (row.provenAt != null) throw new DomainError('invalid_state', 'this key of the merchant is proven already');
  if (isKnown) return row; // Registered before: the caller asks for another challenge.
  const { id, ownerId } = merchant;
  const data = merchantKeyData(merchant, null);
  const change = { event: 'merchant_encryption_key.created', ownerId, subjectId: id, data } as const;
  await recordChanges(tx, cause, [{ ...change, details: { thumbprint } }]);
  return row;
}

const taken = (): DomainError =>
  new DomainError('invalid_state', 'the encryption key is registered already; generate a key for this merchant');

type Activation = { readonly thumbprint: string; readonly overlapMs: number; readonly now: Date };

/** The merchant holds the key. It is in force from now on, and the former ones until the overlap ends. */
export async function activateEncryptionKey(
  tx: Tx,
  merchant: MerchantRow,
  { thumbprint, overlapMs, now }: Activation,
  cause: Cause,
): Promise<void> {
  const key = await findKeyOfMerchant(tx, merchant.id, thumbprint);
  if (key === null) throw notFound('encryption key', thumbprint);
  if (key.validUntil != null)
    throw new DomainError('invalid_state', 'another key has replaced this one; use a new key');
  if (key.provenAt != null) return; // It is in force already.
  const until = new Date(now.getTime() + overlapMs);
  // Of earlier replacements too, whose overlap may be longer.
  await runSql(
    tx,
    `update merchant_encryption_keys set valid_until = $2
     where merchant_id = $1 and proven_at is not null and (valid_until is null or valid_until > $2)`,
    [merchant.id, until],
  );
  try {
    await runSql(tx, 'update merchant_encryption_keys set proven_at = $3 where merchant_id = $1 and thumbprint = $2', [
      merchant.id,
      thumbprint,
      cause.at,
    ]);
  } catch (error) {
    // Several merchants may have registered the key; the first one that proves to hold it has it.
    if (isUniqueViolation(error, 'merchant_encryption_keys_holder')) throw taken();
    throw error;
  }
  const { id, ownerId } = merchant;
  const data = merchantKeyData(merchant, until);
  const details = { thumbprint, formerUntil: until.toISOString() };
  await recordChanges(tx, cause, [
    { event: 'merchant_encryption_key.activated', ownerId, subjectId: id, data, details },
  ]);
}
