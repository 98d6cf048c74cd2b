/** Opens a wallet, together with the owner's customer where there is none yet. @module */
import type { Database } from '../../db/database.ts';
import type { EnsureCustomer, Parties } from '../../domains/parties/customers/customer.routes.ts';
import { findWallet } from '../../domains/treasury/wallets/wallet.queries.ts';
import { createWallet, type IbanIssue, type NewWallet } from '../../domains/treasury/wallets/wallet.service.ts';
import type { Cause } from '../../platform/cause.ts';

type Deps = IbanIssue & { readonly database: Database; readonly ensureCustomer: EnsureCustomer };

export const openWallet =
  ({ database, ensureCustomer, ...issue }: Deps) =>
  (order: NewWallet, parties: Parties, cause: Cause): Promise<void> =>
    database.write(async (tx) => {
      if ((await findWallet(tx, order.ownerId, order.id)) !== null) return; // This very request opened it.
      await ensureCustomer(tx, cause, parties);
      await createWallet(tx, cause, issue, order);
    });
