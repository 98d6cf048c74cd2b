/**
 * The customer of an owner. An owner's key that has none gets it here, with its default wallet; an agent's token creates
 * nothing.
 * @module
 */
import type { Database } from '../../db/database.ts';
import { CustomerRow } from '../../domains/parties/customers/customer.entity.ts';
import type { EnsureCustomer, Parties } from '../../domains/parties/customers/customer.routes.ts';
import type { Call, Own } from '../../http/caller.ts';
import { notFound } from '../../kernel/errors.ts';

type Deps = { readonly database: Database; readonly ensureCustomer: EnsureCustomer };

export const readOwnCustomer =
  ({ database, ensureCustomer }: Deps) =>
  async ({ ownerId, agentId }: Own, wanted: Parties, call: Pick<Call, 'cause' | 'now'>): Promise<CustomerRow> => {
    const known = await database.read().findOne(CustomerRow, { ownerId });
    if (known !== null) return known;
    if (agentId !== undefined) throw notFound('customer', `of ${ownerId}`);
    const cause = { ...call.cause, at: await call.now() };
    return database.write(async (tx) => {
      await ensureCustomer(tx, cause, wanted);
      return tx.findOneOrFail(CustomerRow, { ownerId });
    });
  };
