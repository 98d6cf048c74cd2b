/** The spending decision: its order, its edges and what can never happen whatever the facts are. @module */

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { noControls } from '../../../src/domains/cards/card-controls/card-control.rules.ts';
import {
  type CardControls,
  evaluateSpending,
  type Policy,
  policyCheckOf,
  type SpendingFacts,
} from '../../../src/domains/spending/policies/policy.rules.ts';
import { harmlessCard } from '../../support/factories/card-facts.ts';
import { facts as anyFacts, harmless } from './spending.arbitraries.ts';

const with_ = (policy: Partial<Policy>, more: Partial<SpendingFacts> = {}): SpendingFacts => ({
  ...harmless,
  ...more,
  policy: { ...(harmless.policy as Policy), ...policy },
});
const asking = (more: Partial<SpendingFacts['request']>) => ({ request: { ...harmless.request, ...more } });
const counting = (more: Partial<SpendingFacts['counters']>) => ({ counters: { ...harmless.counters, ...more } });
const card = harmlessCard;
const controlled = (controls: Partial<CardControls>, more: Partial<SpendingFacts> = {}): SpendingFacts => ({
  ...harmless,
  ...more,
  card: { ...card, controls: { ...noControls, ...controls } },
});
const intent = {
  id: 'int_aaaaaaaa',
  expectedAmountCents: 1200,
  expectedMerchant: 'sandbox-shop',
  status: 'approved',
  autoApproved: true,
};
const rank = { allow: 0, needs_approval: 1, deny: 2 } as const;

describe('whatever the facts are', () => {
  test('every decision has a rule and a reason, and its last trace entry is the rule that refused', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const decision = evaluateSpending(facts);
        expect(decision.reason).not.toBe('');
        expect(decision.rule).toMatch(/^[a-z_]+$/);
        if (decision.outcome === 'deny')
          expect(decision.trace.at(-1)).toMatchObject({ rule: decision.rule, outcome: 'deny' });
        expect(decision.trace.filter(({ outcome }) => outcome === 'deny')).toHaveLength(
          decision.outcome === 'deny' ? 1 : 0,
        );
        if (decision.outcome === 'needs_approval') {
          expect(decision.trace.find(({ outcome }) => outcome !== 'pass')?.rule).toBe(decision.rule);
        }
      }),
      { numRuns: 1000 },
    );
  });

  test('a lower amount never has a stricter decision', () => {
    fc.assert(
      fc.property(anyFacts, fc.nat(500), (facts, less) => {
        const smaller = {
          ...facts,
          request: { ...facts.request, amountCents: Math.max(0, facts.request.amountCents - less) },
        };
        expect(rank[evaluateSpending(smaller).outcome]).toBeLessThanOrEqual(rank[evaluateSpending(facts).outcome]);
      }),
      { numRuns: 1000 },
    );
  });

  test('a frozen or closed agent or card, or an agent without a policy, spends nothing', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const isAble = facts.agent.status === 'active' && facts.policy !== null;
        const cardIsAble = facts.card === undefined || (facts.card.status === 'active' && !facts.card.isProvisioning);
        if (!isAble || !cardIsAble) expect(evaluateSpending(facts).outcome).toBe('deny');
      }),
    );
  });

  test('a merchant that is both blocked and allowed is refused', () => {
    fc.assert(
      fc.property(anyFacts, fc.constantFrom('Sandbox Shop', 'shop.example.com', 'Café'), (facts, name) => {
        if (facts.policy === null) return;
        const policy = { ...facts.policy, merchantAllowlist: [name], merchantBlocklist: [name] };
        const decision = evaluateSpending({ ...facts, policy, request: { ...facts.request, merchant: { name } } });
        expect(decision.outcome).toBe('deny');
      }),
    );
  });

  test('the same facts give the same decision, and simulate shows exactly that decision', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const [one, two] = [evaluateSpending(facts), evaluateSpending(structuredClone(facts))];
        expect(two).toEqual(one);
        const shown = policyCheckOf(two);
        expect(shown.allowed).toBe(one.outcome !== 'deny');
        expect(shown.requiresApproval).toBe(one.outcome === 'needs_approval');
        expect(shown.reason).toBe(one.outcome === 'allow' ? null : one.reason);
      }),
    );
  });

  test('what is allowed has no reason in the short form, and what a person is asked about is allowed', () => {
    const allowed = evaluateSpending(harmless);
    expect(allowed).toMatchObject({ outcome: 'allow', rule: 'within_rules', reason: '12.00 is within all rules' });
    expect(policyCheckOf(allowed)).toEqual({ allowed: true, requiresApproval: false, reason: null });
    expect(policyCheckOf(evaluateSpending(with_({ autoApproveLimitCents: 0 })))).toEqual({
      ...{ allowed: true, requiresApproval: true },
      reason: 'this agent may spend nothing without asking: a person has to approve 12.00 EUR',
    });
    expect(policyCheckOf(evaluateSpending({ ...harmless, policy: null }))).toEqual({
      ...{ allowed: false, requiresApproval: false },
      reason: 'the agent has no policy, so nothing may be spent',
    });
  });

  test('rules are evaluated in their published order', () => {
    const order = [
      ...[
        'agent_status',
        'card_status',
        'card_expiry',
        'no_policy',
        'policy_expiry',
        'merchant_blocklist',
        'merchant_allowlist',
      ],
      ...['first_merchant', 'mcc_blocklist', 'mcc_allowlist', 'country'],
      ...['card_merchant_blocklist', 'card_merchant_allowlist', 'card_mcc_blocklist', 'card_mcc_allowlist'],
      ...['card_country_blocklist', 'card_country_allowlist', 'active_hours', 'cooldown', 'single_use'],
      ...['usage_count', 'max_transaction', 'card_max_transaction', 'card_daily_limit', 'card_monthly_limit'],
      ...['daily_limit', 'monthly_limit', 'require_intent', 'intent', 'attestation', 'auto_approve_limit', 'risk'],
    ];
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const places = evaluateSpending(facts).trace.map(({ rule }) => order.indexOf(rule));
        expect(places).not.toContain(-1);
        expect(places).toEqual([...places].sort((a, b) => a - b));
      }),
      { numRuns: 1000 },
    );
  });

  test('an account verification uses no limit up', () => {
    const decision = evaluateSpending(
      with_(
        { maxUsageCount: 1, cooldownMinutes: 60, dailyLimitCents: 0, requireIntent: true, autoApproveLimitCents: 0 },
        {
          ...asking({ amountCents: 0, kind: 'verification' }),
          ...counting({ usageCount: 3, spentTodayCents: 9, lastPaymentAt: harmless.at }),
        },
      ),
    );
    expect(decision.outcome).toBe('allow');
  });
});

