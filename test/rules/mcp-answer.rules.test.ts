/** Goal: no answer of a tool is longer than a model reads, whatever it is made of. Method: property-based. @module */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { longestAnswer, type Outcome, toolResult } from '../../src/mcp/answer.ts';

const told = { offers: () => true, untrusted: ['result.data[].purpose'] };
const lengthOf = (outcome: Outcome): number => JSON.stringify(toolResult(outcome, told)).length;
/** Text and structured content are the same, and quotes in the text are escaped. */
const longest = longestAnswer * 3;
const next = { do: 'There are more.', tool: 'intents_list', arguments: { cursor: 'c' } };

test('a list of long records is shortened, and says so where records are left out', () => {
  const records = fc.array(fc.record({ id: fc.string(), purpose: fc.string({ minLength: 1_000, maxLength: 4_000 }) }), {
    minLength: 20,
    maxLength: 60,
  });
  fc.assert(
    fc.property(records, (data) => {
      expect(lengthOf({ kind: 'result', result: { data }, next })).toBeLessThan(longest);
    }),
    { numRuns: 20 },
  );
  const data = Array.from({ length: 25 }, (_, id) => ({ id, fields: Array(5_000).fill(id) }));
  const { structuredContent } = toolResult({ kind: 'result', result: { data }, next }, told);
  expect(JSON.stringify(structuredContent).length).toBeLessThan(longestAnswer);
  expect(structuredContent).toMatchObject({ next: { do: expect.stringContaining('Records were left out') } });
});

test('a refusal with a long sentence, long figures and long arguments is short', () => {
  const long = 'x'.repeat(90_000);
  const refusal = {
    kind: 'refusal',
    code: 'unavailable',
    message: long,
    rule: null,
    figures: { merchant: long },
  } as const;
  const asked = { do: 'Make the same call again.', tool: 'evidence_add', arguments: { description: long } };
  const { content } = toolResult({ ...refusal, next: asked }, told);
  const [{ text }] = content as unknown as [{ text: string }];
  expect(text.length).toBeLessThan(6_000);
  expect(JSON.parse(text)).toMatchObject({ code: 'unavailable', next: { tool: 'evidence_add' } });
});

test('a short answer stays as it is', () => {
  const result = { data: [{ id: 'int_1', purpose: 'a lamp' }] };
  expect(toolResult({ kind: 'result', result, next }, told).structuredContent).toEqual({
    ...{ result, untrusted: told.untrusted, next },
  });
});
