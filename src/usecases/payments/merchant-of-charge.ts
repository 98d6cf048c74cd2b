/**
 * Which registered merchant a payment challenge is of: the one that its recipient names, or whose key it carries. What a
 * challenge says is not trusted: a credential names the merchant only where it is encrypted for the merchant's key.
 * @module
 */
import type { Tx } from '../../db/tx.ts';
import { merchantNamed, type RegisteredMerchant } from '../../domains/merchants/merchants/merchant.queries.ts';
import { type HeldKey, holderOfKey } from '../../domains/merchants/merchants/merchant-key.queries.ts';
import type { ChargeRequest } from '../../domains/payments/mpp/challenge.wire.ts';
import { type EncryptionJwk, readEncryptionKey } from '../../domains/payments/mpp/encryption-key.rules.ts';

/** What the registry says about a challenge. */
export type MerchantsOfCharge = {
  /** The merchant that has the recipient's name. */
  readonly named: RegisteredMerchant | null;
  /** The merchant that has proven to hold the key. */
  readonly held: HeldKey | null;
};

/** Before the key is known to be the merchant's; null for a merchant that is not registered. */
export async function claimedMerchant(
  tx: Tx,
  { recipient, key }: Pick<ChargeRequest, 'recipient' | 'key'>,
): Promise<RegisteredMerchant | null> {
  const reading = key.kind === 'embedded' ? readEncryptionKey(key.jwk) : undefined;
  if (reading?.ok === true) {
    const { named, held } = await merchantsOfCharge(tx, { recipient, jwk: reading.jwk });
    return named ?? held?.merchant ?? null;
  }
  return recipient === undefined ? null : merchantNamed(tx, recipient);
}

export async function merchantsOfCharge(
  tx: Tx,
  { recipient, jwk }: { readonly recipient: string | undefined; readonly jwk: EncryptionJwk },
): Promise<MerchantsOfCharge> {
  // One after the other: within a transaction both are on one connection.
  const named = recipient === undefined ? null : await merchantNamed(tx, recipient);
  return { named, held: await holderOfKey(tx, jwk) };
}

export type MerchantReading =
  | { readonly ok: true; readonly merchant: RegisteredMerchant | null }
  | { readonly ok: false; readonly reason: string };

/** The merchant that can read what is encrypted for the key. A challenge that names another one, or with a replaced key, is refused. */
export function merchantBehind({ named, held }: MerchantsOfCharge): MerchantReading {
  if (held?.isUsable === false)
    return { ok: false, reason: `merchant ${held.merchant.id} has replaced the encryption key` };
  const merchant = held?.merchant ?? null;
  if (named === null || named.id === merchant?.id) return { ok: true, merchant };
  return { ok: false, reason: `the recipient is merchant ${named.id}, and the encryption key is not that merchant’s` };
}
