/**
 * Goal: the document satisfies the OpenAPI rules of a linter that we did not write. Method: Spectral with all of its
 * `oas` rules over the document as it is made now; errors and warnings both fail.
 * @module
 */
import { expect, test } from '@jest/globals';
import { type RulesetDefinition, Spectral } from '@stoplight/spectral-core';
import { oas } from '@stoplight/spectral-rulesets';
import { openApiDocument } from '../../src/dev/documents.ts';

// The packages' own types do not fit each other.
const openApiRules = oas as unknown as RulesetDefinition;

/** Rules that do not hold here, each with its reason. */
const notOurs: Readonly<Record<string, string>> = {
  'info-contact': 'the contact is the operator of an installation, who is not known here',
  'info-license': 'the document names no licence; the repository does',
  'license-url': 'as info-license',
  'openapi-tags-alphabetical': 'areas come in the order in which a reader needs them',
};

test('Spectral finds nothing in the document', async () => {
  const linter = new Spectral();
  linter.setRuleset({
    extends: [[openApiRules, 'all']],
    rules: Object.fromEntries(Object.keys(notOurs).map((rule) => [rule, 'off' as const])),
  });
  const document: unknown = JSON.parse(JSON.stringify(openApiDocument()));
  const found = await linter.run(document as Record<string, unknown>);
  expect(found.map(({ code, path, message }) => `${code} at ${path.join('.')}: ${message}`)).toEqual([]);
});

test('Spectral detects a planted error', async () => {
  const linter = new Spectral();
  linter.setRuleset({ extends: [[openApiRules, 'all']] });
  const found = await linter.run({ openapi: '3.1.1', info: {}, paths: { '/a': { get: { responses: {} } } } });
  expect(found.map(({ code }) => code)).toEqual(expect.arrayContaining(['oas3-schema', 'operation-operationId']));
});
