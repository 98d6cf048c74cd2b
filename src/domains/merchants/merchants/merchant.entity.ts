/** The merchants table. Persistence only: no rule of a merchant is decided here. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../../../db/tables.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { MerchantStatus } from './merchant.rules.ts';

const MerchantSchema = defineEntity({
  name: 'Merchant',
  tableName: 'merchants',
  properties: {
    id: p.string().primary().$type<Id<'merchant'>>(),
    ownerId: p.string(),
    slug: p.string(),
    name: p.string(),
    webhookUrl: p.string().nullable(),
    status: p.string().$type<MerchantStatus>(),
    secretHash: p.string(),
    /** The secret key before its rotation, while it is still accepted. */
    formerSecretHash: p.string().nullable(),
    formerSecretUntil: p.datetime().nullable(),
    hint: p.string(),
    inviteHash: p.string(),
    requestId: p.string(),
    createdAt: p.datetime(),
  },
});
export class MerchantRow extends MerchantSchema.class {}
MerchantSchema.setClass(MerchantRow);

declare module '../../../db/tables.ts' {
  interface Tables {
    merchants: TableOf<typeof MerchantSchema>;
  }
}
