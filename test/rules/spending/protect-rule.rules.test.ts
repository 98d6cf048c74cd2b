/**
 * Goal: a deny rule always refuses, one allow rule closes the list, and a host is compared in one spelling. Method:
 * random rules against the definition, and examples of hosts.
 * @module
 */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  normalizedHost,
  normalizedMerchant,
  type ProtectRule,
  protectDecision,
  protectRuleTypes,
} from '../../../src/domains/spending/protect-rules/protect-rule.rules.ts';

const agents = ['ag_aaaaaaaa', 'ag_bbbbbbbb'];
const merchants = ['shop.example', 'api.shop.example', 'mer_aaaaaaaa', 'acme'];
const aRule = fc.record({
  id: fc.stringMatching(/^[a-z0-9]{8}$/).map((text) => `ppr_${text}` as const),
  agentId: fc.constantFrom(null, ...agents),
  type: fc.constantFrom(...protectRuleTypes),
  merchant: fc.constantFrom(...merchants),
});
const someRules = fc.array(aRule, { maxLength: 8 });
const aPayment = fc.record({
  agentId: fc.constantFrom(...agents),
  host: fc.constantFrom(null, 'shop.example', 'API.shop.example.', 'other.example'),
  merchantId: fc.constantFrom(null, 'mer_aaaaaaaa', 'mer_bbbbbbbb'),
  merchantSlug: fc.constantFrom(null, 'acme'),
});

test('a deny rule in reach refuses, whatever else there is; otherwise one allow rule closes the list', () => {
  fc.assert(
    fc.property(someRules, aPayment, (rules, payment) => {
      const names = [payment.host?.toLowerCase().replace(/\.$/, ''), payment.merchantId, payment.merchantSlug];
      const inReach = rules.filter(({ agentId }) => [null, payment.agentId].includes(agentId));
      const fits = (rule: ProtectRule, type: string) => rule.type === type && names.includes(rule.merchant);
      const expected =
        !inReach.some((rule) => fits(rule, 'deny')) &&
        (inReach.some((rule) => fits(rule, 'allow')) || !inReach.some(({ type }) => type === 'allow'));
      expect(protectDecision(rules, payment).allowed).toBe(expected);
    }),
    { numRuns: 1_000 },
  );
});

test('the decision depends neither on the order of the rules nor on another agent’s', () => {
  fc.assert(
    fc.property(someRules, aPayment, (rules, payment) => {
      const { allowed } = protectDecision(rules, payment);
      expect(protectDecision(rules.toReversed(), payment).allowed).toBe(allowed);
      const own = rules.filter(({ agentId }) => agentId === null || agentId === payment.agentId);
      expect(protectDecision(own, payment).allowed).toBe(allowed);
    }),
  );
});

test('a further deny rule never allows, and the rule that is named is one that fits', () => {
  fc.assert(
    fc.property(someRules, aRule, aPayment, (rules, more, payment) => {
      const before = protectDecision(rules, payment);
      const after = protectDecision([...rules, { ...more, type: 'deny' }], payment);
      if (!before.allowed) expect(after.allowed).toBe(false);
      const named = rules.find(({ id }) => id === before.ruleId);
      if (named !== undefined) expect(named.type).toBe(before.allowed ? 'allow' : 'deny');
    }),
  );
});

test('a refusal names the rule, or the merchant that no rule allows', () => {
  const payment = { agentId: 'ag_aaaaaaaa', host: 'Shop.Example', merchantId: null, merchantSlug: null };
  const allow = { id: 'ppr_aaaaaaaa', agentId: null, type: 'allow', merchant: 'other.example' } as const;
  const deny = { id: 'ppr_bbbbbbbb', agentId: null, type: 'deny', merchant: 'shop.example' } as const;
  expect(protectDecision([deny], payment)).toEqual({
    allowed: false,
    ruleId: 'ppr_bbbbbbbb',
    why: 'rule ppr_bbbbbbbb denies machine payments to shop.example',
  });
  expect(protectDecision([allow], payment)).toEqual({
    allowed: false,
    ruleId: null,
    why: 'only merchants with an allow rule may be paid, and shop.example has none',
  });
  expect(protectDecision([allow], { ...payment, host: null })).toMatchObject({
    ...{
      allowed: false,
      why: 'only merchants with an allow rule may be paid, and a merchant that is not known has none',
    },
  });
  expect(protectDecision([allow], { ...payment, merchantSlug: 'acme' })).toMatchObject({
    why: 'only merchants with an allow rule may be paid, and shop.example, acme has none',
  });
  expect(protectDecision([], payment)).toEqual({ allowed: true, ruleId: null });
});