test.each([
  [12, 2026, '2026-12-31T23:59:59.999Z', '2027-01-01T00:00:00.000Z'],
  [2, 2027, '2027-02-28T23:59:59.999Z', '2027-03-01T00:00:00.000Z'],
  [2, 2028, '2028-02-29T23:59:59.999Z', '2028-03-01T00:00:00.000Z'],
])('a card of %p/%p is good to the end of the month', (expiryMonth, expiryYear, last, first) => {
  const decisionAt = (at: string) =>
    evaluateSpending({ ...harmless, at: new Date(at), card: { ...card, expiryMonth, expiryYear } });
  expect(decisionAt(last)).toMatchObject({ outcome: 'allow' });
  expect(decisionAt(first)).toMatchObject({ outcome: 'deny', rule: 'card_expiry' });
});

const refusals: [rule: string, reason: RegExp, facts: SpendingFacts][] = [
  ['agent_status', /the agent is frozen/, { ...harmless, agent: { status: 'frozen' } }],
  ['agent_status', /the agent is closed/, { ...harmless, agent: { status: 'closed' } }],
  ['card_status', /the card is frozen/, { ...harmless, card: { ...card, status: 'frozen' } }],
  ['card_status', /not issued yet/, { ...harmless, card: { ...card, isProvisioning: true } }],
  [
    'card_expiry',
    /the card expired at 2026-05-01T00:00:00.000Z; rotating it issues one with a new date/,
    { ...harmless, card: { ...card, expiryMonth: 4, expiryYear: 2026 } },
  ],
  ['no_policy', /no policy/, { ...harmless, policy: null }],
  ['policy_expiry', /expired at 2026-05-01T01:00/, with_({ expiresAfterMinutes: 60 })],
  [
    'merchant_blocklist',
    /Sandbox Shop is blocked by the entry SANDBOX SHOP GmbH/,
    with_({ merchantBlocklist: ['SANDBOX SHOP GmbH'] }),
  ],
  ['merchant_allowlist', /Sandbox Shop is none of the 1 allowed/, with_({ merchantAllowlist: ['Sandbox Shops'] })],
  ['merchant_allowlist', /none was named/, with_({ merchantAllowlist: ['a'] }, asking({ merchant: undefined }))],
  [
    'first_merchant',
    /locked to its first merchant Other/,
    with_({ lockToFirstMerchant: true }, counting({ firstMerchant: { name: 'Other' } })),
  ],
  ['mcc_blocklist', /5734 is blocked/, with_({ blockedMccs: ['5734'], allowedMccs: ['5734'] })],
  [
    'mcc_allowlist',
    /5734 is not among the allowed lodging, 5942/,
    with_({ allowedMccs: ['5942'], mccCategories: ['lodging'] }),
  ],
  ['mcc_allowlist', /none was named/, with_({ allowedMccs: ['5942'] }, asking({ mcc: null }))],
  ['country', /DE is not among the allowed FR/, with_({ allowedCountries: ['FR'] })],
  [
    'card_merchant_blocklist',
    /Sandbox Shop is blocked by the entry sandbox-shop of this card/,
    controlled({ blockedMerchants: ['sandbox-shop'], allowedMerchants: ['sandbox-shop'] }),
  ],
  [
    'card_merchant_allowlist',
    /Sandbox Shop is none of the 1 allowed merchants of this card/,
    controlled({ allowedMerchants: ['Sandbox Shops'] }),
  ],
  [
    'card_merchant_allowlist',
    /the controls of this card restrict the merchant, and none was named/,
    controlled({ allowedMerchants: ['a'] }, asking({ merchant: undefined })),
  ],
  ['card_mcc_blocklist', /5734 is blocked by the controls of this card/, controlled({ blockedMccs: ['5734'] })],
  ['card_mcc_allowlist', /5734 is not among the allowed 5942 of this card/, controlled({ allowedMccs: ['5942'] })],
  [
    'card_mcc_allowlist',
    /restrict the merchant category, and none was named/,
    controlled({ allowedMccs: ['5942'] }, asking({ mcc: null })),
  ],
  ['card_country_blocklist', /DE is blocked by the controls of this card/, controlled({ blockedCountries: ['DE'] })],
  [
    'card_country_allowlist',
    /DE is not among the allowed FR, AT of this card/,
    controlled({ allowedCountries: ['FR', 'AT'] }),
  ],
  [
    'card_country_allowlist',
    /restrict the merchant country, and none was named/,
    controlled({ allowedCountries: ['DE'] }, asking({ country: null })),
  ],
  ['active_hours', /13:00 to 18:00 UTC, it is 12:00/, with_({ activeHoursStart: 13, activeHoursEnd: 18 })],
  [
    'cooldown',
    /30 min must lie between payments, 29 min are left/,
    with_({ cooldownMinutes: 30 }, counting({ lastPaymentAt: new Date('2026-05-04T11:59:30.000Z') })),
  ],
  ['single_use', /has been used/, { ...harmless, card: { ...card, usage: 'single' }, ...counting({ usageCount: 1 }) }],
  ['usage_count', /usage count 2, used 2/, with_({ maxUsageCount: 2 }, counting({ usageCount: 2 }))],
  ['max_transaction', /transaction limit 11\.99, asked 12\.00/, with_({ maxTransactionCents: 1199 })],
  [
    'card_max_transaction',
    /card transaction limit 10\.00, asked 12\.00/,
    { ...harmless, card: { ...card, limits: { ...card.limits, maxTransactionCents: 1000 } } },
  ],
  [
    'card_daily_limit',
    /card daily limit 20\.00, spent 8\.01, asked 12\.00/,
    {
      ...harmless,
      card: { ...card, limits: { ...card.limits, dailyLimitCents: 2000 } },
      ...counting({ cardSpentTodayCents: 801 }),
    },
  ],
  [
    'card_monthly_limit',
    /card monthly limit 20\.00, spent 9\.00/,
    {
      ...harmless,
      card: { ...card, limits: { ...card.limits, monthlyLimitCents: 2000 } },
      ...counting({ cardSpentThisMonthCents: 900 }),
    },
  ],
  [
    'daily_limit',
    /^daily limit 100\.00, spent 92\.50, asked 12\.00$/,
    with_({ dailyLimitCents: 10_000 }, counting({ spentTodayCents: 9250 })),
  ],
  [
    'monthly_limit',
    /^monthly limit 100\.00, spent 92\.50, asked 12\.00$/,
    with_({ monthlyLimitCents: 10_000 }, counting({ spentThisMonthCents: 9250 })),
  ],
  ['require_intent', /no approved intent/, with_({ requireIntent: true })],
  ['intent', /is pending_approval/, { ...harmless, intent: { ...intent, status: 'pending_approval' } }],
  ['intent', /expects 11\.99, asked 12\.00/, { ...harmless, intent: { ...intent, expectedAmountCents: 1199 } }],
  [
    'intent',
    /expects Other Shop, asked by Sandbox Shop/,
    { ...harmless, intent: { ...intent, expectedMerchant: 'Other Shop' } },
  ],
  ['attestation', /no older than 15 min, there is none/, with_({ requireAttestation: true }, { intent })],
  ['attestation', /there is none/, with_({ requireAttestation: true }, { intent, phase: 'transfer' })],
  [
    'attestation',
    /no older than 10 min, the last was at 2026-05-04T11:49/,
    with_(
      { requireAttestation: true, attestationWindowMinutes: 10 },
      { intent: { ...intent, attestedAt: new Date('2026-05-04T11:49:59.000Z') } },
    ),
  ],
  ['risk', /too risky: velocity/, { ...harmless, risk: { outcome: 'deny', signals: ['velocity'] } }],
];

