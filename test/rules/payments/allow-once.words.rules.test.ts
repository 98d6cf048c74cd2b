/** What an owner is told who cannot allow a declined charge, and what is kept of one that can be allowed. @module */
import { describe, expect, test } from '@jest/globals';
import {
  couldBeAllowed,
  type DecidedCharge,
  decisionOnAllowed,
  declinedChargeOf,
  purposeOf,
  requestAgain,
  whyNotAllowed,
} from '../../../src/domains/payments/network/allow-once.rules.ts';
import { type DecisionFacts, noPriorMessages } from '../../../src/domains/payments/network/authorization.rules.ts';
import { noSpending } from '../../../src/domains/spending/policies/policy.rules.ts';
import { defaultTerms } from '../../../src/domains/spending/policies/preset.rules.ts';
import { hour, later } from '../../../src/kernel/instant.ts';
import { cents } from '../../../src/kernel/money.ts';

const at = new Date('2026-03-02T12:00:00.000Z');
const refusal = { rule: 'daily_limit', outcome: 'deny' as const, figures: { limitCents: 100 } };
const decision = { outcome: 'declined' as const, rule: 'daily_limit', reason: 'the daily limit', trace: [refusal], at };
const charge: DecidedCharge = {
  ...{ transactionId: 'tx_a', decision, isDeclined: true, onlyIntentId: null, isVerification: false },
};

describe('an owner reads', () => {
  const none = 'transaction tx_a was not declined, so there is nothing to allow';
  test.each<[why: string, over: Partial<DecidedCharge>, hours: number]>([
    [none, { decision: null }, 0],
    [none, { decision: { ...decision, outcome: 'approved' } }, 0],
    [none, { decision: { ...decision, outcome: 'partial' } }, 0],
    [none, { isDeclined: false }, 0],
    [
      'transaction tx_a was declined 8 d 0 h ago, and a charge is allowed within 7 d 0 h; wait for the merchant to ask again',
      {},
      192,
    ],
    ['an account check asks for no money, and is not allowed once', { isVerification: true }, 0],
    [
      'the charge was made for intent int_a, which alone could pay for it; declare the payment again',
      { onlyIntentId: 'int_a' },
      0,
    ],
  ])('%s', (why, over, hours) => {
    expect(whyNotAllowed({ ...charge, ...over }, later(at, hours * hour))).toEqual({ why });
  });

  test('the reason of a rule that no permission lifts, with what it compared', () => {
    const frozen = { ...decision, rule: 'agent_status', reason: 'the agent is frozen' };
    const why = { why: 'no permission helps: the agent is frozen', by: frozen };
    expect(whyNotAllowed({ ...charge, decision: frozen }, at)).toEqual(why);
  });
});

test('a charge that a rule of the owner refused may be allowed, and one that risk refused only where it asked for a person', () => {
  for (const asked of [at, later(at, 168 * hour)]) expect(whyNotAllowed(charge, asked)).toBeUndefined();
  const risky = (...outcomes: readonly ('deny' | 'needs_approval')[]) => ({
    ...{ ...decision, rule: 'risk', trace: outcomes.map((outcome) => ({ rule: 'risk', outcome, figures: {} })) },
  });
  expect(whyNotAllowed({ ...charge, decision: risky('needs_approval') }, at)).toBeUndefined();
  expect(whyNotAllowed({ ...charge, decision: risky('deny', 'needs_approval') }, at)).toBeUndefined();
  expect(whyNotAllowed({ ...charge, decision: risky('deny') }, at)).toBeDefined();
  expect(whyNotAllowed({ ...charge, decision: risky() }, at)).toBeDefined();
  const other = { ...risky(), trace: [{ rule: 'country', outcome: 'needs_approval' as const, figures: {} }] };
  expect(whyNotAllowed({ ...charge, decision: other }, at)).toBeDefined();
});

const merchant = { id: 'm_1', name: 'Sandbox Shop', mcc: '5734', country: 'DE' };

