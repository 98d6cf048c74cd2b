/**
 * Every fact that the specification states, each with an id that a test can name. A line from which nothing follows
 * here is an error, so that a changed specification cannot slip through.
 * @module
 */
import { readFileSync } from 'node:fs';
import { type Block, blocksOf } from './markdown.ts';
import { headingFacts, sentenceFacts } from './sentences.ts';
import { rowFacts } from './tables.ts';

export type Shape = {
  readonly schema: string;
  readonly name: string;
  readonly type?: string;
  readonly nullable?: boolean;
  readonly constraint?: string;
};

/** What can be looked up in the published interface. */
export type Claim =
  | { readonly kind: 'path'; readonly method: string; readonly path: string }
  | { readonly kind: 'field'; readonly shape: Shape }
  /** A field of a request or of its answer, at any depth. */
  | { readonly kind: 'body'; readonly operation: string; readonly name: string }
  | { readonly kind: 'answer'; readonly operation: string; readonly name: string }
  | { readonly kind: 'header'; readonly operation: string; readonly name: string; readonly isRequired: boolean }
  | { readonly kind: 'status'; readonly operation: string; readonly status: number }
  | { readonly kind: 'refusals'; readonly operation: string; readonly atLeast: number }
  | { readonly kind: 'event'; readonly name: string }
  | { readonly kind: 'alias'; readonly path: string }
  | { readonly kind: 'area' }
  | { readonly kind: 'said' };

export type Fact = {
  readonly id: string;
  readonly area: string;
  readonly claim: Claim;
};

export type Stated = Fact & { readonly line: number };

export const specification = readFileSync(new URL('specification.md', import.meta.url), 'utf8');

export type Reading = {
  readonly facts: readonly Stated[];
  /** Lines that say something this file does not understand. */
  readonly unread: readonly string[];
};

export function read(markdown: string): Reading {
  const unread: string[] = [];
  const facts = blocksOf(markdown).flatMap((block): Stated[] => {
    try {
      return factsOf(block).map((fact) => ({ ...fact, line: block.line }));
    } catch (error) {
      unread.push(`line ${block.line}: ${(error as Error).message}`);
      return [];
    }
  });
  return { facts: unique(facts), unread };
}

function factsOf(block: Block): Fact[] {
  if (block.kind === 'row') return rowFacts(block);
  if (block.kind === 'heading') return headingFacts(block.text);
  return sentenceFacts(block);
}

/** A fact said twice is one fact, as long as both mean the same. */
function unique(facts: readonly Stated[]): Stated[] {
  const known = new Map<string, Stated>();
  for (const fact of facts) {
    const before = known.get(fact.id);
    if (before !== undefined && before.area !== fact.area) {
      throw new Error(
        `${fact.id} is of ${before.area} in line ${before.line} and of ${fact.area} in line ${fact.line}`,
      );
    }
    known.set(fact.id, before ?? fact);
  }
  return [...known.values()];
}
