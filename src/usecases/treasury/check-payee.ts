/**
 * Asks the bank whether a beneficiary's account belongs to its name, and keeps the answer as evidence. Safe to repeat:
 * asking changes nothing at the bank. To be called in an activity, because it dials. The suggested name is personal data
 * and is sealed; it is not in the result, which may enter a workflow's history.
 * @module
 */
import type { Database } from '../../db/database.ts';
import { findBeneficiary } from '../../domains/treasury/beneficiaries/beneficiary.queries.ts';
import { ibanContext } from '../../domains/treasury/beneficiaries/beneficiary.wire.ts';
import type { PayeeCheck, PayeeResult } from '../../domains/treasury/beneficiaries/payee-check.port.ts';
import { keepPayeeCheck } from '../../domains/treasury/beneficiaries/payee-check.service.ts';
import { notFound } from '../../kernel/errors.ts';
import type { Id } from '../../kernel/ids.ts';
import { sepaTextOf } from '../../kernel/sepa-text.ts';
import type { Cause } from '../../platform/cause.ts';
import type { Vault } from '../../vault/vault.ts';

export type CheckPayeeDeps = { readonly database: Database; readonly vault: Vault; readonly payeeCheck: PayeeCheck };

export const checkPayee =
  ({ database, vault, payeeCheck }: CheckPayeeDeps) =>
  async (id: Id<'beneficiary'>, cause: Cause): Promise<PayeeResult> => {
    const payee = await findBeneficiary(database.read(), id);
    if (payee?.sealedIban == null) throw notFound('beneficiary', id);
    const iban = await vault.open(payee.sealedIban, ibanContext(id));
    const answer = await payeeCheck.ask({ name: sepaTextOf(payee.name), iban, bic: payee.bic ?? null });
    await database.write((tx) => keepPayeeCheck(tx, vault, { payee, answer }, cause));
    return answer.result;
  };
