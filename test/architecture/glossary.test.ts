/** Goal: the published documents keep to docs/glossary.md. Method: words that it replaced are searched in them. @module */
import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';

/** Each stood for a concept that has another word now. */
const replaced = /\b(purses?|verdicts?|brakes?|nudges?|judges?|judgements?|adopt(s|ed)?|thaws?)\b/gi;

test.each(['openapi.json', 'events.json', 'docs/glossary.md'])('%s has no replaced word', async (name) => {
  const text = await readFile(new URL(`../../${name}`, import.meta.url), 'utf8');
  expect([...text.matchAll(replaced)].map(([word]) => word)).toEqual([]);
});
