/** The slug of a merchant, and which of its keys count. Pure: rows and real time are arguments. @module */

export const merchantStatuses = ['active', 'suspended'] as const;
export type MerchantStatus = (typeof merchantStatuses)[number];

const longestStem = 48;

/** Lower-case words of ASCII letters and digits, joined by hyphens. A name without any is `merchant`. */
export function slugOf(name: string): string {
  const words = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  const stem = (words ?? []).join('-').slice(0, longestStem).replace(/-$/, '');
  return stem === '' ? 'merchant' : stem;
}

/** For a slug that another merchant has: the end of the merchant's own id makes it unlike every other. */
export const distinctSlug = (slug: string, merchantId: string): string => `${slug}-${merchantId.slice(-12)}`;

/**
 * `unproven`: the merchant has not shown that it can decrypt with it, so it counts for nothing; `active`: in force;
 * `replaced`: another one is in force, and challenges with this one are still answered; `ended`: no longer.
 */
export const encryptionKeyStatuses = ['unproven', 'active', 'replaced', 'ended'] as const;
export type EncryptionKeyStatus = (typeof encryptionKeyStatuses)[number];

type EncryptionKey = {
  readonly provenAt?: Date | null | undefined;
  readonly validUntil?: Date | null | undefined;
};

export function statusOfKey({ provenAt, validUntil }: EncryptionKey, now: Date): EncryptionKeyStatus {
  if (provenAt == null) return 'unproven';
  if (validUntil == null) return 'active';
  return validUntil > now ? 'replaced' : 'ended';
}

/** Whether credentials are encrypted for it. */
export const isUsableKey = (key: EncryptionKey, now: Date): boolean => {
  const status = statusOfKey(key, now);
  return status === 'active' || status === 'replaced';
};