test('neither a subdomain nor a parent domain is covered', () => {
  const rule = { id: 'ppr_aaaaaaaa', agentId: null, type: 'deny', merchant: 'shop.example' } as const;
  const at = (host: string) =>
    protectDecision([rule], { agentId: 'ag_aaaaaaaa', host, merchantId: null, merchantSlug: null }).allowed;
  expect(at('shop.example')).toBe(false);
  expect(at('api.shop.example')).toBe(true);
  expect(at('example')).toBe(true);
  expect(at('notshop.example')).toBe(true);
  expect(at('Shop.Example.:8443')).toBe(false);
});

test('an IPv6 address is covered on every port', () => {
  const rule = { id: 'ppr_aaaaaaaa', agentId: null, type: 'deny', merchant: '[2001:db8::1]' } as const;
  for (const host of ['[2001:DB8::1]', '[2001:db8::1]:8443'])
    expect(
      protectDecision([rule], { agentId: 'ag_aaaaaaaa', host, merchantId: null, merchantSlug: null }),
    ).toMatchObject({ allowed: false, ruleId: 'ppr_aaaaaaaa' });
});

const longestHost = [63, 63, 63, 61].map((length) => 'x'.repeat(length)).join('.');

test.each([
  ['shop.example', 'shop.example'],
  ['SHOP.Example', 'shop.example'],
  ['shop.example.', 'shop.example'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['BÜCHER.example', 'xn--bcher-kva.example'],
  ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
  ['ｓｈｏｐ.example', 'shop.example'],
  ['shop。example', 'shop.example'],
  ['127.0.0.1', '127.0.0.1'],
  ['0x7f.1', '127.0.0.1'],
  ['[2001:DB8::0:1]', '[2001:db8::1]'],
  ['localhost', 'localhost'],
  ['my_shop.example', 'my_shop.example'],
  [longestHost, longestHost],
])('the host %s is compared as %s', (given, host) => {
  expect(normalizedHost(given)).toBe(host);
});

test.each([
  '',
  '.',
  '..',
  'shop.example..',
  'shop..example',
  'shop.example:8443',
  'https://shop.example',
  'shop.example/pay',
  'shop.example?x=1',
  'user@shop.example',
  'shop example',
  'shop%2eexample',
  '*.example',
  '-shop.example',
  '[::1',
  '::1',
  '[1:2]',
  '[::1]:8443',
  'user@[::1]',
  `${longestHost}x`,
  'x'.repeat(64),
  `${'x.'.repeat(127)}example`,
])('%j is no host', (text) => {
  expect(normalizedHost(text)).toBeUndefined();
});

test.each([
  ['mer_aaaaaaaa', 'mer_aaaaaaaa'],
  ['MER_AAAAAAAA', 'mer_aaaaaaaa'],
  ['acme-books', 'acme-books'],
  ['Api.Shop.Example', 'api.shop.example'],
  ['bücher.example', 'xn--bcher-kva.example'],
  [`MER_${'A'.repeat(62)}`, `mer_${'a'.repeat(62)}`],
])('%s names the merchant %s', (given, merchant) => {
  expect(normalizedMerchant(given)).toBe(merchant);
});

test('what is neither id nor slug nor host names no merchant', () => {
  for (const text of ['https://shop.example', 'Acme Books', `ag_${'a'.repeat(62)}`])
    expect(normalizedMerchant(text)).toBeUndefined();
});

test('a normalised host stays as it is, and no text is an exception', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.domain(), fc.ipV4(), fc.ipV6()), (text) => {
      const host = normalizedMerchant(text);
      if (host !== undefined) expect(normalizedMerchant(host)).toBe(host);
    }),
  );
});
