/**
 * Whether the name that a network writes is that of a declared merchant: the same words in the same order, however they
 * are spelt or cut, and after them only what networks add. No letter may differ, because names that differ by a letter are
 * often those of two merchants. Pure.
 * @module
 */
import { plainLatin } from '../../../kernel/latin-letters.ts';
import { remember } from '../../../kernel/remember.ts';
import { domainIn, normalised, remembered } from './merchant-spelling.rules.ts';
import {
  abbreviated,
  endingWords,
  genericWords,
  leadingWords,
  legalForms,
  paymentServices,
  placeLeads,
  places,
  regionCodes,
  tradeEndings,
  tradeWords,
} from './merchant-words.rules.ts';

export function isNameOf(declared: string, descriptor: string): boolean {
  const { host, names } = namesOf(declared);
  const readings = readingsOf(descriptor);
  return names.some((name) => {
    if (!isTelling(name)) return host === undefined && readings.some((reading) => isEqual(name, reading));
    return readings.some((reading) => {
      if (host !== undefined && reading.host !== undefined) {
        return isHostOf(host, reading.host) && isAddition(reading.rest, name, reading);
      }
      return isSameName(name, reading);
    });
  });
}

type Name = {
  readonly all: readonly string[];
  /** Without articles and legal forms, as those are often left out. */
  readonly words: readonly string[];
  readonly telling: number;
};

const namesOf = remember(remembered, (declared): { readonly host?: string | undefined; readonly names: Name[] } => {
  const host = domainIn(declared);
  const shown = host === undefined ? declared : (labelOf(host) ?? host);
  return { host, names: spellingsOf(shown).map((spelling) => nameOf(wordsOf(spelling))) };
});

function nameOf(all: readonly string[]): Name {
  const words = core(all);
  return { all, words, telling: words.filter(isTellingWord).length };
}

/** A name of one trade alone, like `Bakery`, or of words that everyone has, is no merchant's own. */
const isTelling = ({ words, telling }: Name): boolean =>
  telling >= 2 || words.some((word) => isTellingWord(word) && !tradeWords.has(word) && !/^\d*$/.test(word));

const isTellingWord = (word: string): boolean => !genericWords.has(word) && !legalForms.has(word);
const isTrade = (word: string): boolean =>
  tradeWords.has(word) || tradeEndings.some((ending) => word.length > ending.length && word.endsWith(ending));
const isDistinctive = (word: string): boolean => isTellingWord(word) && !isTrade(word) && !/^\d*$/.test(word);

type Variant = {
  /** Begin with the name of the host, if there is one. */
  readonly words: readonly string[];
  readonly host?: string | undefined;
  /** Without the host. */
  readonly rest: readonly string[];
};
type Reading = Variant & {
  /** The network's field was full, so the name may be cut. */
  readonly isCut: boolean;
};

/** What a descriptor may mean: the merchant behind a payment service, or a merchant with or without its order. */
const readingsOf = remember(remembered, (descriptor): readonly Reading[] => {
  const text = descriptor.trim();
  const isCut = fullLengths.has(text.length);
  const read = (part: string, cut = isCut): Reading[] => variantsOf(part).map((words) => ({ ...words, isCut: cut }));
  const parts = partsOf(text);
  if (parts === undefined) return read(text);
  const [before, after] = parts;
  const service = joined(before);
  if (service === '') return read(withoutService(after));
  if (paymentServices.has(leadOf(before))) return read(after);
  const ofMerchant = areInitialsOf(service, joined(labelled(after))) ? read(after) : [];
  return [...read(before, false), ...read(text.replaceAll('*', ' ')), ...ofMerchant];
});

/** What stands before the asterisk and after it; undefined where there is none. */
function partsOf(text: string): readonly [before: string, after: string] | undefined {
  const at = text.indexOf('*');
  return at < 0 ? undefined : [text.slice(0, at), text.slice(at).replace(/\*+/, '')];
}

