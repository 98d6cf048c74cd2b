/**
 * Funds a wallet from outside, the default one where none is named. An owner without a customer gets one in the same
 * transaction, so none is left where the funding is refused.
 * @module
 */
import type { Database } from '../../db/database.ts';
import type { EnsureCustomer, Parties } from '../../domains/parties/customers/customer.routes.ts';
import type { FundingView } from '../../domains/treasury/funding/funding.queries.ts';
import type { TopUp } from '../../domains/treasury/funding/funding.routes.ts';
import type { FundWallet } from '../../domains/treasury/funding/funding.service.ts';
import { findDefaultWalletId } from '../../domains/treasury/wallets/wallet.queries.ts';
import type { Written } from '../../http/atomic.ts';
import type { Call } from '../../http/caller.ts';

type Deps = {
  readonly database: Database;
  readonly ensureCustomer: EnsureCustomer;
  readonly fundWallet: FundWallet;
};

export const topUp =
  ({ database, ensureCustomer, fundWallet }: Deps) =>
  async (call: Call, order: TopUp, parties: Parties): Promise<Written<FundingView>> => {
    const walletId = order.walletId ?? (await findDefaultWalletId(database.read(), order.ownerId));
    if (walletId !== null) return fundWallet(call, { ...order, walletId }, 'body.walletId');
    return database.write(async (tx) => {
      const made = await ensureCustomer(tx, call.cause, parties);
      return fundWallet(call, { ...order, walletId: made.walletId }, 'body.walletId', tx);
    });
  };
