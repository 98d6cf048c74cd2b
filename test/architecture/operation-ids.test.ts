/** Operation ids are a verb from the one table and a noun, so that clients made from the document read alike. @module */
import { describe, expect, it } from '@jest/globals';
import { verbs } from '../../src/http/verbs.ts';
import { publishedAreas } from '../../src/main/modules/index.ts';

const operations = publishedAreas.flatMap((area) => Object.entries(area.operations));
const verbOf = (operationId: string): string => /^[a-z]+/.exec(operationId)?.[0] ?? '';

describe('operation ids', () => {
  it('are a verb of the table and a noun', () => {
    const wrong = operations.map(([id]) => id).filter((id) => !(verbOf(id) in verbs) || !/^[a-z]+[A-Z]\w+$/.test(id));
    expect(wrong).toEqual([]);
  });

  it('use every verb of the table', () => {
    const used = new Set(operations.map(([id]) => verbOf(id)));
    expect(Object.keys(verbs).filter((verb) => !used.has(verb))).toEqual([]);
  });

  it('a read is named list or get, and no other operation is', () => {
    const reads = operations.filter(([id]) => ['list', 'get'].includes(verbOf(id)));
    expect(reads.filter(([, { method }]) => method !== 'get')).toEqual([]);
    const others = operations.filter(([id, { method }]) => method === 'get' && !/^(list|get|verify)/.test(id));
    expect(others.map(([id]) => id)).toEqual([]);
  });
});
