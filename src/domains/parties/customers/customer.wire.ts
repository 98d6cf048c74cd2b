/** The customer as its callers see it. Shapes only. @module */
import { type Cents, eurosFromCents, eurosOrNull } from '../../../kernel/money.ts';
import type { CustomerRecord } from './customer.contract.ts';
import type { CustomerRow } from './customer.entity.ts';
import { type Plan, planLimits } from './plan.rules.ts';

const personalFields = [
  'dateOfBirth',
  'addressLine1',
  'addressCity',
  'addressPostcode',
  'addressCountry',
] as const satisfies readonly (keyof CustomerRow & keyof CustomerRecord)[];
type PersonalData = Pick<CustomerRecord, (typeof personalFields)[number]>;

type Shown = { readonly walletTotalCents: Cents; readonly showsPersonalData: boolean };

export const customerWire = (row: CustomerRow, { walletTotalCents, showsPersonalData }: Shown): CustomerRecord => ({
  id: row.id,
  ownerId: row.ownerId,
  type: row.type,
  email: row.email ?? null,
  status: row.status,
  plan: row.plan,
  walletBalanceEuros: eurosFromCents(walletTotalCents),
  planLimits: limitsOf(row.plan),
  firstName: row.firstName ?? null,
  lastName: row.lastName ?? null,
  companyName: row.companyName ?? null,
  createdAt: row.createdAt.toISOString(),
  ...personalDataOf(row, showsPersonalData),
});

const personalDataOf = (row: CustomerRow, isShown: boolean): PersonalData =>
  Object.fromEntries(personalFields.map((field) => [field, isShown ? (row[field] ?? null) : null])) as PersonalData;

function limitsOf(plan: Plan): CustomerRecord['planLimits'] {
  const { monthlyVolumeCents, ...limits } = planLimits[plan];
  return { ...limits, monthlyVolumeEuros: eurosOrNull(monthlyVolumeCents) };
}
