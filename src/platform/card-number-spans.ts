/**
 * Finds card numbers in text: 13 to 19 digits that pass the Luhn check, also in groups with spaces or dashes. Pure.
 * Digits inside our ids and inside UUIDs are not card numbers.
 * @module
 */
export type Span = readonly [start: number, end: number];

export function cardNumbersIn(text: string): Span[] {
  const names = spansOf(text, ownNames);
  return spansOf(text, digitRuns).flatMap((run) => cardNumbersInRun(text, run, names));
}

/**
 * Record ids and UUIDs: 26 characters after a short prefix, or 8-4-4-4-12; and what a bank calls a transfer, which begins
 * as a Turkish account does and is longer.
 */
export const ownNames =
  /(?<![A-Za-z0-9])(?:[a-z]{2,6}_[0-9a-z]{26}|TR[0-9A-HJKMNP-TV-Z]{26}|[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})(?![A-Za-z0-9])/g;

export const spansOf = (text: string, pattern: RegExp): Span[] =>
  [...text.matchAll(pattern)].map((match) => [match.index, match.index + match[0].length]);

export const covers = (outer: Span, inner: Span): boolean => outer[0] <= inner[0] && inner[1] <= outer[1];

export function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    const doubled = i % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

const digitRuns = /\d(?:[\s\p{Pd}]{0,2}\d){12,}/gu;
const shortest = 13;
const longest = 19;

/** A run may hold more than the number (an expiry behind it), so every sequence of whole groups is tried. */
function cardNumbersInRun(text: string, [start, end]: Span, names: readonly Span[]): Span[] {
  const groups = spansOf(text.slice(start, end), /\d+/g)
    .map(([from, to]): Span => [start + from, start + to])
    .filter((group) => !names.some((name) => covers(name, group)));
  const found: Span[] = [];
  for (let first = 0; first < groups.length; first++) {
    const last = lastGroupOfCard(text, groups, first);
    if (last === undefined) continue;
    found.push([groups[first]![0], groups[last]![1]]);
    first = last;
  }
  return found;
}

function lastGroupOfCard(text: string, groups: readonly Span[], first: number): number | undefined {
  let digits = '';
  let found: number | undefined;
  for (let last = first; last < groups.length && digits.length < longest; last++) {
    digits += text.slice(...groups[last]!);
    const fits = digits.length >= shortest && digits.length <= longest;
    if (fits && passesLuhn(digits)) found = last; // The longest one, so that no tail of it stays.
  }
  return found;
}
