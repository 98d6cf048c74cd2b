/** The wallets table. Persistence only: no rule is decided here, and balances are in the ledger. @module */
import { defineEntity, p } from '@mikro-orm/postgresql';
import type { TableOf } from '../../../db/tables.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { WalletStatus } from './wallet.rules.ts';

export const WalletSchema = defineEntity({
  name: 'Wallet',
  tableName: 'wallets',
  properties: {
    id: p.string().$type<Id<'wallet'>>().primary(),
    ownerId: p.string().$type<Id<'owner'>>(),
    name: p.string(),
    purpose: p.string().nullable(),
    iban: p.string().nullable(),
    bic: p.string().nullable(),
    parentWalletId: p.string().$type<Id<'wallet'>>().nullable(),
    isDefault: p.boolean(),
    status: p.string().$type<WalletStatus>(),
    metadata: p.json().$type<Record<string, unknown>>(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
    closedAt: p.datetime().nullable(),
  },
});
export class WalletRow extends WalletSchema.class {}
WalletSchema.setClass(WalletRow);

declare module '../../../db/tables.ts' {
  interface Tables {
    wallets: TableOf<typeof WalletSchema>;
  }
}
