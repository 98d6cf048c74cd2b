/** A merchant's key set is fetched by https, guarded and limited; whatever the merchant does is an answer in words. @module */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createMerchantKeys } from '../../../src/adapters/merchant-keys/jwks.ts';
import {
  createOutbound,
  type Outbound,
  type OutboundAnswer,
  type OutboundRequest,
} from '../../../src/outbound/outbound.ts';
import { OutboundError, type OutboundErrorKind } from '../../../src/outbound/outbound-error.ts';

const uri = 'https://shop.example/jwks.json';

/** Answers as it was set up to, and keeps what it was asked. */
function outboundOf(answer: Partial<OutboundAnswer> | OutboundErrorKind) {
  const asked: [string, OutboundRequest][] = [];
  const outbound: Outbound = {
    request: async (url, options) => {
      asked.push([url, options]);
      if (typeof answer === 'string') throw new OutboundError(answer, `shop.example failed: ${answer}`);
      return {
        status: 200,
        headers: {},
        text: '',
        bytes: new Uint8Array(),
        truncated: false,
        linesOf: () => [],
        ...answer,
      };
    },
    close: async () => undefined,
  };
  return { asked, keys: createMerchantKeys({ outbound }) };
}

test('the answer is the JSON value; https is demanded on every origin, with limits of size and time', async () => {
  const { asked, keys } = outboundOf({ text: '{"keys":[]}' });
  expect(await keys.fetchKeySet(uri)).toEqual({ outcome: 'answered', body: { keys: [] } });
  expect(asked).toMatchObject([[uri, { method: 'GET', requireHttps: 'always', maxBytes: 65_536, timeoutMs: 5_000 }]]);
});

test.each<[string, Partial<OutboundAnswer> | OutboundErrorKind, string, boolean]>([
  ['a redirect', { status: 302, headers: { location: 'https://evil.example/' } }, 'shop.example answered 302', true],
  ['not found', { status: 404 }, 'shop.example answered 404', true],
  ['a fault of the merchant', { status: 503 }, 'shop.example answered 503', false],
  ['no JSON', { text: '<html>' }, 'shop.example sent no JSON', true],
  ['too much', { text: '{}', truncated: true }, 'shop.example sent more than 65536 bytes', true],
  ['an address that may not be dialled', 'refused_address', 'shop.example failed: refused_address', true],
  ['no connection', 'unreachable', 'shop.example failed: unreachable', false],
  ['no answer in time', 'timeout', 'shop.example failed: timeout', false],
  ['no valid certificate', 'tls', 'shop.example failed: tls', false],
])('%s is no answer', async (_what, answer, why, isForGood) => {
  const { keys } = outboundOf(answer);
  expect(await keys.fetchKeySet(uri)).toEqual({ outcome: 'no_answer', why, isForGood });
});

test('another error is a bug and stays one', async () => {
  const outbound: Outbound = {
    request: async () => {
      throw new TypeError('a bug');
    },
    close: async () => undefined,
  };
  await expect(createMerchantKeys({ outbound }).fetchKeySet(uri)).rejects.toThrow('a bug');
});

let guarded: Outbound;
beforeAll(() => {
  guarded = createOutbound({ allowedOrigins: ['http://127.0.0.1:8401'] });
});
afterAll(() => guarded.close());

test.each(['https://10.0.0.1/jwks.json', 'https://localhost/jwks.json', 'http://127.0.0.1:8401/jwks.json'])(
  '%s is not dialled',
  async (address) => {
    const answer = await createMerchantKeys({ outbound: guarded }).fetchKeySet(address);
    expect(answer).toMatchObject({ outcome: 'no_answer', isForGood: true });
  },
);
