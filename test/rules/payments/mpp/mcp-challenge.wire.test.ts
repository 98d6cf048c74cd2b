/** Where in an MCP answer a demand for payment is found, and that no other answer is taken for one. @module */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { chooseChallenge } from '../../../../src/domains/payments/mpp/challenge.wire.ts';
import { challengesOfMcpAnswer } from '../../../../src/domains/payments/mpp/mcp-challenge.wire.ts';

const nowMs = Date.parse('2026-11-21T10:00:00Z');
const request = {
  amount: '499',
  currency: 'eur',
  recipient: 'merchant_1',
  methodDetails: {
    acceptedNetworks: ['visa'],
    merchantName: 'Café Übung',
    encryptionJwk: { kty: 'RSA', kid: 'k1', alg: 'RSA-OAEP-256', use: 'enc', n: 'AQAB', e: 'AQAB' },
  },
};
const challenge = { id: 'c1', realm: 'tools.example', method: 'card', intent: 'charge', request };
const demand = (...challenges: unknown[]) => ({ httpStatus: 402, challenges });
const answer = (body: object) => ({ jsonrpc: '2.0', id: 7, ...body });
const error = (code: number, data: unknown) => answer({ error: { code, message: 'Payment Required', data } });
const inMeta = (data: unknown) =>
  answer({ result: { content: [], isError: true, _meta: { 'org.paymentauth/payment-required': data } } });

const chosen = (message: unknown) => chooseChallenge(challengesOfMcpAnswer(message), nowMs);

describe('a demand for payment', () => {
  test.each([
    ['the error -32042', error(-32_042, demand(challenge))],
    ['the error -32603 of the protocol of 2026', error(-32_603, demand(challenge))],
    ["the metadata of a tool's result", inMeta(demand(challenge))],
  ])('is read from %s', (_place, message) => {
    expect(chosen(message)).toMatchObject({
      ok: true,
      challenge: { id: 'c1', realm: 'tools.example', method: 'card', intent: 'charge' },
      charge: { amountCents: 499, recipient: 'merchant_1', merchantName: 'Café Übung', key: { kind: 'embedded' } },
    });
  });

  test('has several challenges, of which the first that can be paid is chosen, whatever is wrong with the others', () => {
    const others = [{ ...challenge, id: 7 }, { ...challenge, method: 'tempo' }, { ...challenge, request: 'e30' }, {}];
    expect(chosen(error(-32_042, demand(...others, { ...challenge, id: 'c2' }, challenge)))).toMatchObject({
      ok: true,
      challenge: { id: 'c2' },
    });
  });

  test('keeps optional members as they are, and ignores unknown ones', () => {
    const optional = { expires: '2026-11-21T10:05:00Z', opaque: 'eyJhIjoiMSJ9', digest: 'sha-256=:AA==:' };
    expect(chosen(inMeta(demand({ ...challenge, ...optional, colour: 3 })))).toMatchObject({
      ok: true,
      challenge: optional,
    });
  });

  test.each([
    ['an expired challenge', { ...challenge, expires: '2026-11-21T09:59:59Z' }, 'expired'],
    ['an identifier that is a number', { ...challenge, id: 7 }, 'id is not a text'],
    ['a request that is a text', { ...challenge, request: 'e30' }, 'request is not a JSON object'],
    ['no request', { ...challenge, request: undefined }, 'request is not a JSON object'],
    ['another currency', { ...challenge, request: { ...request, currency: 'usd' } }, 'the currency is usd'],
    ['more than 16 KB', { ...challenge, opaque: 'A'.repeat(17_000) }, 'longer than'],
  ])('is refused with a reason: %s', (_why, hostile, reason) => {
    const choice = chosen(error(-32_042, demand(hostile)));
    expect(choice.ok ? [] : choice.reasons).toEqual([expect.stringContaining(reason)]);
  });
});

describe('no demand for payment', () => {
  test.each([
    ['another error with such data', error(-32_602, demand(challenge))],
    ['the error without data', answer({ error: { code: -32_042, message: 'Payment Required' } })],
    ['the error without challenges', error(-32_042, demand())],
    ['a result that shows challenges to the model', answer({ result: { content: [demand(challenge)] } })],
    ['structured content with challenges', answer({ result: { structuredContent: demand(challenge) } })],
    ['a text', 'org.paymentauth/payment-required'],
    ['nothing', undefined],
  ])('%s', (_what, message) => {
    expect(challengesOfMcpAnswer(message)).toEqual([]);
  });

  test('any other JSON', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => expect(challengesOfMcpAnswer(value)).toEqual([])));
  });
});

test('a failed server, which may have charged, demands nothing with its new challenge', () => {
  const problem = { type: 'https://paymentauth.org/problems/internal-payment-error', status: 500 };
  expect(challengesOfMcpAnswer(error(-32_603, { ...demand(challenge), problem }))).toEqual([]);
  const another = { type: 'https://paymentauth.org/problems/payment-required', status: 402 };
  expect(challengesOfMcpAnswer(error(-32_603, { ...demand(challenge), problem: another }))).toHaveLength(1);
});

describe('the request', () => {
  const requestIn = (value: unknown) => {
    const [found] = challengesOfMcpAnswer(error(-32_042, demand({ ...challenge, request: value })));
    return { text: Buffer.from(found?.parameters.get('request') ?? '', 'base64url').toString(), fault: found?.fault };
  };

  test('is written canonically: the example of RFC 8785, 3.2.3, and nested members', () => {
    const sorted = ['\r', '1', '\u0080', '\u00f6', '\u20ac', '\ud83d\ude00', '\ufb33'];
    const shuffled = Object.fromEntries([...sorted].reverse().map((name) => [name, 1]));
    expect(Object.keys(JSON.parse(requestIn(shuffled).text) as object).filter((name) => name !== '1')).toEqual(
      sorted.filter((name) => name !== '1'),
    );
    expect(requestIn({ b: [{ d: 1e21, c: -0 }, null], a: 'é"\n' }).text).toBe(
      '{"a":"é\\"\\n","b":[{"c":0,"d":1e+21},null]}',
    );
  });

  test('says the same in any order of its members', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })), (value) => {
        const { text } = requestIn(value);
        expect(requestIn(Object.fromEntries(Object.entries(value).reverse())).text).toBe(text);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  test('that is nested without end is refused', () => {
    let nested: unknown = {};
    for (let level = 0; level < 100_000; level++) nested = { a: nested };
    expect(requestIn(nested)).toEqual({ text: '', fault: 'request has more than 32 levels' });
  });
});

test('a list without end is cut at 32 challenges', () => {
  expect(challengesOfMcpAnswer(error(-32_042, demand(...Array.from({ length: 1_000 }, () => challenge))))).toHaveLength(
    32,
  );
});
