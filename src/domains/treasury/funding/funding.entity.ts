/** The fundings of wallets. Persistence only. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../../../db/tables.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { Cents } from '../../../kernel/money.ts';

export const FundingSchema = defineEntity({
  name: 'Funding',
  tableName: 'fundings',
  properties: {
    id: p.text().$type<Id<'funding'>>().primary(),
    ownerId: p.text().$type<Id<'owner'>>(),
    walletId: p.text().$type<Id<'wallet'>>(),
    fromWalletId: p.text().nullable(),
    amountCents: p.bigint('number').$type<Cents>(),
    balanceCents: p.bigint('number').$type<Cents>(),
    status: p.text().$type<'completed' | 'pending'>(),
    isSimulated: p.boolean(),
    journalId: p.text().nullable(),
    reference: p.text().nullable(),
    createdAt: p.datetime(),
  },
});

declare module '../../../db/tables.ts' {
  interface Tables {
    fundings: TableOf<typeof FundingSchema>;
  }
}
