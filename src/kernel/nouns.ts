/** How sentences name a kind of record. Pure. @module */
import type { IdKind } from './ids.ts';

/** `card request` for the kind `cardRequest`, `MPP credential` for `mppCredential`. */
export const nounOf = (kind: IdKind): string =>
  kind.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replace(/^mpp\b/, 'MPP');

export const withArticle = (noun: string): string => `${/^(?:[aeiou]|MPP\b)/.test(noun) ? 'an' : 'a'} ${noun}`;
