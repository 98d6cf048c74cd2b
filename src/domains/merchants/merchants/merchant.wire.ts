/** A merchant as its owner and subscribers see it. Shapes only; never the secret, nor its hash. @module */
import type { EventData } from '../../../events/catalog.ts';
import type { MerchantWire } from './merchant.contract.ts';
import type { MerchantRow } from './merchant.entity.ts';
import { statusOfKey } from './merchant.rules.ts';
import type { MerchantKeyRow } from './merchant-key.entity.ts';

/** `keys`: newest first, at least one. `now` is real time. */
export function merchantWire(
  { id, slug, name, status }: MerchantRow,
  keys: readonly MerchantKeyRow[],
  now: Date,
): MerchantWire {
  const encryptionKeys = keys.map((key) => encryptionKeyWire(key, now));
  const current = encryptionKeys.find((one) => one.status === 'active') ?? encryptionKeys[0];
  if (current === undefined) throw new Error(`merchant ${id} has no encryption key`);
  return { id, slug, name, encryptionJwk: current.jwk, encryptionKeys, status };
}

export const encryptionKeyWire = (key: MerchantKeyRow, now: Date): MerchantWire['encryptionKeys'][number] => ({
  thumbprint: key.thumbprint,
  jwk: key.jwk,
  status: statusOfKey(key, now),
  validUntil: key.validUntil?.toISOString() ?? null,
});

/** Without names: events carry none. */
export const merchantData = ({ id, ownerId, status, createdAt }: MerchantRow): EventData<'merchant.registered'> => ({
  id,
  ownerId,
  status,
  createdAt: createdAt.toISOString(),
});

export const merchantKeyData = (row: MerchantRow, formerUntil: Date | null): EventData<'merchant_key.rotated'> => ({
  ...merchantData(row),
  formerUntil: formerUntil?.toISOString() ?? null,
});
