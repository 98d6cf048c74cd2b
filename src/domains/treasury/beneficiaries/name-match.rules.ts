/**
 * Which names of a sanctions list a payee's name resembles. Names are compared word by word in Latin letters, without
 * order, marks and legal forms: each word of the shorter name takes its most similar word of the longer one
 * (Jaro-Winkler), and a similarity below 85 % counts nothing. The score is the mean of the similarities, weighted by the
 * letters of the words; 90 % is a match. A name of one word only resembles a name of one word. Pure.
 * @module
 */
import { sepaTextOf } from '../../../kernel/sepa-text.ts';
import type { ListedName, ListOfNames } from './sanctions.port.ts';

/** From this score on a name is a match. */
export const matchPercent = 90;
/** Words that are less similar than this are other words. */
const similarWords = 0.85;
/** Of one payee; more than a person reads. */
const mostMatches = 20;

export type NameMatch = { readonly reference: string; readonly name: string; readonly scorePercent: number };

/** The best match of each entry, best first. */
export function matchesIn(list: ListOfNames, name: string): NameMatch[] {
  const index = indexOf(list);
  const words = wordsOf(name);
  const similar = new Map(words.map((word) => [word, similarTo(word, index)]));
  const candidates = new Set([...similar.values()].flatMap((found) => [...found.keys()].flatMap((at) => index.at(at))));
  const best = new Map<string, NameMatch>();
  for (const entry of candidates) {
    const scorePercent = Math.floor(
      scoreOf(words, entry.words, (one, other) => similar.get(one)?.get(other) ?? 0) * 100,
    );
    const known = best.get(entry.listed.reference)?.scorePercent ?? 0;
    if (scorePercent >= matchPercent && scorePercent > known)
      best.set(entry.listed.reference, { ...entry.listed, scorePercent });
  }
  return [...best.values()].sort((one, other) => other.scorePercent - one.scorePercent).slice(0, mostMatches);
}

/** From 0 to 1: how much two names resemble each other. */
export const resemblance = (one: string, other: string): number =>
  scoreOf(wordsOf(one), wordsOf(other), (a, b) => atLeastSimilar(similarity(a, b)));

function scoreOf(
  one: readonly string[],
  other: readonly string[],
  similarityOf: (one: string, other: string) => number,
): number {
  if (one.length === 0 || other.length === 0) return 0;
  if ((one.length === 1) !== (other.length === 1)) return 0;
  const shorter = isShorter(one, other) ? one : other;
  const longer = shorter === one ? other : one;
  const pairs = shorter
    .flatMap((a, i) => longer.map((b, j) => ({ i, j, letters: a.length + b.length, words: `${a} ${b}`, a, b })))
    .map((pair) => ({ ...pair, value: shorter === one ? similarityOf(pair.a, pair.b) : similarityOf(pair.b, pair.a) }))
    .filter(({ value }) => value > 0)
    .sort((p, q) => q.value - p.value || q.letters - p.letters || (p.words < q.words ? -1 : 1));
  const takenShorter = new Set<number>();
  const takenLonger = new Set<number>();
  let sum = 0;
  for (const { i, j, value, a } of pairs) {
    if (takenShorter.has(i) || takenLonger.has(j)) continue;
    takenShorter.add(i);
    takenLonger.add(j);
    sum += value * a.length;
  }
  return sum / lettersOf(shorter);
}

/** Fewer words, then fewer letters, then the first in the alphabet: the score is the same from both sides. */
function isShorter(one: readonly string[], other: readonly string[]): boolean {
  const difference = one.length - other.length || lettersOf(one) - lettersOf(other);
  return difference === 0 ? one.toSorted().join(' ') <= other.toSorted().join(' ') : difference < 0;
}

const lettersOf = (words: readonly string[]): number => words.reduce((letters, word) => letters + word.length, 0);

/** Lower case, Latin letters and digits. Legal forms count only in a name that has nothing else. */
export function wordsOf(name: string): string[] {
  const plain = sepaTextOf(name).toLowerCase().replace(/[.']/g, '');
  const words = plain.match(/[a-z0-9]+/g) ?? [];
  const own = words.filter((word) => !legalForms.has(word));
  return own.length > 0 ? own : words;
}

const legalForms = new Set(
  `ab ag as asbl bv bvba co company corp corporation doo eood gmbh inc incorporated kft kg kgaa limited llc llp ltd nv oao
   og ohg ood ooo oy oyj plc pte pty sa sarl sas se sl spa srl sro ug zao`.split(/\s+/),
);

type Entry = { readonly listed: ListedName; readonly words: readonly string[] };
type Index = ReadonlyMap<string, readonly Entry[]> & { at(word: string): readonly Entry[] };

class WordIndex extends Map<string, Entry[]> {
  at(word: string): readonly Entry[] {
    return this.get(word) ?? [];
  }
}

const indexes = new WeakMap<ListOfNames, WordIndex>();

/** Each name of the list under each of its words; made once per list. */
function indexOf(list: ListOfNames): Index {
  const known = indexes.get(list);
  if (known !== undefined) return known;
  const index = new WordIndex();
  for (const listed of list.names) {
    const words = wordsOf(listed.name);
    for (const word of new Set(words)) {
      const entries = index.get(word) ?? [];
      entries.push({ listed, words });
      index.set(word, entries);
    }
  }
  indexes.set(list, index);
  return index;
}

function similarTo(word: string, index: Index): Map<string, number> {
  const found = new Map<string, number>();
  for (const other of index.keys()) {
    const value = atLeastSimilar(similarity(word, other));
    if (value > 0) found.set(other, value);
  }
  return found;
}

const atLeastSimilar = (value: number): number => (value >= similarWords ? value : 0);

/** Jaro-Winkler, from 0 to 1. */
export function similarity(one: string, other: string): number {
  if (one === other) return 1;
  const jaro = jaroOf(one, other);
  let prefix = 0;
  while (prefix < 4 && one[prefix] === other[prefix]) prefix += 1; // They differ before both have ended.
  return jaro + prefix * 0.1 * (1 - jaro);
}

function jaroOf(one: string, other: string): number {
  const reach = Math.max(0, Math.floor(Math.max(one.length, other.length) / 2) - 1);
  const taken: boolean[] = [];
  const inOne: string[] = [];
  for (const [i, letter] of [...one].entries()) {
    for (let j = Math.max(0, i - reach); j <= Math.min(other.length - 1, i + reach); j++) {
      if (taken[j] === true || other[j] !== letter) continue;
      taken[j] = true;
      inOne.push(letter);
      break;
    }
  }
  if (inOne.length === 0) return 0;
  const inOther = [...other].filter((_, j) => taken[j] === true);
  const transposed = inOne.filter((letter, i) => letter !== inOther[i]).length / 2;
  const shared = inOne.length;
  return (shared / one.length + shared / other.length + (shared - transposed) / shared) / 3;
}