const piecesOf = (text: string): string[] => text.trim().split(/\s+/u);

const leadOf = (before: string): string => withoutLeading(wordsOf(normalised(before))).join('');

/** Networks leave 22 or 25 characters for a name; a space at the end is lost. */
const fullLengths: ReadonlySet<number> = new Set([21, 22, 24, 25]);

/** `SQ PIEROGI PALACE` after a leading asterisk. A service that nothing follows is the merchant itself. */
function withoutService(text: string): string {
  const [first = '', ...rest] = piecesOf(text);
  return rest.length > 0 && paymentServices.has(joined(first)) ? rest.join(' ') : text;
}

/** With and without what banks write before a name, for there are merchants that are called so. */
function variantsOf(text: string): Variant[] {
  const pieces = piecesOf(text);
  const bare = withoutLeading(pieces);
  return (bare.length === pieces.length ? [pieces] : [pieces, bare]).flatMap(([first = '', ...others]) => {
    const host = hostIn(first);
    const rest = wordsOf(normalised(others.join(' ')));
    if (host === undefined) {
      return spellingsOf([first, ...others].join(' ')).map((spelling) => ({ words: wordsOf(spelling), rest }));
    }
    const label = labelOf(host);
    if (label === undefined) return [{ words: [], rest, host }];
    return spellingsOf([label, ...others].join(' ')).map((spelling) => ({ words: wordsOf(spelling), rest, host }));
  });
}

/** Not the initials in `J.P. Example`. */
function hostIn(word: string): string | undefined {
  const host = domainIn(word);
  return host !== undefined && /\.(xn--[a-z\d-]+|\p{L}{2,})$/u.test(host) ? host : undefined;
}

function withoutLeading(words: readonly string[]): readonly string[] {
  const start = words.findIndex((word) => !leadingWords.has(normalised(word)) && !/^\d{5,}$/.test(word));
  return start < 0 ? [] : words.slice(start);
}

/** `example` of `www.example.co.uk`. None below that: a customer who rents a name there chooses it freely. */
function labelOf(host: string): string | undefined {
  const labels = host.split('.');
  const isTwofold = labels.length > 2 && labels.at(-1)?.length === 2 && secondLevels.has(labels.at(-2) ?? '');
  const own = labels.slice(0, isTwofold ? -2 : -1);
  return own.length === 1 ? own[0] : undefined;
}
const secondLevels: ReadonlySet<string> = new Set(['ac', 'co', 'com', 'edu', 'gov', 'ne', 'net', 'or', 'org']);

const isHostOf = (host: string, given: string): boolean => given === host || given.endsWith(`.${host}`);

function isSameName(name: Name, reading: Reading): boolean {
  const words = withoutArticle(reading.words);
  const isWhole = restsAfter(name, words).some((rest) => isAddition(rest, name, reading));
  if (isWhole) return true;
  if (reading.isCut && isCutOf(name, words)) return true;
  return leavesOutTrade(name, core(words));
}

/** The words that remain after each way in which they begin with the name. */
function restsAfter({ words: wanted }: Name, words: readonly string[]): (readonly string[])[] {
  const rests: (readonly string[])[] = [];
  const whole = wanted.join('');
  let before = '';
  for (const [index, word] of words.entries()) {
    before += word;
    if (before === whole) rests.push(words.slice(index + 1));
  }
  if (wanted.every((word, at) => isSpelling(words[at] ?? '', word))) rests.push(words.slice(wanted.length));
  return rests;
}

const isSpelling = (word: string, wanted: string): boolean =>
  word === wanted || abbreviated[word] === wanted || isAbbreviationOf(word, wanted);

/**
 * `amzn` of `amazon`: its first letter and, in their order, at least half of its consonants. A word that lacks one letter
 * is another word.
 */
