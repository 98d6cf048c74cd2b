/** A merchant's answer becomes an object, and nothing of it is lost. @module */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { merchantBodyWire } from '../../../../src/domains/payments/mpp-payments/merchant-body.wire.ts';

const wireOf = (bytes: Uint8Array | string, contentType: string | null, isTruncated = false) =>
  merchantBodyWire({ bytes: typeof bytes === 'string' ? Buffer.from(bytes) : bytes, contentType, isTruncated });

test.each([
  ['{"a":1}', 'application/json', { a: 1 }],
  ['{"a":1}', 'application/problem+json; charset=utf-8', { a: 1 }],
  ['{"a":1}', null, { a: 1 }],
  ['\ufeff{"a":1}', 'application/json', { a: 1 }],
  ['[1,2]', 'application/json', { json: [1, 2] }],
  ['null', 'text/json', { json: null }],
  ['{"a":', 'application/json', { text: '{"a":', contentType: 'application/json' }],
  ['hello', 'text/plain', { text: 'hello', contentType: 'text/plain' }],
  ['{"a":1}', 'text/html', { text: '{"a":1}', contentType: 'text/html' }],
  ['hello', null, { text: 'hello', contentType: null }],
  ['hello', 'application/octet-stream', { base64: 'aGVsbG8=', contentType: 'application/octet-stream' }],
  ['', 'application/json', {}],
  [Buffer.from([0xff, 0xd8]), 'image/jpeg', { base64: '/9g=', contentType: 'image/jpeg' }],
  [Buffer.from([0xff, 0xd8]), 'text/plain', { base64: '/9g=', contentType: 'text/plain' }],
  [Buffer.from('a\0b'), 'text/plain', { base64: 'YQBi', contentType: 'text/plain' }],
] as const)('%j of %s', (bytes, contentType, expected) => {
  expect(wireOf(bytes, contentType)).toEqual(expected);
});

test('a body that broke off is not shown in part as if it were whole', () => {
  expect(wireOf('{"a":1}', 'application/json', true)).toEqual({
    truncated: true,
    contentType: 'application/json',
    receivedBytes: 7,
  });
});

test('JSON that is too deep to be written again is text', () => {
  const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
  expect(wireOf(deep, 'application/json')).toEqual({ text: deep, contentType: 'application/json' });
});

test('whatever a merchant sends, the object can be written, and its bytes can be read out of it', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 1 }),
      fc.option(fc.constantFrom('image/png', 'text/plain')),
      (bytes, type) => {
        const wire = JSON.parse(JSON.stringify(wireOf(bytes, type))) as Record<string, unknown>;
        if (typeof wire.base64 === 'string') expect([...Buffer.from(wire.base64, 'base64')]).toEqual([...bytes]);
        else if (typeof wire.text === 'string') expect(Buffer.from(wire.text)).toEqual(withoutMark(bytes));
      },
    ),
  );
});

/** The decoder takes a byte order mark away. */
const withoutMark = (bytes: Uint8Array): Buffer => {
  const isMarked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return Buffer.from(isMarked ? bytes.subarray(3) : bytes);
};
