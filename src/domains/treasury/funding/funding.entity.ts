/** The fundings of wallets. Persistence only. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../../../db/tables.ts';
import type { Cents } from '../../../kernel/money.ts';

export const FundingSchema = defineEntity({
  name: 'Funding',
  tableName: 'fundings',
  properties: {
    id: p.text().primary(),
    ownerId: p.text(),
    walletId: p.text(),
    fromWalletId: p.text().nullable(),
    amountCents: p.bigint('number').$type<Cents>(),
    balanceCents: p.bigint('number').$type<Cents>(),
    status: p.text(),
    isSimulated: p.boolean(),
    journalId: p.text().nullable(),
    createdAt: p.datetime(),
  },
});

declare module '../../../db/tables.ts' {
  interface Tables {
    fundings: TableOf<typeof FundingSchema>;
  }
}
