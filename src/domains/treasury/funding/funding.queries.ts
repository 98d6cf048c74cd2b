/** Reads of fundings. Decides nothing. @module */
import { type Given, query } from '../../../db/db.ts';
import type { Tx } from '../../../db/tx.ts';

const funding = query((from, given: Given<{ ownerId: string; id: string }>) =>
  from
    .selectFrom('fundings as f')
    .innerJoin('wallets as w', 'w.id', 'f.walletId')
    .select(['f.id', 'f.ownerId', 'f.walletId', 'f.amountCents', 'f.balanceCents', 'f.status', 'f.isSimulated'])
    .select(['f.createdAt', 'f.reference', 'w.iban', 'w.bic'])
    .where('f.ownerId', '=', given('ownerId'))
    .where('f.id', '=', given('id')),
);

/** `balanceCents`: of the wallet, right after. */
export type FundingView = Readonly<Awaited<ReturnType<typeof funding.all>>[number]>;

export const findFunding = (tx: Tx, ownerId: string, id: string): Promise<FundingView | null> =>
  funding.first(tx, { ownerId, id });

declare module '../../../http/reaches.ts' {
  interface Records {
    readonly funding: FundingView;
  }
}