function isAbbreviationOf(short: string, long: string): boolean {
  if (short.length < shortestPart || short.length > long.length - 2 || !/^\p{L}+$/u.test(short)) return false;
  const [letters, consonants] = [short.slice(1), withoutVowels(long.slice(1))];
  return letters.length >= consonants.length / 2 && short[0] === long[0] && isWithin(letters, consonants);
}

/** `NF*NETFLIX.COM`: a merchant's own abbreviation before its name. */
const areInitialsOf = (short: string, long: string): boolean =>
  short.length < long.length && short[0] === long[0] && isWithin(short, long);

function isWithin(letters: string, text: string): boolean {
  let at = 0;
  for (const letter of letters) {
    at = text.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}
const withoutVowels = (word: string): string => word.replace(/[aeiouy]/g, '');

/** The field is too short for the whole name: what it has begins the name, and is enough to tell whose it is. */
function isCutOf({ all, words: wanted }: Name, words: readonly string[]): boolean {
  const given = words.join('');
  if (given.length < shortestCut || !(wanted.join('').startsWith(given) || all.join('').startsWith(given)))
    return false;
  let length = 0;
  return wanted.some((word) => {
    const shown = Math.min(word.length, given.length - length);
    length += word.length;
    return isDistinctive(word) && shown >= Math.min(word.length, shortestPart);
  });
}
const shortestCut = 10;
const shortestPart = 4;

/** `BLUE BOTTLE` of `Blue Bottle Coffee`: two distinctive words remain. */
function leavesOutTrade({ words: wanted }: Name, own: readonly string[]): boolean {
  const kept = wanted.filter((word) => !genericWords.has(word) && !isTrade(word));
  const given = own.filter((word) => !genericWords.has(word));
  if (given.join('') === wanted.filter((word) => !genericWords.has(word)).join('')) return true;
  return kept.filter(isDistinctive).length >= 2 && kept.join('') === given.join('');
}

/**
 * Whether the words after a name are what networks add to it. A single unknown word is taken for a place where a
 * country or state follows and the name has two distinctive words; a trade never is.
 */
function isAddition(rest: readonly string[], name: Name, { isCut }: Reading): boolean {
  const end = rest.findIndex((word) => endingWords.has(word));
  const words = end < 0 ? rest : rest.slice(0, end);
  if (!isEnding(rest.slice(words.length), name.all)) return false;
  const isFree = name.telling >= 2 && name.words.some(isDistinctive) && regionCodes.has(words.at(-1) ?? '');
  let unknown = 0;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    const two = word + (words[at + 1] ?? '');
    if (places.has(two)) at++;
    else if (isKnownAddition(word) || (isCut && at === words.length - 1 && beginsPlace(word))) continue;
    else if (isTrade(word) || !isFree) return false;
    else if (!placeLeads.has(word)) unknown++;
  }
  return unknown <= 1;
}

/**
 * After the word that ends a name, a word that is neither the name's nor a network's is another merchant's. After
 * `purchase`, banks write what was bought.
 */
const isEnding = (words: readonly string[], name: readonly string[]): boolean =>
  words.every(
    (word, at) =>
      endingWords.has(word) ||
      isKnownAddition(word) ||
      name.includes(word) ||
      (words[at - 1] === 'purchase' && isTrade(word)) ||
      places.has(word + (words[at + 1] ?? '')) ||
      places.has((words[at - 1] ?? '') + word),
  );

const isKnownAddition = (word: string): boolean =>
  /\d/.test(word) || genericWords.has(word) || legalForms.has(word) || regionCodes.has(word) || places.has(word);

const beginsPlace = (word: string): boolean => word.length >= 2 && [...places].some((place) => place.startsWith(word));

/** Common words may still be a merchant's name, if nothing is added to them. A name without words is nobody's. */
const isEqual = ({ all }: Name, { words, host }: Reading): boolean =>
  host === undefined && all.length > 0 && words.join(' ') === all.join(' ');

/**
 * What stays the same in the descriptors of one merchant: without branch, place, number and order. Undefined where nothing
 * of its own would be left. Two descriptors drift from each other where this is equal, so that a third one is compared
 * alike with both.
 */
