/**
 * Compares a beneficiary's name with the sanctions list right before money is sent, and keeps the result as evidence.
 * Safe to repeat; `unavailable` where no list could be read, so that nothing is sent unscreened.
 * @module
 */
import type { Database } from '../../db/database.ts';
import { findBeneficiary } from '../../domains/treasury/beneficiaries/beneficiary.queries.ts';
import type { ScreeningResult } from '../../domains/treasury/beneficiaries/beneficiary.rules.ts';
import { compareWithList, rescreenBeneficiary } from '../../domains/treasury/beneficiaries/beneficiary.service.ts';
import type { SanctionsList } from '../../domains/treasury/beneficiaries/sanctions.port.ts';
import { notFound, unavailable } from '../../kernel/errors.ts';
import type { Id } from '../../kernel/ids.ts';
import type { Cause } from '../../platform/cause.ts';

export type ScreenBeneficiaryDeps = {
  readonly database: Database;
  readonly sanctions: Pick<SanctionsList, 'current'>;
};

export const screenBeneficiary =
  ({ database, sanctions }: ScreenBeneficiaryDeps) =>
  async (id: Id<'beneficiary'>, cause: Cause): Promise<ScreeningResult> => {
    const found = await findBeneficiary(database.read(), id);
    if (found === null) throw notFound('beneficiary', id);
    const compared = await compareWithList(sanctions, found.name);
    const row = await database.write((tx) => rescreenBeneficiary(tx, { id, name: found.name, compared }, cause));
    if (row === undefined) throw unavailable(`beneficiary ${id} was renamed while it was screened`);
    return row.screeningResult;
  };
