/**
 * When two spellings mean one merchant. Allowing is strict (equal name, id or a domain's own subdomain). An intent is for
 * a merchant however the network writes its name, and for no other. Blocking covers that and what resembles it (word order
 * kept, small typing errors forgiven), because there a merchant too many does no harm.
 * @module
 */
import { isNameOf, steadyNameOf } from './merchant-descriptor.rules.ts';
import { domainIn, normalised } from './merchant-spelling.rules.ts';
import { legalForms } from './merchant-words.rules.ts';

export { domainIn, normalised } from './merchant-spelling.rules.ts';

export type MerchantFacts = {
  readonly id?: string | null | undefined;
  readonly name?: string | null | undefined;
  /** Host name of the merchant's site. */
  readonly domain?: string | null | undefined;
};

/** For allowlists and locks: equal normalised name, equal id, or the domain itself or one below it. */
export function isSameMerchant(entry: string, merchant: MerchantFacts): boolean {
  const wanted = normalised(entry);
  if (wanted !== '' && given(merchant.name) && normalised(merchant.name) === wanted) return true;
  if (given(merchant.id) && merchant.id.toLowerCase() === entry.trim().toLowerCase()) return true;
  const domain = domainIn(entry);
  return domain !== undefined && domainsOf(merchant).some((host) => host === domain || host.endsWith(`.${domain}`));
}

/**
 * For intents: whatever `isSameMerchant` accepts, and what networks make of the name. An intent that was written from a
 * declined charge names the merchant as the network did, with an order that is another one at the next try.
 */
export function isPaidBy(declared: string, merchant: MerchantFacts): boolean {
  if (isSameMerchant(declared, merchant)) return true;
  if (shownNames(merchant).some((name) => isNameOf(declared, name))) return true;
  return declared.includes('*') && isDrifted({ name: declared }, merchant);
}

/** The merchant that was paid first, with its category. */
export type FirstMerchant = MerchantFacts & { readonly mcc?: string | null | undefined };

/**
 * For a lock on the first merchant: equal id, name or domain; or the same name with another branch, place or order and of
 * the same category. It is compared with that merchant alone and never with a drifted name, so that the lock does not widen
 * from one payment to the next.
 */
export function isStillMerchant(first: FirstMerchant, merchant: FirstMerchant): boolean {
  if ([first.id, first.domain, first.name].filter(given).some((spelling) => isSameMerchant(spelling, merchant)))
    return true;
  return isDrifted(first, merchant) && (!given(first.mcc) || !given(merchant.mcc) || first.mcc === merchant.mcc);
}

/** The name alone, whatever the category. */
export function isDrifted({ name: first }: MerchantFacts, { name }: MerchantFacts): boolean {
  const steady = given(first) ? steadyNameOf(first) : undefined;
  return steady !== undefined && given(name) && steadyNameOf(name) === steady;
}

/** For blocklists: whatever is the merchant's name, and names that resemble it. */
export function resembles(entry: string, merchant: MerchantFacts): boolean {
  if (isPaidBy(entry, merchant)) return true;
  const spellings = [merchant.name, merchant.id, merchant.domain].filter(given).map(wordsOf);
  const wanted = formsOf(entry).filter((words) => words.join('').length >= shortestLenient);
  return wanted.some((words) => spellings.some((spelling) => isNear(words, spelling)));
}

/** How a merchant is named in reasons. */
export const merchantInWords = ({ name, domain, id }: MerchantFacts): string =>
  name || domain || id || 'unknown merchant';

export const isKnown = ({ id, name, domain }: MerchantFacts): boolean => given(id) || given(name) || given(domain);

const shortestLenient = 3;

const given = (text: string | null | undefined): text is string => typeof text === 'string' && text.trim() !== '';

/** An id may stand for the name where the network sends no name, as a machine payment's recipient does. */
const shownNames = ({ name, domain, id }: MerchantFacts): string[] => [given(name) ? name : id, domain].filter(given);

const domainsOf = ({ domain, name }: MerchantFacts): string[] =>
  [domain, name].filter(given).flatMap((text) => domainIn(text) ?? []);

function wordsOf(text: string): string[] {
  const words = normalised(domainIn(text) ?? text).split(' ');
  const telling = words.filter((word) => !legalForms.has(word));
  return telling.length > 0 ? telling : words;
}

/** The entry as written, and for a domain also without its last label, as merchants' names seldom carry it. */
function formsOf(entry: string): string[][] {
  const domain = domainIn(entry);
  return domain === undefined ? [wordsOf(entry)] : [wordsOf(domain), wordsOf(domain.slice(0, domain.lastIndexOf('.')))];
}

function isNear(wanted: readonly string[], words: readonly string[]): boolean {
  if (` ${words.join(' ')} `.includes(` ${wanted.join(' ')} `)) return true;
  const [a, b] = [wanted.join(''), words.join('')];
  return a === b || editDistance(a, b) <= forgiven(Math.min(a.length, b.length));
}

/** Typing errors forgiven by length: none in a short name, where one letter makes another name. */
const forgiven = (length: number): number => (length >= 10 ? 2 : length >= 6 ? 1 : 0);

function editDistance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2) return Number.POSITIVE_INFINITY;
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (const [row, letter] of a.split('').entries()) {
    const current = [row + 1];
    for (const [column, other] of b.split('').entries()) {
      const swap = (previous[column] ?? 0) + (letter === other ? 0 : 1);
      current.push(Math.min(swap, (previous[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
