/**
 * Funds a wallet from outside, the default one where none is named; together with the owner's customer where there is
 * none yet.
 * @module
 */
import type { Database } from '../../db/database.ts';
import type { EnsureCustomer, Parties } from '../../domains/parties/index.ts';
import type { FundingView } from '../../domains/treasury/funding/funding.queries.ts';
import type { TopUp } from '../../domains/treasury/funding/funding.routes.ts';
import { fundFromOutside } from '../../domains/treasury/funding/funding.service.ts';
import type { Cause } from '../../platform/cause.ts';
import type { Mode } from '../../platform/mode.ts';

type Deps = { readonly database: Database; readonly mode: Mode; readonly ensureCustomer: EnsureCustomer };

export const topUp =
  ({ database, mode, ensureCustomer }: Deps) =>
  (order: TopUp, parties: Parties, cause: Cause): Promise<FundingView> =>
    database.write(async (tx) => {
      const { walletId: defaultId } = await ensureCustomer(tx, cause, parties);
      return fundFromOutside(tx, cause, mode, { ...order, walletId: order.walletId ?? defaultId });
    });
