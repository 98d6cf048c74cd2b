/** Which payment challenges may be answered for an intent, and who counts as the payee. @module */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type ChallengeFacts,
  evaluateChallenge,
  expectedHost,
  isPayee,
  payeeToExpect,
  readPayee,
  refusalErrorCode,
} from '../../../../src/domains/payments/mpp-credentials/challenge-evaluation.rules.ts';
import { cents } from '../../../../src/kernel/money.ts';

const now = new Date('2026-11-20T10:00:00.000Z');
const payee = { host: 'api.shop.example', recipient: 'merch_1', reference: 'merch_1' };
const approved = { outcome: 'approved', rule: 'within_rules', reason: 'within all rules' } as const;
const facts: ChallengeFacts = {
  challenge: { id: 'challenge-1', expires: '2026-11-20T10:05:00Z' },
  charge: { amountCents: cents(499), acceptedNetworks: ['mastercard', 'visa'] },
  payee,
  intent: { id: 'int_1', expectedAmountCents: 500, expectedMerchant: 'api.shop.example' },
  tolerancePercent: null,
  brand: 'visa',
  protection: undefined,
  decision: approved,
};
const evaluated = (changes: Partial<ChallengeFacts>) => evaluateChallenge({ ...facts, ...changes }, now);

describe('the payee', () => {
  test.each<[string | undefined, string | null, unknown]>([
    [
      'merch_1',
      'https://API.Shop.Example:8443/x',
      { host: 'api.shop.example', recipient: 'merch_1', reference: 'merch_1' },
    ],
    [undefined, 'https://shop.example.', { host: 'shop.example', recipient: null, reference: 'shop.example' }],
    [undefined, 'http://[::1]:8401', { host: '::1', recipient: null, reference: '::1' }],
    ['merch_1', null, { host: null, recipient: 'merch_1', reference: 'merch_1' }],
  ])('of recipient %s at %s', (recipient, origin, expected) => {
    expect(readPayee({ recipient }, origin)).toEqual({ ok: true, payee: expected });
  });

  test.each<[string | undefined, string | null]>([
    [undefined, null],
    ['', 'https://shop.example'],
    ['a shop', 'https://shop.example'],
    ['m\u0000', null],
    ['m'.repeat(129), null],
  ])('recipient %j at %s is refused', (recipient, origin) => {
    expect(readPayee({ recipient }, origin)).toMatchObject({ ok: false, code: 'challenge_payee' });
  });

  test.each([
    'api.shop.example',
    'API.Shop.Example',
    ' api.shop.example. ',
    'api.shop.example:8443',
    'https://api.shop.example/orders?x=1',
    'merch_1',
    'MERCH_1',
    'Merch 1',
  ])('is the expected merchant %j', (expected) => {
    expect(isPayee(expected, payee)).toBe(true);
  });

  test.each([
    'shop.example',
    'evil.api.shop.example',
    'api-shop.example',
    'api.shop.example.evil.example',
    'https://api.shop.example@evil.example',
    'api.shop.example evil.example',
    'Shop',
    'merch_10',
    'merch_',
    'merch',
    'm',
    '_',
    '',
  ])('is not the expected merchant %j', (expected) => {
    expect(isPayee(expected, payee)).toBe(false);
  });

  test('that an intent expects is found again, wherever the challenge comes from', () => {
    const hosts = fc.constantFrom(
      'shop.example',
      'API.Shop.Example:8443',
      '[2001:db8::1]',
      '203.0.113.7',
      'münchen.example.',
    );
    const origin = fc.option(hosts.map((host) => `https://${host}`));
    const recipient = fc.option(fc.stringMatching(/^[A-Za-z0-9_.:-]{1,20}$/), { nil: undefined });
    fc.assert(
      fc.property(recipient, origin, origin, (named, declaredAt, paidAt) => {
        const declared = readPayee({ recipient: named }, declaredAt);
        const paid = readPayee({ recipient: named }, named === undefined ? declaredAt : paidAt);
        if (!declared.ok || !paid.ok) return;
        expect(isPayee(payeeToExpect(declared.payee), paid.payee)).toBe(true);
      }),
    );
  });

  test('an international name equals its ASCII form', () => {
    expect(isPayee('münchen.example', { ...payee, host: 'xn--mnchen-3ya.example' })).toBe(true);
  });
});