test('of a declined charge the merchant, the rule and its figures are kept, and it is asked for again as it was', () => {
  const declined = declinedChargeOf('tx_a', { merchant }, decision);
  expect(declined).toStrictEqual({
    ...{ transactionId: 'tx_a', merchant, rule: 'daily_limit', figures: { limitCents: 100 } },
  });
  expect(requestAgain(declined, { amountCents: 500, recurring: true })).toStrictEqual({
    ...{ amountCents: 500, merchant: { id: 'm_1', name: 'Sandbox Shop' }, mcc: '5734', country: 'DE' },
    ...{ kind: 'purchase', recurring: true },
  });
  expect(purposeOf(1_250, declined)).toBe(
    'a charge of 12.50 EUR by Sandbox Shop that was declined (daily_limit) and is allowed once',
  );
});

test('the same charge is decided as things are now, with the permission and the intents that there are', () => {
  const terms = { ...defaultTerms, dailyLimitCents: 100 };
  const policy = { id: 'po_aaaaaaaa', version: 1, name: 'rules', updatedAt: at, ...terms };
  const declined = declinedChargeOf('tx_a', { merchant }, decision);
  const facts: DecisionFacts = {
    spending: {
      ...{ at, policy, agent: { status: 'active' }, counters: noSpending, phase: 'charge' },
      ...{
        risk: { outcome: 'allow', signals: [] },
        request: requestAgain(declined, { amountCents: 500, recurring: false }),
      },
    },
    ...{ candidates: [], token: null, availableCents: 1_000, partialSupported: false, before: noPriorMessages },
  };
  const allowed = decisionOnAllowed(facts, declined, { amountCents: cents(500), attestedAt: null });
  expect(allowed).toMatchObject({ outcome: 'approved', rule: 'allowed_once', candidate: { id: 'int_needed' } });
  const less = decisionOnAllowed(facts, declined, { amountCents: cents(499), attestedAt: null });
  expect(less).toMatchObject({ outcome: 'declined' });
  const own = { id: 'int_own', expectedAmountCents: 500, expectedMerchant: 'Sandbox Shop', isAutoApproved: false };
  const unlimited = { ...facts.spending, policy: { ...policy, dailyLimitCents: null } };
  const open = { ...facts, spending: unlimited, candidates: [{ ...own, attestedAt: null }] };
  expect(decisionOnAllowed(open, declined, { amountCents: cents(500), attestedAt: null })).toMatchObject({
    ...{ outcome: 'approved', candidate: { id: 'int_own' } },
  });
  const asking = { ...facts.spending, policy: { ...policy, autoApproveLimitCents: 0 } };
  expect(
    decisionOnAllowed({ ...facts, spending: asking }, declined, { amountCents: cents(500), attestedAt: null }),
  ).toMatchObject({ outcome: 'approved', rule: 'allowed_once' });
  const attesting = { ...facts.spending, policy: { ...policy, requireAttestation: true } };
  const attested = (attestedAt: Date | null) =>
    decisionOnAllowed({ ...facts, spending: attesting }, declined, { amountCents: cents(500), attestedAt }).outcome;
  expect([attested(at), attested(null)]).toEqual(['approved', 'declined']);
});

describe('whether all that a charge lacked can be lifted once', () => {
  const could = (...fields: readonly string[]) =>
    couldBeAllowed({ outcome: 'declined', remedy: fields.map((field) => ({ field })), onlyIntentId: null });

  test.each([
    ...['policy.dailyLimitCents', 'policy.requireIntent', 'card.limits', 'card.controls'],
    ...['intent.expectedAmountCents', 'intent.approvedBy'],
  ])('%s can', (field) => {
    expect(could(field)).toBe(true);
  });

  test.each([
    ...['policy.expiresAfterMinutes', 'card.status', 'agent.status', 'intent.attestedAt', 'intent.approvedByX'],
    ...['x.policy.dailyLimitCents', 'wallet.availableCents', 'intent.expectedAmountCents.x'],
  ])('%s cannot', (field) => {
    expect(could(field)).toBe(false);
  });

  test('every lack has to be one, and there has to be one', () => {
    expect(could('policy.dailyLimitCents', 'card.limits')).toBe(true);
    expect(could('policy.dailyLimitCents', 'agent.status')).toBe(false);
    expect(could()).toBe(false);
    expect(couldBeAllowed({ outcome: 'declined', remedy: null, onlyIntentId: null })).toBe(false);
    const remedy = [{ field: 'policy.dailyLimitCents' }];
    expect(couldBeAllowed({ outcome: 'approved', remedy, onlyIntentId: null })).toBe(false);
    expect(couldBeAllowed({ outcome: 'declined', remedy, onlyIntentId: 'int_a' })).toBe(false);
  });
});
