/**
 * Goal: refusals of input are in our words with correct grammar, and never in the validator's. Method: every string,
 * number, list and choice of every published operation is offered what it refuses; a table for the wording itself.
 * @module
 */
import { expect, test } from '@jest/globals';
import * as z from 'zod';
import type { Operation } from '../../../src/http/route.ts';
import { id } from '../../../src/http/schemas.ts';
import { validated } from '../../../src/http/validate.ts';
import { type IdKind, idPrefixes } from '../../../src/kernel/ids.ts';
import { publishedAreas } from '../../../src/main/modules/index.ts';

const sentence = (schema: z.ZodType, value: unknown): string => {
  try {
    validated(schema, 'body', value);
    return 'accepted';
  } catch (error) {
    return (error as Error).message;
  }
};

const shapes = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('card') }),
  z.strictObject({ kind: z.literal('bank') }),
]);

const table: readonly [z.ZodType, unknown, string][] = [
  [z.object({ name: z.string() }), {}, 'body.name: is missing'],
  [z.object({ kind: z.enum(['a', 'b']) }), {}, 'body.kind: is missing'],
  [z.string(), 7, 'body: must be text'],
  [z.string(), null, 'body: must be text'],
  [z.number(), 'seven', 'body: must be a number'],
  [z.int(), 1.5, 'body: must be a whole number'],
  [z.boolean(), 'yes', 'body: must be true or false'],
  [z.object({}), [], 'body: must be an object'],
  [z.array(z.string()), {}, 'body: must be a list'],
  [z.string().min(1), '', 'body: must not be empty'],
  [z.string().min(3), 'ab', 'body: must have at least 3 characters'],
  [z.string().max(2), 'abc', 'body: must have at most 2 characters'],
  [z.array(z.int()).min(1), [], 'body: must have at least 1 entry'],
  [z.array(z.int()).max(2), [1, 2, 3], 'body: must have at most 2 entries'],
  [z.number().min(1), 0, 'body: must be at least 1'],
  [z.number().max(400), 401, 'body: must be at most 400'],
  [z.number().positive(), 0, 'body: must be more than 0'],
  [z.number().multipleOf(5), 7, 'body: must be a multiple of 5'],
  [z.enum(['a', 'b']), 'c', 'body: must be one of a, b'],
  [z.literal('EUR'), 'USD', 'body: must be EUR'],
  [z.iso.datetime(), 'today', 'body: must be an instant (2026-11-20T12:00:00Z)'],
  [z.string().regex(/^x$/), 'y', 'body: must be in the published form'],
  [z.string().regex(/^x$/, 'must be x'), 'y', 'body: must be x'],
  [shapes, {}, 'body.kind: is missing'],
  [shapes, { kind: 'cash' }, 'body.kind: must be one of card, bank'],
  [shapes, 'card', 'body: must be an object'],
  [z.union([z.string(), z.number()]), true, 'body: has none of the published forms'],
  [
    z.strictObject({ policyId: z.string().optional() }),
    { policyid: 'x' },
    'body: unknown field policyid; did you mean policyId?',
  ],
];

test.each(table)('%#: %s', (schema, value, expected) => {
  expect(sentence(schema, value)).toBe(expected);
});

test('each kind of id has its article and its prefix', () => {
  const kinds = Object.keys(idPrefixes) as IdKind[];
  const nounOf = (kind: IdKind): string => {
    const [first = '', ...others] = kind.split(/(?=[A-Z])/);
    return [first === 'mpp' ? 'MPP' : first, ...others.map((word) => word.toLowerCase())].join(' ');
  };
  expect([nounOf('cardRequest'), nounOf('mppPayment')]).toEqual(['card request', 'MPP payment']);
  expect(kinds.map((kind) => sentence(id(kind), 'x'))).toEqual(
    kinds.map(
      (kind) =>
        `body: must be ${/^([aeiou]|MPP )/.test(nounOf(kind)) ? 'an' : 'a'} ${nounOf(kind)} id, ${idPrefixes[kind]}_…`,
    ),
  );
});

test('no published operation returns a message of the validator', () => {
  const offers = [
    undefined,
    null,
    7,
    -1,
    1e21,
    'x',
    '',
    'x'.repeat(100_000),
    true,
    [],
    {},
    [{}],
    Array(2_000).fill('x'),
  ];
  const said = publishedAreas.flatMap((area) =>
    Object.values<Operation>(area.operations).flatMap(({ params, query, body }) =>
      [params, query, body].flatMap((schema) => (schema === undefined ? [] : sentencesOf(schema, offers))),
    ),
  );
  expect(said.length).toBeGreaterThan(1_000);
  const foreign =
    /invalid|expected|received|too (big|small)|unrecogni|pattern|\ba (agent|intent|owner|event|evidence|audit|entry)\b/i;
  // Behind the place, because a field may be named `expectedAmount`.
  expect([...new Set(said)].filter((one) => foreign.test(one.slice(one.indexOf(': '))))).toEqual([]);
});

function sentencesOf(schema: z.ZodType, offers: readonly unknown[]): string[] {
  const names = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  const inputs = [...offers, ...names.flatMap((name) => offers.map((offer) => ({ [name]: offer })))];
  return inputs.map((input) => sentence(schema, input));
}
