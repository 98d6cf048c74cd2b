/**
 * Creates the owner's customer and default wallet in the caller's transaction, unless they exist. Of several concurrent
 * calls exactly one creates them.
 * @module
 */
import { sql } from 'kysely';
import { type Given, query } from '../../db/db.ts';
import type { Tx } from '../../db/tx.ts';
import type { EnsureCustomer } from '../../domains/parties/customers/customer.routes.ts';
import { insertCustomer } from '../../domains/parties/customers/customer.service.ts';
import { ensureDefaultWallet } from '../../domains/treasury/wallets/wallet.service.ts';
import type { Mode } from '../../platform/mode.ts';

/** `ibanBankCode`: the bank code in the IBAN of a new wallet. */
type Deps = { readonly mode: Mode; readonly ibanBankCode: string };

export const ensureCustomer =
  (issue: Deps): EnsureCustomer =>
  async (tx, cause, wanted) => {
    const isNew = await insertCustomer(tx, cause, issue.mode, wanted);
    if (isNew) await ensureDefaultWallet(tx, cause, wanted.ownerId, () => wanted.walletId, issue);
    return { isNew, ...(await partiesOf(tx, wanted.ownerId)) };
  };

const parties = query((from, given: Given<{ ownerId: string }>) =>
  from
    .selectFrom('customers as c')
    .innerJoin('wallets as w', (join) =>
      join.onRef('w.ownerId', '=', 'c.ownerId').on('w.isDefault', '=', sql.lit(true)),
    )
    .select(['c.id as customerId', 'w.id as walletId'])
    .where('c.ownerId', '=', given('ownerId')),
);

async function partiesOf(tx: Tx, ownerId: string) {
  const found = await parties.first(tx, { ownerId });
  if (found === null) throw new Error(`owner ${ownerId} has a customer but no default wallet`);
  return found;
}
