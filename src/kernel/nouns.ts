/** How sentences name a kind of record. Pure. @module */
import type { IdKind } from './ids.ts';

/** `card request` for the kind `cardRequest`. */
export const nounOf = (kind: IdKind): string => kind.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

export const withArticle = (noun: string): string => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
