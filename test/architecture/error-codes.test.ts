/**
 * Goal: a program can rely on `X-Service-Error-Code`. Method: docs/errors.md, the closed list and the document are
 * compared with each other.
 * @module
 */
import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { openApiDocument } from '../../src/dev/documents.ts';
import { bugLabel, labelOf, statusOf } from '../../src/http/error-codes.ts';
import { errorCodes } from '../../src/kernel/errors.ts';

type Response = {
  headers: Record<string, { schema?: { enum: string[] } }>;
  content: Record<string, { schema: { $ref: string } }>;
};
type Documented = {
  paths: Record<string, Record<string, { operationId: string; responses: Record<string, { $ref?: string }> }>>;
  components: { responses: Record<string, Response> };
};
const document = openApiDocument() as Documented;
const labels = new Map<string, number>(errorCodes.map((code) => [labelOf(code), statusOf[code]]));

test('docs/errors.md has a paragraph for each code with its status, cause and remedy, and for no other', async () => {
  const page = await readFile(new URL('../../docs/errors.md', import.meta.url), 'utf8');
  const [, ...sections] = page.split('\n## ');
  const told = sections.map((section) => {
    const [, status, code] = /^(\d{3}) `(\w+)`\n/.exec(section) ?? [];
    const isWhole = /\nCause: .{20,}/.test(section) && /\nRemedy: .{10,}/.test(section);
    return [code, Number(status), isWhole];
  });
  const known = [...labels].map(([label, status]) => [label, status, true]);
  expect(told.toSorted()).toEqual([...known, [bugLabel, 500, true]].toSorted());
});

const error = { form: 'application/json', schema: 'ApiError' };
/** Of operations that merchants call. */
const problem = { form: 'application/problem+json', schema: 'Problem' };

test('each refusal of each operation lists its codes, each under its own status', () => {
  const refusals = Object.values(document.paths)
    .flatMap((operations) => Object.values(operations))
    .flatMap(({ operationId, responses }) =>
      Object.entries(responses).flatMap(([status, { $ref }]) =>
        Number(status) < 400 || operationId === 'getHealth' ? [] : [{ operationId, status: Number(status), $ref }],
      ),
    );
  expect(refusals.length).toBeGreaterThan(600);
  const wrong = refusals.filter(({ status, $ref = '' }) => {
    const response = document.components.responses[$ref.replace('#/components/responses/', '')];
    const codes = response?.headers['X-Service-Error-Code']?.schema?.enum ?? [];
    const { form, schema } = $ref.endsWith('Problem') ? problem : error;
    const isError = response?.content[form]?.schema.$ref === `#/components/schemas/${schema}`;
    return !isError || codes.length === 0 || codes.some((code) => labels.get(code) !== status);
  });
  expect(wrong).toEqual([]);
});
