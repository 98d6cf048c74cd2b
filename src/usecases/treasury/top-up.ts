/**
 * Funds a wallet from outside, the default one where none is named. An owner without a customer gets one first, in a
 * transaction of its own: an empty customer stays where the funding is refused.
 * @module
 */
import type { Database } from '../../db/database.ts';
import type { EnsureCustomer, Parties } from '../../domains/parties/customers/customer.routes.ts';
import type { FundingView } from '../../domains/treasury/funding/funding.queries.ts';
import type { TopUp } from '../../domains/treasury/funding/funding.routes.ts';
import { assertMaySimulate, type FundWallet } from '../../domains/treasury/funding/funding.service.ts';
import { findDefaultWalletId } from '../../domains/treasury/wallets/wallet.queries.ts';
import type { Written } from '../../http/atomic.ts';
import type { Call } from '../../http/caller.ts';
import type { Id } from '../../kernel/ids.ts';
import type { Mode } from '../../platform/mode.ts';

type Deps = {
  readonly database: Database;
  readonly mode: Mode;
  readonly ensureCustomer: EnsureCustomer;
  readonly fundWallet: FundWallet;
};

export const topUp =
  ({ database, mode, ensureCustomer, fundWallet }: Deps) =>
  async (call: Call, order: TopUp, parties: Parties): Promise<Written<FundingView>> => {
    const defaultWallet = async (): Promise<Id<'wallet'>> => {
      const found = await findDefaultWalletId(database.read(), order.ownerId);
      if (found !== null) return found;
      assertMaySimulate(mode, order);
      return (await database.write((tx) => ensureCustomer(tx, call.cause, parties))).walletId;
    };
    return fundWallet(call, { ...order, walletId: order.walletId ?? (await defaultWallet()) }, 'body.walletId');
  };
