/**
 * When two spellings mean one merchant. Allowing is strict (equal name, id or a domain's own subdomain); blocking and
 * finding an intent are lenient (word order kept, legal forms and small typing errors forgiven).
 * @module
 */
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

/** For blocklists and intents: whatever `isSameMerchant` accepts, and names that resemble it. */
export function resembles(entry: string, merchant: MerchantFacts): boolean {
  if (isSameMerchant(entry, merchant)) return true;
  const spellings = [merchant.name, merchant.id, merchant.domain].filter(given).map(wordsOf);
  const wanted = formsOf(entry).filter((words) => words.join('').length >= shortestLenient);
  return wanted.some((words) => spellings.some((spelling) => isNear(words, spelling)));
}

/** `Café  Müller-GmbH` and `cafe muller gmbh` read alike; letters of any script are kept. */
export const normalised = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/[\p{M}\p{Default_Ignorable_Code_Point}]/gu, '')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replaceAll('&', ' and ')
    .replace(/['’`´]/g, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

/** The lower-case host in `example.com`, `https://www.example.com/x` or `example.com:443`; undefined for a name. */
export function domainIn(text: string): string | undefined {
  const bare = text.trim().toLowerCase();
  if (!/^(https?:\/\/)?[^\s/.:@]+(\.[^\s/.:@]+)+\.?(:\d+)?(\/\S*)?$/u.test(bare)) return undefined;
  const address = bare.includes('://') ? bare : `http://${bare}`;
  if (!URL.canParse(address)) return undefined;
  return new URL(address).hostname.replace(/\.$/, '').replace(/^www\./, '');
}

/** How a merchant is named in reasons. */
export const merchantInWords = ({ name, domain, id }: MerchantFacts): string =>
  name || domain || id || 'unknown merchant';

export const isKnown = ({ id, name, domain }: MerchantFacts): boolean => given(id) || given(name) || given(domain);

const shortestLenient = 3;
const legalForms = new Set(
  'gmbh mbh ag kg ug se ltd limited inc llc corp co company plc bv nv sa sas sarl srl spa oy ab'.split(' '),
);

const given = (text: string | null | undefined): text is string => typeof text === 'string' && text.trim() !== '';

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
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min(swap, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
