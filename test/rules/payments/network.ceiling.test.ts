/** A network key's ceiling per second, and how bad signatures are counted. @module */
import { expect, test } from '@jest/globals';
import { createMessageCeiling } from '../../../src/domains/payments/network/network.ceiling.ts';
import { createFailureLimit } from '../../../src/http/failure-limit.ts';

const tooMany = expect.objectContaining({ code: 'rate_limited', retryAfterSeconds: 1 });

test('3,000 messages for each key and second', () => {
  let now = 5_000;
  const count = createMessageCeiling(3_000, () => now);
  for (let i = 0; i < 3_000; i++) count('sandbox');
  expect(() => count('sandbox')).toThrow(tooMany);
  count('other');
  now += 999;
  expect(() => count('sandbox')).toThrow(tooMany);
  now += 1;
  count('sandbox');
});

test('ten failures a minute from one address; 100,000 addresses are not stored', () => {
  const count = createFailureLimit('bad network signatures', () => 5_000);
  for (let i = 0; i < 10; i++) count('192.0.2.1');
  expect(() => count('192.0.2.1')).toThrow(/^more than 10 bad network signatures in a minute; wait 60 s$/);
  count('192.0.2.2');
  for (let i = 0; i < 100_000; i++) count(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`);
  count('192.0.2.1'); // Forgotten with the oldest.
});
