/** The IBANs of wallets in a sandbox: German form, a bank code that no bank has, valid check digits. Pure. @module */
import { assert } from '../../../kernel/assert.ts';

/** Second character of the location code 0: a test BIC. */
export const sandboxBic = 'BURSDEF0XXX';

/** `bankCode`: eight digits; `accountNumber`: at most ten. */
export function germanIban(bankCode: string, accountNumber: number): string {
  const account = String(accountNumber).padStart(10, '0');
  assert(/^\d{8}$/.test(bankCode) && /^\d{10}$/.test(account), `an IBAN of ${bankCode} and ${accountNumber}`);
  const checkDigits = 98 - remainder97(`${bankCode}${account}DE00`);
  return `DE${String(checkDigits).padStart(2, '0')}${bankCode}${account}`;
}

/** ISO 7064: moved to the end and read as a number, the first four characters make the remainder 1. */
export const hasRightCheckDigits = (iban: string): boolean =>
  /^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(iban) && remainder97(iban.slice(4) + iban.slice(0, 4)) === 1;

/** Of digits and upper-case letters, of which A counts as 10 and Z as 35. */
export function remainder97(text: string): number {
  let rest = 0;
  for (const character of text) {
    for (const digit of String(Number.parseInt(character, 36))) rest = (rest * 10 + Number(digit)) % 97;
  }
  return rest;
}
