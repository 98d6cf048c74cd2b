/** What is served at a path: the looked-up answer against trying every template, for all templates and paths. @module */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Router } from '../../../src/http/router.ts';

const literal = fc.constantFrom('agents', 'tokens', 'v1', 'wallet');
const template = fc
  .array(fc.oneof(literal, fc.constant('{id}')), { maxLength: 4 })
  .map((parts) => `/${parts.join('/')}`);
const segment = fc.oneof(literal, fc.constantFrom('AGENTS', 'ag_1', 'a%2Fb', ''));
const path = fc
  .tuple(fc.array(segment, { maxLength: 5 }), fc.boolean())
  .map(([parts, slash]) => `/${parts.join('/')}${slash ? '/' : ''}`);

const segmentsOf = (one: string): string[] => (one === '/' ? [] : one.slice(1).replace(/\/$/, '').split('/'));

/** The left-most difference decides: a literal is nearer than a parameter. */
function tried(templates: readonly string[], asked: string): string | undefined {
  const segments = segmentsOf(asked);
  const fits = (one: string): boolean => {
    const parts = segmentsOf(one);
    return (
      parts.length === segments.length &&
      parts.every((part, i) => (part === '{id}' ? segments[i] !== '' : part === segments[i]?.toLowerCase()))
    );
  };
  return templates.filter(fits).sort((a, b) => key(a).localeCompare(key(b)))[0];
}

const key = (one: string): string =>
  one
    .split('/')
    .map((part) => (part === '{id}' ? '1' : '0'))
    .join('');

test('finds the nearest template, with the values of its parameters', () => {
  fc.assert(
    fc.property(fc.uniqueArray(template, { maxLength: 12 }), path, (templates, asked) => {
      const router = new Router<string>();
      for (const one of templates) router.add(one, one);
      const found = router.find(asked);
      expect(found?.served).toBe(tried(templates, asked));
      const segments = asked.slice(1).split('/');
      const values = found?.served
        .slice(1)
        .split('/')
        .flatMap((part, i) => (part === '{id}' ? [segments[i]] : []));
      expect(found?.values).toEqual(values);
    }),
    { numRuns: 2_000 },
  );
});

test('the first that is served at a place stays', () => {
  const router = new Router<number>();
  router.add('/agents/{id}', 1);
  router.add('/agents/{agentId}', 2);
  expect(router.find('/Agents/ag_1/')).toEqual({ served: 1, values: ['ag_1'] });
});
