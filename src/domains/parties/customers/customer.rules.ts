/** The types and states of a customer, its default policy, and which fields and events a change has. Pure. @module */
export const customerTypes = ['consumer', 'corporate'] as const;
export type CustomerType = (typeof customerTypes)[number];
export const customerStatuses = ['active', 'suspended', 'closed'] as const;
export type CustomerStatus = (typeof customerStatuses)[number];

/** The spending rules a new agent gets when it names no template; null is no limit. */
export type DefaultPolicy = {
  readonly maxTransactionCents: number | null;
  readonly dailyLimitCents: number | null;
  readonly monthlyLimitCents: number | null;
  readonly autoApproveLimitCents: number | null;
};

/** Personal data is for the owner: an agent, or the operator's dashboard, has no use for it. */
export const seesPersonalData = (callerKind: string): boolean => callerKind === 'key';

const cardholderFields = [
  'firstName',
  'lastName',
  'companyName',
  'dateOfBirth',
  'addressLine1',
  'addressCity',
  'addressPostcode',
  'addressCountry',
] as const;

/** Names of the fields that another value is wanted for; an absent one is left alone. */
export function changedFields<Row extends object>(
  row: Row,
  wanted: Partial<Record<keyof Row, unknown>>,
): (keyof Row)[] {
  const names = Object.keys(wanted) as (keyof Row)[];
  return names.filter((name) => wanted[name] !== undefined && (row[name] ?? null) !== wanted[name]);
}

export const isCardholderChange = (fields: readonly PropertyKey[]): boolean =>
  fields.some((field) => (cardholderFields as readonly PropertyKey[]).includes(field));
