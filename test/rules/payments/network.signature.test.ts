/** Whose key signed: the right bytes, the right time, and each adapter by its own key. @module */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { signerOf } from '../../../src/domains/payments/network/network.signature.ts';
import { signed } from '../../support/payments-world.ts';

const keys = { sandbox: 'a'.repeat(64), other: 'b'.repeat(64), unset: '' };
const now = 1_760_000_000;
const bytes = (text: string) => new TextEncoder().encode(text);

test('golden vector', () => {
  expect(signed(keys.sandbox, '{"id":"auth_1"}', now)).toBe(golden);
  expect(signerOf(golden, bytes('{"id":"auth_1"}'), keys, now * 1_000)).toBe('sandbox');
});

test('each adapter is known by its key; an unset key signs nothing', () => {
  expect(signerOf(signed(keys.other, 'x', now), bytes('x'), keys, now * 1_000)).toBe('other');
  expect(signerOf(signed('', 'x', now), bytes('x'), keys, now * 1_000)).toBeUndefined();
});

test('five minutes either way, and not a second more', () => {
  for (const [offset, isTaken] of [
    [-300, true],
    [300, true],
    [-301, false],
    [301, false],
  ] as const) {
    expect(signerOf(signed(keys.sandbox, 'x', now + offset), bytes('x'), keys, now * 1_000) !== undefined).toBe(
      isTaken,
    );
  }
});

test('no other header is taken', () => {
  const right = signed(keys.sandbox, 'x', now);
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.constantFrom(right.toUpperCase(), `${right},v1=0`, ` ${right}`, right.replace('v1', 'v0')),
      ),
      (header) => {
        expect(signerOf(header, bytes('x'), keys, now * 1_000)).toBeUndefined();
      },
    ),
  );
});

const golden = 't=1760000000,v1=ae4a46516a235e7ab994353ce47517e477f83bd0a72d813483f4f6bb5470f30f';
