/** Reads of merchants: one record, the caller behind a key, the merchant with a name. No decision is made here. @module */
import { sql } from 'kysely';
import { type Given, query } from '../../../db/db.ts';
import type { Tx } from '../../../db/tx.ts';
import type { Caller } from '../../../http/caller.ts';
import type { Id } from '../../../kernel/ids.ts';
import { MerchantRow } from './merchant.entity.ts';

export const findMerchant = (tx: Tx, id: string): Promise<MerchantRow | null> =>
  tx.findOne(MerchantRow, { id: id as MerchantRow['id'] });

const activeByHash = query((from, given: Given<{ hash: string; now: Date }>) =>
  from
    .selectFrom('merchants')
    .select('id')
    .where((eb) =>
      eb.or([
        eb('secretHash', '=', given('hash')),
        eb.and([eb('formerSecretHash', '=', given('hash')), eb('formerSecretUntil', '>', given('now'))]),
      ]),
    )
    .where((eb) => eb('status', '=', eb.val<'active'>('active'))),
);

/**
 * The caller behind the hash of a merchant key, after a rotation for a while also of the former one; undefined for an
 * unknown key and for a suspended merchant.
 */
export async function merchantByHash(tx: Tx, hash: string): Promise<Extract<Caller, { kind: 'merchant' }> | undefined> {
  const merchant = await activeByHash.first(tx, { hash, now: new Date() });
  return merchant === null ? undefined : { kind: 'merchant', merchantId: merchant.id };
}

export type RegisteredMerchant = { readonly id: Id<'merchant'>; readonly slug: string };

const activeNamed = query((from, given: Given<{ name: string }>) =>
  from
    .selectFrom('merchants')
    .select(['id', 'slug'])
    .where((eb) => eb.or([eb(sql<string>`id`, '=', given('name')), eb('slug', '=', given('name'))]))
    .where((eb) => eb('status', '=', eb.val<'active'>('active'))),
);

/** The registered merchant with that id or slug. */
export const merchantNamed = (tx: Tx, name: string): Promise<RegisteredMerchant | null> =>
  activeNamed.first(tx, { name });

declare module '../../../http/reaches.ts' {
  interface Records {
    readonly merchant: MerchantRow;
  }
}