test.each(refusals)('%s refuses: %s', (rule, reason, facts) => {
  const decision = evaluateSpending(facts);
  expect(decision).toMatchObject({ outcome: 'deny', rule });
  expect(decision.reason).toMatch(reason);
});

test('a refusal beats a wish for approval that came before it', () => {
  const facts = with_({ autoApproveLimitCents: 0 }, { risk: { outcome: 'deny', signals: [] } });
  expect(evaluateSpending(facts)).toMatchObject({ outcome: 'deny', rule: 'risk' });
});

describe('edges', () => {
  const outcome = (facts: SpendingFacts) => evaluateSpending(facts).outcome;

  test('exactly the limit is allowed', () => {
    expect(outcome(with_({ maxTransactionCents: 1200, autoApproveLimitCents: 1200 }))).toBe('allow');
    expect(outcome(with_({ dailyLimitCents: 1300 }, counting({ spentTodayCents: 100 })))).toBe('allow');
    expect(
      outcome(with_({ cooldownMinutes: 30 }, counting({ lastPaymentAt: new Date('2026-05-04T11:30:00.000Z') }))),
    ).toBe('allow');
  });

  test('a policy is over at its expiry, not after it', () => {
    const updatedAt = new Date('2026-05-04T11:00:00.000Z');
    expect(outcome(with_({ expiresAfterMinutes: 60, updatedAt }))).toBe('deny');
    expect(outcome(with_({ expiresAfterMinutes: 61, updatedAt }))).toBe('allow');
  });

  test('auto-approve: null needs no approval, zero always needs one, and an amount above the limit needs one', () => {
    expect(outcome(with_({ autoApproveLimitCents: null }))).toBe('allow');
    expect(outcome(with_({ autoApproveLimitCents: 0 }, asking({ amountCents: 0 })))).toBe('needs_approval');
    expect(outcome(with_({ autoApproveLimitCents: 1199 }))).toBe('needs_approval');
  });

  test("a person's approval answers the limit and the review; the policy's own does not", () => {
    const facts = with_({ autoApproveLimitCents: 1199 }, { risk: { outcome: 'review', signals: [] } });
    expect(outcome({ ...facts, intent: { ...intent, autoApproved: false } })).toBe('allow');
    expect(outcome({ ...facts, intent })).toBe('needs_approval');
    expect(outcome({ ...facts, intent: { ...intent, autoApproved: false }, phase: 'declare' })).toBe('needs_approval');
  });

  test('active hours may wrap midnight; equal hours mean the whole day', () => {
    fc.assert(
      fc.property(fc.nat(23), fc.nat(23), fc.nat(23), fc.nat(59), (start, end, hour, minute) => {
        const at = new Date(Date.UTC(2026, 4, 4, hour, minute));
        const hours = new Set<number>();
        for (let h = start; h !== end || hours.size === 0; h = (h + 1) % 24) {
          if (hours.has(h)) break;
          hours.add(h);
        }
        const isInside = start === end || hours.has(hour);
        expect(outcome(with_({ activeHoursStart: start, activeHoursEnd: end }, { at }))).toBe(
          isInside ? 'allow' : 'deny',
        );
      }),
    );
    expect(outcome(with_({ activeHoursStart: 12 }))).toBe('allow');
    expect(outcome(with_({ activeHoursEnd: 12 }))).toBe('deny');
    // It is 12:00: over midnight the end is as exclusive as within a day.
    expect(outcome(with_({ activeHoursStart: 18, activeHoursEnd: 12 }))).toBe('deny');
    expect(outcome(with_({ activeHoursStart: 18, activeHoursEnd: 13 }))).toBe('allow');
  });

  test('a recurring charge needs no cooldown', () => {
    const facts = with_(
      { cooldownMinutes: 30 },
      { ...counting({ lastPaymentAt: harmless.at }), ...asking({ recurring: true }) },
    );
    expect(outcome(facts)).toBe('allow');
  });

  test('a declaration may omit facts that a charge needs', () => {
    const open = { ...asking({ merchant: undefined, mcc: null, country: null }), phase: 'declare' as const };
    const restricted = {
      merchantAllowlist: ['a'],
      allowedMccs: ['5942'],
      allowedCountries: ['FR'],
      requireIntent: true,
    };
    expect(outcome(with_(restricted, open))).toBe('allow');
    expect(outcome(with_(restricted, { ...open, phase: 'charge' }))).toBe('deny');
  });
});
