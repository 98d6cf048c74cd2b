/** Answers the customer operations: ask the service or the use case, shape the reply. No decision is made here. @module */
import type { Database } from '../../../db/database.ts';
import type { Tx } from '../../../db/tx.ts';
import type { Call, Own } from '../../../http/caller.ts';
import { inTransaction } from '../../../http/in-transaction.ts';
import type { Handlers, Input } from '../../../http/route.ts';
import { DomainError, notFound } from '../../../kernel/errors.ts';
import type { Id } from '../../../kernel/ids.ts';
import { type Cents, eurosFromCents } from '../../../kernel/money.ts';
import type { Cause } from '../../../platform/cause.ts';
import type { Mode } from '../../../platform/mode.ts';
import type { CustomerRecord, customersArea } from './customer.contract.ts';
import { CustomerRow } from './customer.entity.ts';
import type { DefaultPolicy } from './customer.rules.ts';
import { type NewCustomer, updateCustomer } from './customer.service.ts';
import { planLimits } from './plan.rules.ts';

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
  readonly ensureCustomer: EnsureCustomer;
  /** What the owner's wallets hold, all together. */
  readonly walletTotalCents: (tx: Tx, ownerId: string) => Promise<Cents>;
};

export const customerHandlers = (deps: CustomerDeps): Handlers<typeof customersArea> => {
  const { database, ensureCustomer, walletTotalCents } = deps;
  const wireOf = async (row: CustomerRow, { caller }: Call): Promise<CustomerRecord> => ({
    ...recordOf(row, await walletTotalCents(database.read(), row.ownerId)),
    ...personalDataOf(row, caller.kind === 'key'),
  });

  return {
    createCustomer: async ({ body, own }, call) => {
      const wanted = { ...newCustomer(own, call), ...fieldsOf(body) };
      const { customerId } = await inTransaction(deps, call, (tx, cause) => ensureCustomer(tx, cause, wanted));
      if (customerId !== wanted.customerId) {
        throw new DomainError('invalid_state', `this owner has the customer ${customerId}; change it with PATCH`);
      }
      const row = await database.read().findOneOrFail(CustomerRow, { id: customerId });
      return { id: row.id, ownerId: row.ownerId, type: row.type, status: row.status };
    },
    getOwnCustomer: async ({ own }, call) => {
      const { ownerId, agentId } = own;
      const known = await database.read().findOne(CustomerRow, { ownerId });
      if (known !== null) return wireOf(known, call);
      if (agentId !== undefined) throw notFound('customer', `of ${ownerId}`);
      const wanted = newCustomer(own, call);
      const atNow = { cause: { ...call.cause, at: await call.now() } };
      await inTransaction(deps, atNow, (tx, cause) => ensureCustomer(tx, cause, wanted));
      return wireOf(await database.read().findOneOrFail(CustomerRow, { ownerId }), call);
    },
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

const personalFields = [
  'dateOfBirth',
  'addressLine1',
  'addressCity',
  'addressPostcode',
  'addressCountry',
] as const satisfies readonly (keyof CustomerRow & keyof CustomerRecord)[];
type PersonalData = Pick<CustomerRecord, (typeof personalFields)[number]>;

/** For the owner alone: an agent, or the operator's dashboard, has no use for it. */
const personalDataOf = (row: CustomerRow, isOwner: boolean): PersonalData =>
  Object.fromEntries(personalFields.map((field) => [field, isOwner ? (row[field] ?? null) : null])) as PersonalData;

const recordOf = (row: CustomerRow, walletTotal: Cents): Omit<CustomerRecord, keyof PersonalData> => ({
  id: row.id,
  ownerId: row.ownerId,
  type: row.type,
  email: row.email ?? null,
  status: row.status,
  plan: row.plan,
  walletBalanceEuros: eurosFromCents(walletTotal),
  planLimits: planLimits[row.plan],
  firstName: row.firstName ?? null,
  lastName: row.lastName ?? null,
  companyName: row.companyName ?? null,
  createdAt: row.createdAt.toISOString(),
});
