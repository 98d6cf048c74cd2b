/**
 * Creates the owner's customer and default wallet in the caller's transaction, unless they exist. Of several concurrent
 * calls exactly one creates them.
 * @module
 */
import { rows, type Tx } from '../../db/tx.ts';
import { type EnsureCustomer, insertCustomer } from '../../domains/parties/index.ts';
import { ensureDefaultWallet } from '../../domains/treasury/index.ts';
import type { Id } from '../../kernel/ids.ts';
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

type Standing = { readonly customerId: Id<'customer'>; readonly walletId: Id<'wallet'> };

async function partiesOf(tx: Tx, ownerId: string): Promise<Standing> {
  const [found] = await rows<Standing>(
    tx,
    `select c.id as "customerId", w.id as "walletId"
     from customers c join wallets w on w.owner_id = c.owner_id and w.is_default
     where c.owner_id = $1`,
    [ownerId],
  );
  if (found === undefined) throw new Error(`owner ${ownerId} has a customer but no default wallet`);
  return found;
}
