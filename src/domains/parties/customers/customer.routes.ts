/** Answers the customer operations: ask the service or the use case, shape the reply. No decision is made here. @module */
import type { Database } from '../../../db/database.ts';
import type { Tx } from '../../../db/tx.ts';
import type { Call, Own } from '../../../http/caller.ts';
import { inTransaction } from '../../../http/in-transaction.ts';
import type { Handlers, Input } from '../../../http/route.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { Cents } from '../../../kernel/money.ts';
import type { Cause } from '../../../platform/cause.ts';
import type { Mode } from '../../../platform/mode.ts';
import type { CustomerRecord, customersArea } from './customer.contract.ts';
import type { CustomerRow } from './customer.entity.ts';
import { type DefaultPolicy, seesPersonalData } from './customer.rules.ts';
import { type NewCustomer, updateCustomer } from './customer.service.ts';
import { customerWire } from './customer.wire.ts';

/** A customer with its default wallet, under reserved ids. */
export type Parties = NewCustomer & { readonly walletId: Id<'wallet'> };

/** The customer with its default wallet, made where the owner has none; the use case ensure-customer. */
export type EnsureCustomer = (
  tx: Tx,
  cause: Cause,
  wanted: Parties,
) => Promise<{ readonly customerId: Id<'customer'>; readonly walletId: Id<'wallet'>; readonly isNew: boolean }>;

export type CustomerDeps = {
  readonly database: Database;
  readonly mode: Mode;
  /** Refuses an owner that has a customer already. */
  readonly create: (wanted: Parties, cause: Cause) => Promise<CustomerRow>;
  /** Made on the first read of the owner; 404 for an agent's token until then. */
  readonly readOwn: (own: Own, parties: Parties, call: Call) => Promise<CustomerRow>;
  /** What the owner's wallets hold, all together. */
  readonly walletTotalCents: (tx: Tx, ownerId: string) => Promise<Cents>;
};

export const customerHandlers = (deps: CustomerDeps): Handlers<typeof customersArea> => {
  const { database } = deps;
  const wireOf = async (row: CustomerRow, { caller }: Call): Promise<CustomerRecord> =>
    customerWire(row, {
      walletTotalCents: await deps.walletTotalCents(database.read(), row.ownerId),
      showsPersonalData: seesPersonalData(caller.kind),
    });

  return {
    createCustomer: async ({ body, own }, call) => {
      const row = await deps.create({ ...newCustomer(own, call), ...fieldsOf(body) }, call.cause);
      return { id: row.id, ownerId: row.ownerId, type: row.type, status: row.status };
    },
    getOwnCustomer: async ({ own }, call) => wireOf(await deps.readOwn(own, newCustomer(own, call), call), call),
    getCustomer: ({ records }, call) => wireOf(records.customer, call),
    updateCustomer: async ({ params: { id }, body, own: { ownerId } }, call) => {
      const change = { ...body, id, ownerId };
      const row = await inTransaction(deps, call, (tx, cause) => updateCustomer(tx, deps.mode, change, cause));
      return wireOf(row, call);
    },
  };
};

const newCustomer = ({ ownerId }: Own, call: Call) => ({
  customerId: call.newId('customer'),
  walletId: call.newId('wallet'),
  ownerId,
});

type Body = Input<(typeof customersArea)['operations']['createCustomer']>['body'];

function fieldsOf({ type, email, name, policy }: Body): Omit<NewCustomer, 'customerId' | 'ownerId'> {
  return {
    type,
    email,
    firstName: name?.first,
    lastName: name?.last,
    defaultPolicy: policy && defaultPolicyOf(policy),
  };
}

const defaultPolicyOf = (policy: NonNullable<Body['policy']>): DefaultPolicy => ({
  maxTransactionCents: policy.maxTransactionCents ?? null,
  dailyLimitCents: policy.dailyLimitCents ?? null,
  monthlyLimitCents: policy.monthlyLimitCents ?? null,
  autoApproveLimitCents: policy.autoApproveLimitCents ?? null,
});
