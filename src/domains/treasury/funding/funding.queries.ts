/** Reads of fundings. Decides nothing. @module */
import { rows, type Tx } from '../../../db/tx.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { Cents } from '../../../kernel/money.ts';

export type FundingView = {
  readonly id: Id<'funding'>;
  readonly ownerId: Id<'owner'>;
  readonly walletId: Id<'wallet'>;
  readonly amountCents: Cents;
  /** Of the wallet, right after. */
  readonly balanceCents: Cents;
  readonly status: 'completed' | 'pending';
  readonly isSimulated: boolean;
  readonly createdAt: Date;
  readonly iban: string | null;
  readonly bic: string | null;
};

export async function findFunding(tx: Tx, ownerId: string, id: string): Promise<FundingView | null> {
  const [found] = await rows<FundingView>(
    tx,
    `select f.id, f.owner_id as "ownerId", f.wallet_id as "walletId", f.amount_cents as "amountCents",
       f.balance_cents as "balanceCents", f.status, f.is_simulated as "isSimulated", f.created_at as "createdAt",
       w.iban, w.bic
     from fundings f join wallets w on w.id = f.wallet_id where f.owner_id = $1 and f.id = $2`,
    [ownerId, id],
  );
  return found ?? null;
}

declare module '../../../http/reaches.ts' {
  interface Records {
    readonly funding: FundingView;
  }
}
