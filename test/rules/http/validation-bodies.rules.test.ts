/**
 * Goal: whatever is wrong in a body, the refusal names the place in our words, and repeats no long input. Method: the
 * documented example of each body is changed in one place; what the contract then accepts is left out.
 * @module
 */
import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import type * as z from 'zod';
import { validated } from '../../../src/http/validate.ts';
import { exampleBodyOf } from '../../support/documented-examples.ts';
import { type Mutated, mutated } from '../../support/mutated-body.ts';
import { publishedOperations } from '../../support/published-operations.ts';
import { refusalMessage } from '../../support/refusals.ts';

const bodies = publishedOperations.flatMap(({ name, operation: { body } }) => {
  const example = exampleBodyOf(name);
  return body === undefined || example === undefined ? [] : [{ name, body, example }];
});

/** The validator's words, and JavaScript's. */
const jargon =
  /\b(expected|received|invalid|unions?|unrecogni[sz]ed|zod|NaN|undefined|regex|pattern|strings?|arrays?|booleans?|too (big|small)|prototype|\[object \w+\])\b/i;

const longestRefusal = 1_500;

/** The names of our fields and values are no jargon, and neither are the caller's own words. */
const withoutNames = (sentence: string): string => sentence.replace(/^body\S*: (unknown field .*)?/, '');

/** One sentence for each place; `; did you mean …?` belongs to the sentence before it. */
const sentencesOf = (message: string): string[] => message.split(/; (?=body[.:])/);

function namesPlace({ path }: Mutated, message: string): boolean {
  const place = ['body', ...path].join('.');
  const places = sentencesOf(message).map((sentence) => sentence.slice(0, sentence.indexOf(': ')));
  return (
    places.some((one) => one === place || one.startsWith(`${place}.`)) ||
    // A rule of several fields stands at the object, and names them.
    (path.length > 0 && places.includes(['body', ...path.slice(0, -1)].join('.')))
  );
}

/** A short name is near too many others. */
const isNearEnough = ({ meant = '' }: Mutated): boolean => meant.length >= 4;

function expectOurWords(body: z.ZodType, one: Mutated): void {
  const message = refusalMessage(() => validated(body, 'body', one.body));
  expect(message.length).toBeLessThan(longestRefusal);
  expect(message).not.toContain('\n');
  for (const sentence of sentencesOf(message)) {
    expect(sentence).toMatch(/^body(\.("(\\.|[^"\\])*"|[^:".]+))*: \S/);
    expect(withoutNames(sentence)).not.toMatch(jargon);
  }
  expect([message, namesPlace(one, message)]).toEqual([message, true]);
  if (message.includes('unknown field') && isNearEnough(one)) expect(message).toContain('; did you mean ');
}

test('there are bodies to change', () => {
  expect(bodies.length).toBeGreaterThan(40);
});

test.each(bodies)('$name: a wrong body is refused with the place, in our words', ({ body, example }) => {
  const refused = mutated(example).filter((one) => !body.safeParse(one.body).success);
  const property = fc.property(refused, (one) => expectOurWords(body, one));
  return fc.assert(property, { numRuns: 150 });
});
