/**
 * Test card numbers: derived from the card's reference, valid by Luhn, in a range no bank issues. A number is never
 * stored nor returned; callers of this module return only the last four digits.
 * @module
 */
import { createHash } from 'node:crypto';

const testRange = '400000';

export function deriveTestNumber(cardRef: string): string {
  const digest = createHash('sha256').update(`sandbox card number of ${cardRef}`).digest();
  const account = String(digest.readBigUInt64BE() % 1_000_000_000n).padStart(9, '0');
  const payload = testRange + account;
  return payload + checkDigit(payload);
}

export function isLuhnValid(number: string): boolean {
  return /^\d{2,}$/.test(number) && checkDigit(number.slice(0, -1)) === number.slice(-1);
}

function checkDigit(payload: string): string {
  const sum = [...payload].reverse().reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return String((10 - (sum % 10)) % 10);
}
