/** The merchant_encryption_keys table. Persistence only: no rule is decided here. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../../../db/tables.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { MerchantWire } from './merchant.contract.ts';

export type EncryptionJwk = MerchantWire['encryptionJwk'];

const MerchantKeySchema = defineEntity({
  name: 'MerchantKey',
  tableName: 'merchant_encryption_keys',
  properties: {
    merchantId: p.string().primary().$type<Id<'merchant'>>(),
    thumbprint: p.string().primary(),
    jwk: p.json<EncryptionJwk>(),
    provenAt: p.datetime().nullable(),
    /** Real time. */
    validUntil: p.datetime().nullable(),
    createdAt: p.datetime(),
  },
});
export class MerchantKeyRow extends MerchantKeySchema.class {}
MerchantKeySchema.setClass(MerchantKeyRow);

declare module '../../../db/tables.ts' {
  interface Tables {
    merchant_encryption_keys: TableOf<typeof MerchantKeySchema>;
  }
}
