/** Finds the sections of the guides that have all words of a question: titles first, then more hits first. @module */
import { type Html, html } from '../html.ts';
import type { Section } from './markdown.ts';

export type Searched = { readonly path: string; readonly title: string; readonly sections: readonly Section[] };
export type Found = {
  readonly href: string;
  readonly title: string;
  readonly heading: string;
  readonly excerpt: Html;
};

const longestQuestion = 200;
const mostFound = 20;
/** A search needs no credential, and each word is looked for in every section. */
const mostWords = 8;

const folded = (text: string): string => text.normalize('NFKC').toLowerCase();

/** Its words, of a question of any length; the rest of a long one is ignored. */
export const wordsOf = (question: string): string[] =>
  [...new Set(folded(question.slice(0, longestQuestion)).match(/[\p{L}\p{N}_.]+/gu) ?? [])].slice(0, mostWords);

export function search(pages: readonly Searched[], question: string): Found[] {
  const words = wordsOf(question);
  if (words.length === 0) return [];
  return pages
    .flatMap(({ path, title, sections }) =>
      sections.flatMap(({ anchor, heading, text }) => {
        const [head, body] = [folded(`${title} ${heading}`), folded(text)];
        if (!words.every((word) => head.includes(word) || body.includes(word))) return [];
        const inHead = words.filter((word) => head.includes(word)).length;
        const hits = words.reduce((sum, word) => sum + body.split(word).length - 1, 0);
        const found: Found = { href: `${path}#${anchor}`, title, heading, excerpt: excerptOf(text, words) };
        return [{ found, rank: inHead * 1_000 + Math.min(hits, 999) }];
      }),
    )
    .toSorted((one, other) => other.rank - one.rank)
    .slice(0, mostFound)
    .map(({ found }) => found);
}

/** Some text around the first word, with all words marked. */
function excerptOf(text: string, words: readonly string[]): Html {
  const pattern = new RegExp(words.map((word) => word.replaceAll('.', '\\.')).join('|'), 'giu');
  const first = text.search(pattern);
  const start = Math.max(0, first - 60);
  const piece = text.slice(start, start + 220);
  const plainParts = piece.split(pattern);
  const hits = [...piece.matchAll(pattern)].map(([hit]) => hit);
  const parts = plainParts.map(
    (part, at) => html`${part}${hits[at] === undefined ? undefined : html`<mark>${hits[at]}</mark>`}`,
  );
  return html`${start > 0 ? '…' : ''}${joined(parts)}${start + 220 < text.length ? '…' : ''}`;
}

const joined = (parts: readonly Html[]): Html => parts.reduce((all, part) => html`${all}${part}`, html``);
