/**
 * Creates and changes customers, inside the caller's transaction. Personal data stays in the row: events and audit name the changed fields only.
 * @module
 */
import { LockMode } from '@mikro-orm/core';
import { type Given, query } from '../../../db/db.ts';
import { runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { type Change, recordChanges } from '../../../events/record.ts';
import type { ReachedId } from '../../../http/reaches.ts';
import { DomainError, notFound } from '../../../kernel/errors.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { Cause } from '../../../platform/cause.ts';
import type { Mode } from '../../../platform/mode.ts';
import { CustomerRow } from './customer.entity.ts';
import { type CustomerType, changedFields, type DefaultPolicy, isCardholderChange } from './customer.rules.ts';
import { firstPlan, mayChangePlan, type Plan, planNamed } from './plan.rules.ts';

export type NewCustomer = {
  readonly customerId: Id<'customer'>;
  readonly ownerId: Id<'owner'>;
  readonly type?: CustomerType;
  readonly email?: string | undefined;
  readonly firstName?: string | undefined;
  readonly lastName?: string | undefined;
  readonly defaultPolicy?: DefaultPolicy | undefined;
};

/** True when the owner had none: of several calls at once exactly one makes it, the others wait for that one. */
export async function insertCustomer(tx: Tx, cause: Cause, mode: Mode, customer: NewCustomer): Promise<boolean> {
  const type = customer.type ?? 'consumer';
  const plan = firstPlan(mode);
  const created = await runSql(
    tx,
    `insert into customers
       (id, owner_id, type, email, status, plan, default_policy, first_name, last_name, created_at, updated_at)
     values ($1, $2, $3, $4, 'active', $5, $6::jsonb, $7, $8, $9, $9)
     on conflict (owner_id) do nothing returning id`,
    [
      customer.customerId,
      customer.ownerId,
      type,
      customer.email ?? null,
      plan,
      customer.defaultPolicy === undefined ? null : JSON.stringify(customer.defaultPolicy),
      customer.firstName ?? null,
      customer.lastName ?? null,
      cause.at,
    ],
  );
  if (created === 0) return false;
  const { customerId: id, ownerId } = customer;
  await recordChanges(tx, cause, [
    { event: 'customer.created', ownerId, subjectId: id, data: { id, ownerId, type, status: 'active', plan } },
  ]);
  return true;
}

const lockedPlan = query((from, given: Given<{ ownerId: string }>) =>
  from.selectFrom('customers').select('plan').where('ownerId', '=', given('ownerId')).forUpdate(),
);

/** Locks the customer's row, so that only one transaction at a time counts against the plan's ceilings. */
export async function lockPlan(tx: Tx, ownerId: string): Promise<Plan> {
  const row = await lockedPlan.first(tx, { ownerId });
  if (row === null) throw new Error(`owner ${ownerId} has no customer`);
  return row.plan;
}

const currentPlan = query((from, given: Given<{ ownerId: string }>) =>
  from.selectFrom('customers').select('plan').where('ownerId', '=', given('ownerId')),
);

/** Null: the owner is not a customer yet. */
export const findPlan = async (tx: Tx, ownerId: string): Promise<Plan | null> =>
  (await currentPlan.first(tx, { ownerId }))?.plan ?? null;

export type CustomerChange = {
  readonly [K in 'email' | 'firstName' | 'lastName' | 'companyName' | 'dateOfBirth']?: string | null | undefined;
} & {
  readonly [K in 'addressLine1' | 'addressCity' | 'addressPostcode' | 'addressCountry']?: string | null | undefined;
} & { readonly plan?: Plan | 'personal' | undefined };

type Name = { readonly id: ReachedId<'customer'>; readonly ownerId: Id<'owner'> };

export async function updateCustomer(
  tx: Tx,
  mode: Mode,
  { id, ownerId, ...change }: Name & CustomerChange,
  cause: Cause,
): Promise<CustomerRow> {
  const row = await tx.findOne(CustomerRow, { id, ownerId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (row === null) throw notFound('customer', id);
  const { plan, ...rest } = change;
  const wanted = plan === undefined ? rest : { ...rest, plan: planNamed(plan) };
  const fields = changedFields<CustomerRow>(row, wanted);
  if (fields.includes('plan') && !mayChangePlan(mode, cause.actor.kind === 'dashboard')) {
    throw new DomainError('forbidden', 'in live mode the plan changes only through billing or the dashboard');
  }
  if (fields.length === 0) return row;
  Object.assign(row, Object.fromEntries(fields.map((field) => [field, wanted[field as keyof typeof wanted]])));
  row.updatedAt = cause.at;
  await tx.flush();
  await recordChanges(tx, cause, changesOf(row, fields.map(String)));
  return row;
}

function changesOf({ id, ownerId, type, status, plan }: CustomerRow, changed: string[]): Change[] {
  const data = { id, ownerId, type, status, plan, changed };
  const updated: Change = { event: 'customer.updated', ownerId, subjectId: id, data, details: { changed } };
  if (!isCardholderChange(changed)) return [updated];
  return [updated, { event: 'cardholder.updated', ownerId, subjectId: id, data, audited: false }];
}

export const findCustomer = (tx: Tx, id: Id<'customer'>): Promise<CustomerRow | null> =>
  tx.findOne(CustomerRow, { id });

declare module '../../../http/reaches.ts' {
  interface Records {
    readonly customer: CustomerRow;
  }
}
