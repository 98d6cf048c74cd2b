/**
 * The character set that every bank of the SEPA schemes takes, and how other text is written in it. Nothing is cut off:
 * a text that is too long in this form is the caller's to shorten. Pure.
 * @module
 */
import anyAscii from 'any-ascii';

/** In characters of the SEPA set. */
export const longestSepaName = 70;
export const longestRemittance = 140;
export const longestSepaIdentifier = 35;

/** Letters, digits, space and `/ - ? : ( ) . , ' +`. */
export const isSepaText = (text: string): boolean => /^[A-Za-z0-9/\-?:().,'+ ]*$/.test(text);

/** What a bank takes as an identifier: no slash at either end, and no two in a row. */
export const isSepaIdentifier = (text: string): boolean =>
  text.length > 0 && text.length <= longestSepaIdentifier && isSepaText(text) && !/^\/|\/$|\/\//.test(text);

/**
 * The text in the SEPA character set: letters of other alphabets by their usual Latin spelling, marks by what comes
 * closest, everything else as a full stop. Runs of spaces become one. Empty only where nothing but spaces was given.
 */
export function sepaTextOf(text: string): string {
  const latin = anyAscii(text.normalize('NFC'));
  return latin
    .replace(/[^A-Za-z0-9/\-?:().,'+]/g, (character) => standIns[character] ?? '.')
    .replace(/ +/g, ' ')
    .trim();
}

const standIns: Readonly<Record<string, string>> = {
  ' ': ' ',
  '\t': ' ',
  '\n': ' ',
  '\r': ' ',
  '&': '+',
  '"': "'",
  '`': "'",
  ';': ',',
  _: '-',
  '~': '-',
  '\\': '/',
  '|': '/',
  '[': '(',
  '{': '(',
  '<': '(',
  ']': ')',
  '}': ')',
  '>': ')',
};
