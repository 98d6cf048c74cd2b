/**
 * Funds a wallet from outside, the default one where none is named. An owner without a customer gets one in the same
 * transaction, so none is left where the funding is refused.
 * @module
 */
import type { Database } from '../../db/database.ts';
import type { Tx } from '../../db/tx.ts';
import type { EnsureCustomer, Parties } from '../../domains/parties/customers/customer.routes.ts';
import type { FundingView } from '../../domains/treasury/funding/funding.queries.ts';
import type { TopUp } from '../../domains/treasury/funding/funding.routes.ts';
import type { FundWallet } from '../../domains/treasury/funding/funding.service.ts';
import { findDefaultWalletId } from '../../domains/treasury/wallets/wallet.queries.ts';
import type { Written } from '../../http/atomic.ts';
import type { Call } from '../../http/caller.ts';
import type { Id } from '../../kernel/ids.ts';

type Deps = {
  readonly database: Database;
  readonly ensureCustomer: EnsureCustomer;
  readonly fundWallet: FundWallet;
};

export const topUp =
  ({ database, ensureCustomer, fundWallet }: Deps) =>
  async (call: Call, order: TopUp, parties: Parties): Promise<Written<FundingView>> => {
    const fund = (walletId: Id<'wallet'>, tx?: Tx) => fundWallet(call, { ...order, walletId }, 'body.walletId', tx);
    const walletId = order.walletId ?? (await findDefaultWalletId(database.read(), order.ownerId));
    if (walletId !== null) return fund(walletId);
    // Only who makes the customer funds in this transaction, and so waits for no other lock in it.
    const first = await database.write(async (tx) => {
      const made = await ensureCustomer(tx, call.cause, parties);
      return made.isNew ? await fund(made.walletId, tx) : made.walletId;
    });
    return typeof first === 'string' ? fund(first) : first;
  };