export const steadyNameOf = remember(remembered, (descriptor): string | undefined => {
  const parts = partsOf(descriptor);
  const [before, after] = parts ?? [descriptor, ''];
  const isOfService = parts !== undefined && (joined(before) === '' || paymentServices.has(leadOf(before)));
  const own = isOfService ? withoutService(after) : before;
  // Behind a name that may be an unknown payment service, a word may be another merchant.
  const order = isOfService ? [] : wordsOf(normalised(after)).filter((word) => !/\d/.test(word));
  const pieces = [...withoutLeading(piecesOf(own.replace(branch, ' ')))];
  const host = hostIn(pieces[0] ?? '');
  if (host !== undefined) pieces[0] = host.replaceAll('.', '');
  const [spelled = ''] = spellingsOf(pieces.join(' '));
  const words = withoutEnd(core(wordsOf(spelled)));
  return isTelling(nameOf(words)) ? [host ?? '', words.join(' '), order.join(' ')].join('|') : undefined;
});

/** `FIL. 12`, `#0412`: a number of a branch, however short. */
const branch = /(?:#\s*|\b(?:branch|fil|filiale|nr|no|station|store)\b\.?\s*#?\s*)\d+/giu;

/** Without places and numbers at the end; a short number, like that of a `Studio 54`, is of the name. */
function withoutEnd(words: readonly string[]): readonly string[] {
  const end = words.findIndex((word) => endingWords.has(word));
  const isEnd = end > 0 && isEnding(words, words.slice(0, end));
  const left = isEnd ? words.slice(0, end) : [...words];
  while (left.length > 1) {
    const [last = '', previous = ''] = [left.at(-1), left.at(-2)];
    const digits = left.slice(left.findLastIndex((word) => !/^\d+$/.test(word)) + 1);
    const isTwoWords = left.length > 2 && places.has(previous + last);
    const isRegion = regionCodes.has(last) && (places.has(previous) || places.has((left.at(-3) ?? '') + previous));
    if (isTwoWords) left.splice(-2);
    else if (places.has(last) || isRegion || legalForms.has(last)) left.pop();
    else if (digits.join('').length >= shortestPart && digits.length < left.length) left.splice(-digits.length);
    else break;
  }
  return left;
}

/** Umlauts as one letter and as two, as networks write both. */
function spellingsOf(text: string): string[] {
  if (isAscii.test(text)) return [normalised(text)];
  const whole = text.normalize('NFC').toLowerCase();
  const spelled = whole.replace(/[äöüåø]/gu, (letter) => twoLetters[letter] ?? letter);
  return [...new Set([whole, spelled].map((spelling) => normalised(plainLatin(spelling))))];
}
const isAscii = /^[\x20-\x7e]*$/;
const twoLetters: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue', å: 'aa', ø: 'oe' };

/** The connecting words `&`, `and` and `und` are written or left out at will; dotted legal forms are one word. */
const wordsOf = (text: string): string[] =>
  text
    .replace(/(^|\s)(\p{L}(?: \p{L})+)(?=\s|$)/gu, (found, space: string, letters: string) => {
      const word = letters.replaceAll(' ', '');
      return legalForms.has(word) ? `${space}${word}` : found;
    })
    .split(/[\s_]/u)
    .filter((word) => word !== '' && !connecting.has(word));
const connecting: ReadonlySet<string> = new Set(['and', 'und', 'et']);

const withoutArticle = (words: readonly string[]): readonly string[] => (words[0] === 'the' ? words.slice(1) : words);

const core = (words: readonly string[]): readonly string[] =>
  withoutArticle(words.slice(0, words.findLastIndex((word) => !legalForms.has(word)) + 1));

const joined = (text: string): string => wordsOf(normalised(text)).join('');
const labelled = (text: string): string => {
  const host = domainIn(text);
  return host === undefined ? text : (labelOf(host) ?? host);
};
