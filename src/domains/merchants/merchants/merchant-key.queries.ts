/** Reads of merchants' encryption keys: those of one merchant, and the merchant of a key. No decision is made here. @module */
import { calculateJwkThumbprint } from 'jose';
import { type Given, query } from '../../../db/db.ts';
import type { Tx } from '../../../db/tx.ts';
import type { RegisteredMerchant } from './merchant.queries.ts';
import { isUsableKey } from './merchant.rules.ts';
import { type EncryptionJwk, MerchantKeyRow } from './merchant-key.entity.ts';

/** RFC 7638: of the members that make the key, so that another `kid` is no other key. */
export const thumbprintOf = ({ kty, n, e }: Pick<EncryptionJwk, 'kty' | 'n' | 'e'>): Promise<string> =>
  calculateJwkThumbprint({ kty, n, e });

/** Newest first. */
export const keysOfMerchant = (tx: Tx, merchantId: string): Promise<MerchantKeyRow[]> =>
  tx.find(
    MerchantKeyRow,
    { merchantId: merchantId as MerchantKeyRow['merchantId'] },
    { orderBy: { createdAt: 'desc', thumbprint: 'asc' }, refresh: true },
  );

export const findKeyOfMerchant = (tx: Tx, merchantId: string, thumbprint: string): Promise<MerchantKeyRow | null> =>
  tx.findOne(MerchantKeyRow, { merchantId: merchantId as MerchantKeyRow['merchantId'], thumbprint }, { refresh: true });

const proven = query((from, given: Given<{ thumbprint: string }>) =>
  from
    .selectFrom('merchant_encryption_keys')
    .select('merchantId')
    .where('thumbprint', '=', given('thumbprint'))
    .where('provenAt', 'is not', null),
);

/** The merchant that has proven to hold the key, in whatever state both are. */
export const provenHolder = async (tx: Tx, thumbprint: string): Promise<string | undefined> =>
  (await proven.first(tx, { thumbprint }))?.merchantId;

const holders = query((from, given: Given<{ thumbprint: string }>) =>
  from
    .selectFrom('merchant_encryption_keys as k')
    .innerJoin('merchants as m', 'm.id', 'k.merchantId')
    .select(['m.id', 'm.slug', 'm.status', 'k.provenAt', 'k.validUntil'])
    .where('k.thumbprint', '=', given('thumbprint'))
    .where('k.provenAt', 'is not', null),
);

export type HeldKey = {
  readonly merchant: RegisteredMerchant;
  /** False where the merchant has replaced it, and the overlap is over. */
  readonly isUsable: boolean;
};

/** Whose key it is; null for a key that no active merchant has proven to hold. `now` is real time. */
export async function holderOfKey(
  tx: Tx,
  jwk: Pick<EncryptionJwk, 'kty' | 'n' | 'e'>,
  now: Date = new Date(),
): Promise<HeldKey | null> {
  return heldKeyOf(await holders.first(tx, { thumbprint: await thumbprintOf(jwk) }), now);
}

type Holding = Pick<MerchantKeyRow, 'provenAt' | 'validUntil'> & RegisteredMerchant & { readonly status: string };

/** The same of what the caller has read. */
export function heldKeyOf(found: Holding | null, now: Date): HeldKey | null {
  if (found === null || found.status !== 'active') return null;
  return { merchant: { id: found.id, slug: found.slug }, isUsable: isUsableKey(found, now) };
}
