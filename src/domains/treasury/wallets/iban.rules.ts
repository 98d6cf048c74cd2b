/** The IBANs of wallets in a sandbox: German form, a bank code that no bank has, valid check digits. Pure. @module */
import { assert } from '../../../kernel/assert.ts';
import { remainder97 } from '../../../kernel/iban.ts';

/** Second character of the location code 0: a test BIC. */
export const sandboxBic = 'BURSDEF0XXX';

/** `bankCode`: eight digits; `accountNumber`: at most ten. */
export function germanIban(bankCode: string, accountNumber: number): string {
  const account = String(accountNumber).padStart(10, '0');
  assert(/^\d{8}$/.test(bankCode) && /^\d{10}$/.test(account), `an IBAN of ${bankCode} and ${accountNumber}`);
  const checkDigits = 98 - remainder97(`${bankCode}${account}DE00`);
  return `DE${String(checkDigits).padStart(2, '0')}${bankCode}${account}`;
}