describe('a challenge', () => {
  test('that fits is answered with its own amount as the ceiling', () => {
    expect(evaluated({})).toEqual({ ok: true, payee, ceilingCents: 499 });
    expect(evaluated({ intent: { ...facts.intent, expectedMerchant: null } })).toMatchObject({ ok: true });
    expect(evaluated({ challenge: { id: 'challenge-1' } })).toMatchObject({ ok: true });
  });

  test.each<[string, Partial<ChallengeFacts>]>([
    ['challenge_id', { challenge: { id: 'x'.repeat(513) } }],
    ['challenge_expired', { challenge: { id: 'x', expires: now.toISOString() } }],
    ['challenge_network', { brand: 'amex' }],
    ['challenge_amount', { charge: { ...facts.charge, amountCents: cents(501) } }],
    ['challenge_window', { intent: { ...facts.intent, closedBecause: 'the window is paid for' } }],
    ['challenge_merchant', { intent: { ...facts.intent, expectedMerchant: 'Shop' } }],
    ['protect_rule', { protection: { reason: 'rule ppr_1 denies it' } }],
    ['insufficient_funds', { decision: { outcome: 'declined', rule: 'insufficient_funds', reason: 'available 0.00' } }],
    ['daily_limit', { decision: { outcome: 'declined', rule: 'daily_limit', reason: 'above it' } }],
  ])('with the fault %s is refused, and nothing is minted', (code, changes) => {
    const evaluation = evaluated(changes);
    expect(evaluation).toMatchObject({ ok: false, code, reason: expect.stringMatching(/nothing was minted$/) });
  });

  test.each<[string, Partial<ChallengeFacts>]>([
    ['the id of the challenge is longer than 512 characters', { challenge: { id: 'x'.repeat(513) } }],
    ['the challenge expired at 2026-11-20T10:00:00Z', { challenge: { id: 'x', expires: '2026-11-20T10:00:00Z' } }],
    ['the merchant accepts mastercard, visa; the card is of amex', { brand: 'amex' }],
    ['intent int_1 expects 5.00, asked 5.01', { charge: { ...facts.charge, amountCents: cents(501) } }],
    ['the window is paid for', { intent: { ...facts.intent, closedBecause: 'the window is paid for' } }],
    [
      'intent int_1 expects Shop, asked by api.shop.example, recipient merch_1',
      { intent: { ...facts.intent, expectedMerchant: 'Shop' } },
    ],
    [
      'intent int_1 expects Shop, asked by merch_1',
      { intent: { ...facts.intent, expectedMerchant: 'Shop' }, payee: { ...payee, host: null } },
    ],
    ['rule ppr_1 denies it', { protection: { reason: 'rule ppr_1 denies it' } }],
    [
      'available 0.00: fund the account',
      { decision: { outcome: 'declined', rule: 'insufficient_funds', reason: 'available 0.00' } },
    ],
    [
      'forbidden by the rule daily_limit: above it',
      { decision: { outcome: 'declined', rule: 'daily_limit', reason: 'above it' } },
    ],
  ])('is refused with the sentence: %s', (reason, changes) => {
    expect(evaluated(changes)).toMatchObject({ ok: false, reason: `${reason}; nothing was minted` });
  });

  test('with the longest id, before its end, or for an intent of any merchant is answered', () => {
    expect(evaluated({ challenge: { id: 'x'.repeat(512), expires: '2026-11-20T10:00:00.001Z' } })).toMatchObject({
      ok: true,
    });
    expect(evaluated({ intent: { ...facts.intent, expectedMerchant: '' } })).toMatchObject({ ok: true });
  });

  test('above the amount of the intent is answered within the tolerance only, whatever the rules say', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2_000 }), fc.constantFrom(null, 0, 10, 50), (amount, tolerancePercent) => {
        const charge = { ...facts.charge, amountCents: cents(amount) };
        const evaluation = evaluated({ charge, tolerancePercent });
        const mostCents = 500 + (500 * (tolerancePercent ?? 0)) / 100;
        if (amount > mostCents) expect(evaluation).toMatchObject({ ok: false, code: 'challenge_amount' });
        else expect(evaluation).toMatchObject({ ok: true, ceilingCents: amount });
      }),
    );
  });
});

test.each<[text: string, host: string | null]>([
  ['Shop.Example.', 'shop.example'],
  ['HTTP://shop.example/a?b', 'shop.example'],
  ['xhttps://shop.example', 'xhttps'],
  ['shop.example:8443', 'shop.example'],
  ['2001:DB8::1', '2001:db8::1'],
  ['[2001:db8::1]:443', '2001:db8::1'],
  ['2001:db8:0:0:0:0:0:1', '2001:db8::1'],
  ['2001:db8::', '2001:db8::'],
  ['1::', '1::'],
  ['https://shop.example/a::b', 'shop.example'],
  ['2001:db8::1]/x', null],
  ['a@shop.example', null],
  ['shop\\example', null],
  ['shop example', null],
  ['a:b:c', null],
])('the host in %j is %s', (text, host) => {
  expect(expectedHost(text)).toBe(host);
});

test('a challenge that says not who is paid is refused in words', () => {
  expect(readPayee({ recipient: undefined }, null)).toEqual({
    ...{ ok: false, code: 'challenge_payee' },
    reason: 'the challenge names no recipient, so nothing says who is paid; nothing was minted',
  });
  const unfit = 'the recipient of the challenge is not an id that a payment token can be made for; nothing was minted';
  for (const recipient of ['', '!m', 'm!', 'm'.repeat(129)])
    expect(readPayee({ recipient }, null)).toMatchObject({ reason: unfit });
  expect(readPayee({ recipient: 'm'.repeat(128) }, null)).toMatchObject({ ok: true });
  expect(isPayee('our shop', { host: null, recipient: 'merch_1', reference: 'merch_1' })).toBe(false);
  expect(isPayee('!!', { host: null, recipient: '??', reference: '??' })).toBe(false);
  expect(isPayee('!!', { host: null, recipient: '!!', reference: '!!' })).toBe(true);
});

test('each refusal that is not by a rule of the owner is about the request, and one without a code is by a rule', () => {
  for (const fault of ['id', 'expired', 'network', 'payee', 'key', 'amount', 'merchant', 'mcc', 'country', 'window'])
    expect(refusalErrorCode(`challenge_${fault}`)).toBe('invalid_state');
  for (const code of ['checkout_intent', 'over_ceiling', 'intent', 'card', 'card_refused', 'expired'])
    expect(refusalErrorCode(code)).toBe('invalid_state');
  expect(refusalErrorCode(null)).toBe('policy_denied');
});

test('a refusal by a rule of the owner is 403; every other is about the request or the money', () => {
  expect(refusalErrorCode('protect_rule')).toBe('policy_denied');
  expect(refusalErrorCode('daily_limit')).toBe('policy_denied');
  expect(refusalErrorCode('insufficient_funds')).toBe('insufficient_funds');
  for (const code of ['challenge_merchant', 'challenge_amount', 'challenge_expired', 'challenge_key', 'intent', 'card'])
    expect(refusalErrorCode(code)).toBe('invalid_state');
});
