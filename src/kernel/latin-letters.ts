/** Latin letters with marks, and those that are no marked letter of the alphabet (`ø`, `ł`, `ß`), in plain letters. @module */
import anyAscii from 'any-ascii';

/** Letters of other scripts stay, because one that looks like a Latin letter is another letter. */
export const plainLatin = (text: string): string =>
  text.replace(/[\p{Script=Latin}--[a-z]]/giv, (letter) => anyAscii(letter));
