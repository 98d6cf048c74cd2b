/** Goal: an address of evidence is a web address, wherever it lies. Method: examples and random text. @module */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { evidenceTypes, isWebAddress } from '../../../src/domains/spending/evidence/evidence.rules.ts';

test.each([
  'https://example.com/receipt.pdf?id=7#page',
  'http://localhost:8080/x',
  'http://10.0.0.1/',
  'https://[::1]/',
  'HTTPS://EXAMPLE.COM',
])('%s is one', (address) => {
  expect(isWebAddress(address)).toBe(true);
});

test.each([
  '',
  'example.com',
  '/receipt',
  'ftp://example.com/x',
  'javascript:alert(1)',
  'data:text/html,x',
  'file:///etc/passwd',
  'https://user@example.com/',
  'https://:word@example.com/',
  'https://user:word@example.com/',
  'https://',
  'https://example.com/a b',
  'https://example.com/\n',
  'https://example.com/\u0007',
])('%j is none', (address) => {
  expect(isWebAddress(address)).toBe(false);
});

test('there are five types of evidence', () => {
  expect(evidenceTypes).toEqual(['receipt', 'screenshot', 'invoice', 'confirmation', 'other']);
});

test('every other input is evaluated without an exception', () => {
  fc.assert(fc.property(fc.oneof(fc.string(), fc.webUrl()), (text) => typeof isWebAddress(text) === 'boolean'));
});
