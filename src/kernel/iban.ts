/**
 * IBANs and BICs: whether one is written rightly, which country it belongs to, and the form in which it may be shown.
 * Lengths and forms of account numbers are those of `ibantools`. Pure.
 * @module
 */
import { electronicFormatIBAN, isSEPACountry, isValidBIC, ValidationErrorsIBAN, validateIBAN } from 'ibantools';

/** The longest IBAN of the standard. */
export const longestIban = 34;

/** Countries that joined SEPA in November 2024, March 2025 and May 2025, and that ibantools 4.5.4 does not list. */
const joinedSince = new Set(['AL', 'ME', 'MD', 'MK', 'RS']);

/** By the first two letters of an IBAN, in upper case. */
export const isSepaCountry = (country: string): boolean => isSEPACountry(country) || joinedSince.has(country);

export type ReadIban =
  /** `iban` in the electronic form: upper case, without spaces. */
  | { readonly ok: true; readonly iban: string; readonly country: string }
  | { readonly ok: false; readonly reason: string };

/**
 * Reads an IBAN in either case, with or without spaces and hyphens. `reason` reads on from the field's name. Check
 * digits inside a national account number are left to its bank, because banks issue numbers that break their country's
 * own rule; the check digits of the IBAN itself find every mistyped character.
 */
export function readIban(text: string): ReadIban {
  const iban = electronicFormatIBAN(text) ?? '';
  if (!/^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(iban))
    return refused('must be an IBAN: two letters, two digits and the account number');
  const country = iban.slice(0, 2);
  const { errorCodes } = validateIBAN(iban, { allowQRIBAN: false });
  const worst = errorCodes.find((code) => code in inWords);
  if (worst !== undefined) return refused(inWords[worst]!.replace('{country}', country));
  if (!isSepaCountry(country)) return refused(`is an account in ${country}, which is outside the SEPA schemes`);
  return { ok: true, iban, country };
}

const refused = (reason: string): ReadIban => ({ ok: false, reason });

/** In the order of precedence of `validateIBAN`. */
const inWords: Readonly<Record<number, string>> = {
  [ValidationErrorsIBAN.NoIBANCountry]: 'begins with {country}, which has no IBANs',
  [ValidationErrorsIBAN.WrongBBANLength]: 'has not the length of an IBAN of {country}',
  [ValidationErrorsIBAN.WrongBBANFormat]: 'has not the form of an IBAN of {country}',
  [ValidationErrorsIBAN.WrongIBANChecksum]: 'has wrong check digits: a character is mistyped',
  [ValidationErrorsIBAN.QRIBANNotAllowed]: 'is a QR-IBAN, to which only Swiss QR-bills are paid',
};

/** ISO 9362, eight or eleven characters, in upper case. */
export const isBic = (text: string): boolean => /^[A-Z0-9]{8}(?:[A-Z0-9]{3})?$/.test(text) && isValidBIC(text);

/** Country and last four characters: enough to recognise an account, not enough to pay to it. */
export const maskedIban = (iban: string): string => `${iban.slice(0, 2)}•• •••• ${iban.slice(-4)}`;

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
