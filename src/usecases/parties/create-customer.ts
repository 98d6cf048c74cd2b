/** Creates the customer of an owner, with its default wallet, in one transaction. An owner has one customer. @module */
import type { Database } from '../../db/database.ts';
import { CustomerRow } from '../../domains/parties/customers/customer.entity.ts';
import type { EnsureCustomer, Parties } from '../../domains/parties/customers/customer.routes.ts';
import { DomainError } from '../../kernel/errors.ts';
import type { Cause } from '../../platform/cause.ts';

type Deps = { readonly database: Database; readonly ensureCustomer: EnsureCustomer };

/** A repeat brings the same id and finds the customer that it created. */
export const createCustomer =
  ({ database, ensureCustomer }: Deps) =>
  (wanted: Parties, cause: Cause): Promise<CustomerRow> =>
    database.write(async (tx) => {
      const { customerId } = await ensureCustomer(tx, cause, wanted);
      if (customerId !== wanted.customerId) {
        throw new DomainError('invalid_state', `this owner has the customer ${customerId}; change it with PATCH`);
      }
      return tx.findOneOrFail(CustomerRow, { id: customerId });
    });
