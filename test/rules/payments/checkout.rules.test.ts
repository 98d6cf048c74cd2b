/** What a checkout may become, which offers may be paid, and when its process acts. @module */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  answeredStatus,
  type CheckoutStatus,
  checkoutFacts,
  checkoutResult,
  checkoutStatuses,
  evaluateOffer,
  isFinalCheckout,
  isGivenUp,
  moveCheckout,
  noOfferInWords,
  type OfferFacts,
  payGapMs,
  tokenLivesMs,
} from '../../../src/domains/payments/checkout/checkout.rules.ts';
import { day, minute } from '../../../src/kernel/instant.ts';
import { cents } from '../../../src/kernel/money.ts';

const commands = ['offer', 'handOver', 'pay', 'refuse', 'fail'] as const;
const refused = (outcomeCode: string | null) => checkoutResult({ status: 'refused', outcomeCode, outcomeReason: null });
const status = fc.constantFrom(...checkoutStatuses);

describe('moves', () => {
  test('a final checkout never moves', () => {
    fc.assert(
      fc.property(status, fc.constantFrom(...commands), (from, command) => {
        if (!isFinalCheckout(from)) return;
        expect(moveCheckout(from, command).outcome).not.toBe('moved');
      }),
    );
  });

  test('each status takes its own commands, each of which leads to one status', () => {
    const takes = (from: CheckoutStatus) =>
      Object.fromEntries(
        commands.flatMap((command) => {
          const move = moveCheckout(from, command);
          return move.outcome === 'refused' ? [] : [[command, [move.outcome, move.next].join(' ')]];
        }),
      );
    expect(Object.fromEntries(checkoutStatuses.map((from) => [from, takes(from)]))).toEqual({
      open: { offer: 'moved offered', handOver: 'moved handed_over', refuse: 'moved refused' },
      offered: { offer: 'already offered', pay: 'moved paying', refuse: 'moved refused' },
      paying: { pay: 'moved paying', refuse: 'moved refused', fail: 'moved failed' },
      paid: {},
      declined: {},
      refused: { refuse: 'already refused' },
      failed: { fail: 'already failed' },
      handed_over: { handOver: 'already handed_over' },
    });
    expect(moveCheckout('paid', 'handOver')).toEqual({
      ...{ outcome: 'refused', why: 'cannot hand over a checkout that is paid' },
    });
  });

  test('a checkout is paid only with an evaluated offer, and only `paying` can fail', () => {
    expect(moveCheckout('open', 'pay')).toEqual({ outcome: 'refused', why: 'cannot pay a checkout that is open' });
    expect(moveCheckout('open', 'fail').outcome).toBe('refused');
    expect(moveCheckout('offered', 'fail').outcome).toBe('refused');
    expect(moveCheckout('offered', 'pay')).toEqual({ outcome: 'moved', next: 'paying' });
    expect(moveCheckout('paying', 'pay')).toEqual({ outcome: 'moved', next: 'paying' });
  });

  test('a checkout is handed over only before there is an offer, and is over then', () => {
    for (const from of checkoutStatuses) {
      const { outcome } = moveCheckout(from, 'handOver');
      expect(outcome).toBe(from === 'open' ? 'moved' : from === 'handed_over' ? 'already' : 'refused');
    }
    expect(isFinalCheckout('handed_over')).toBe(true);
    expect(checkoutFacts({ status: 'handed_over', payAttempts: 0, nextAttemptAt: null }, new Date())).toEqual({
      final: true,
      reached: ['offerRead', 'paymentSent', 'outcomeKnown'],
      dueInMs: {},
    });
  });
});

describe('offers', () => {
  const merchant = { id: 'm', name: 'Sandbox Shop', mcc: '5734', country: 'DE' };
  const intent = { id: 'int_aaaaaaaa', expectedAmountCents: 1_000, expectedMerchant: 'Sandbox Shop' };
  const approved = { outcome: 'approved', rule: 'within_rules', reason: '' } as const;
  const evaluated = (amountCents: number, over: Partial<OfferFacts> = {}) =>
    evaluateOffer(
      { amountCents: cents(amountCents), merchant },
      { intent, tolerancePercent: null, decision: approved, ceilingCents: 1_000, ...over },
    );
  const declinedBy = (rule: string, reason: string) => ({
    decision: { outcome: 'declined', rule, reason } as const,
  });

  test('an offer of another category or country than a person was shown is refused', () => {
    const shown = { ...intent, expectedMcc: '5734', expectedCountry: 'DE' };
    expect(evaluated(1_000, { intent: shown })).toEqual({ ok: true, ceilingCents: 1_000 });
    for (const [code, other] of [
      ['offer_mcc', { expectedMcc: '7995' }],
      ['offer_country', { expectedCountry: 'FR' }],
    ] as const)
      expect(evaluated(1_000, { intent: { ...shown, ...other } })).toMatchObject({ ok: false, code });
  });

  test('an accepted offer is within the tolerance, and approved by the rules', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 3_000 }),
        fc.option(fc.integer({ min: 0, max: 100 })),
        fc.boolean(),
        (amountCents, tolerancePercent, isAllowed) => {
          const over = isAllowed ? {} : declinedBy('country', 'country DE is not among the allowed FR');
          const decision = evaluated(amountCents, { tolerancePercent, ...over });
          const maxCents = 1_000 + Math.floor((1_000 * (tolerancePercent ?? 0)) / 100);
          expect(decision.ok).toBe(isAllowed && amountCents <= maxCents);
        },
      ),
    );
  });

  test('dearer, another merchant: invalid state with figures, also where a rule forbids it as well', () => {
    expect(evaluated(1_001, declinedBy('max_transaction', ''))).toMatchObject({
      ok: false,
      code: 'offer_amount',
      reason: expect.stringContaining('expects 10.00, asked 10.01'),
    });
    expect(evaluated(1_000, { intent: { ...intent, expectedMerchant: 'Bakery' } })).toMatchObject({
      ok: false,
      code: 'offer_merchant',
    });
    expect(evaluated(1_001)).toMatchObject({
      reason: 'intent int_aaaaaaaa expects 10.00, asked 10.01: nothing was held',
    });
    const withoutPolicy = [
      ...['address_refused', 'unreachable', 'not_an_offer', 'no_challenge', 'other_method', 'payment_limit', 'not_eur'],
      ...[
        'other_origin',
        'offer_amount',
        'offer_merchant',
        'offer_mcc',
        'offer_country',
        'offer_window',
        'intent',
        'checkout_intent',
        'over_ceiling',
      ],
    ];
    for (const code of [...withoutPolicy, null])
      expect(refused(code)).toEqual({ kind: 'refused', code: 'invalid_state', why: 'nothing was held' });
  });

  test('no money and a forbidding rule: the code of the rule, its figures, and the error that belongs to it', () => {
    expect(evaluated(1_000, declinedBy('insufficient_funds', 'available 9.99, asked 10.00'))).toEqual({
      ok: false,
      code: 'insufficient_funds',
      reason: 'available 9.99, asked 10.00: fund the account',
    });
    expect(evaluated(1_000, declinedBy('daily_limit', 'daily limit 5.00, spent 0.00, asked 10.00'))).toEqual({
      ok: false,
      code: 'daily_limit',
      reason: 'forbidden by the rule daily_limit: daily limit 5.00, spent 0.00, asked 10.00; nothing was held',
    });
    expect(refused('insufficient_funds')).toMatchObject({ code: 'insufficient_funds' });
    for (const code of ['daily_limit', 'mcc_blocklist', 'agent_status', 'card_refused', 'risk'])
      expect(refused(code)).toMatchObject({ code: 'policy_denied' });
  });
});

describe('the answer', () => {
  const resultOf = (status: CheckoutStatus) =>
    checkoutResult({ status, outcomeCode: 'daily_limit', outcomeReason: 'over the daily limit' });

  test('a checkout that is not final has an unknown outcome; a refused one is an error', () => {
    expect(resultOf('handed_over').kind).toBe('unknown'); // Its machine payment has the outcome.
    for (const status of checkoutStatuses.filter((one) => one !== 'handed_over')) {
      expect(resultOf(status).kind).toBe(
        isFinalCheckout(status) ? (status === 'refused' ? 'refused' : 'ended') : 'unknown',
      );
    }
  });

  test('a machine payment that has an answer has one of three statuses', () => {
    const answered = (status: 'paid' | 'accepted' | 'declined' | 'unknown', chargeOutcome: 'approved' | null = null) =>
      answeredStatus({ status, chargeOutcome });
    for (const status of ['paid', 'accepted', 'declined'] as const) expect(answered(status)).toBe(status);
    expect(answered('accepted', 'approved')).toBe('paid');
    expect(() => answered('unknown')).toThrow('a payment that is unknown has no answer');
  });

  test('an address without an offer is refused in words', () => {
    expect(noOfferInWords).toEqual({
      address_refused: 'this address may not be dialled: only public https addresses are',
      unreachable: 'the shop did not answer; nothing was held',
      not_an_offer: 'this address offers no payment method Bursar speaks',
      not_eur: 'the shop does not ask for EUR, and only EUR can be paid',
      other_origin: 'the shop’s payment address is of another origin; nothing was held',
    });
  });

  test('only what was not paid has a reason', () => {
    expect(resultOf('paid')).toEqual({ kind: 'ended', status: 'paid', reason: null });
    expect(resultOf('declined')).toMatchObject({ reason: 'over the daily limit' });
    expect(resultOf('failed')).toMatchObject({ reason: 'over the daily limit' });
  });
});

describe('steps', () => {
  const now = new Date('2026-03-01T12:00:00.000Z');
  const inMs = (ms: number) => new Date(now.getTime() + ms);

  test('facts are reached in their order, a final checkout has all of them, and only the outcome of a payment is queried again', () => {
    const factsOf = (status: CheckoutStatus, payAttempts: number) =>
      checkoutFacts({ status, payAttempts, nextAttemptAt: inMs(5_000) }, now);
    expect(factsOf('open', 0)).toEqual({ final: false, reached: [], dueInMs: {} });
    expect(factsOf('offered', 0)).toEqual({ final: false, reached: ['offerRead'], dueInMs: {} });
    const paying = { final: false, reached: ['offerRead', 'paymentSent'], dueInMs: { askShopAgain: 5_000 } };
    expect(factsOf('paying', 1)).toEqual(paying);
    for (const one of checkoutStatuses.filter(isFinalCheckout)) {
      expect(factsOf(one, 0)).toEqual({
        final: true,
        reached: ['offerRead', 'paymentSent', 'outcomeKnown'],
        dueInMs: {},
      });
    }
    expect(factsOf('paying', 0).reached).toEqual(['offerRead']);
    expect(checkoutFacts({ status: 'paying', payAttempts: 2, nextAttemptAt: null }, now).dueInMs).toEqual({});
    expect(checkoutFacts({ status: 'paying', payAttempts: 2, nextAttemptAt: inMs(-1) }, now).dueInMs).toEqual({
      askShopAgain: -1,
    });
  });

  test('gaps grow to an hour and stay there', () => {
    const gaps = Array.from({ length: 20 }, (_, index) => payGapMs(index));
    expect(gaps).toEqual([...gaps].sort((a, b) => a - b));
    expect([gaps[0], gaps.at(-1)]).toEqual([1_000, 60 * minute]);
    const seconds = [1, 2, 5, 15, 60, 300, 900, 3_600, 3_600];
    expect(seconds.map((_, index) => payGapMs(index + 1) / 1_000)).toEqual(seconds);
  });

  test('silence is believed after the token and seven days', () => {
    const payingSince = now;
    expect(isGivenUp({ payingSince, now: inMs(7 * day) })).toBe(false);
    expect(tokenLivesMs).toBe(15 * minute);
    expect(isGivenUp({ payingSince, now: inMs(7 * day + 15 * minute - 1) })).toBe(false);
    expect(isGivenUp({ payingSince, now: inMs(7 * day + 15 * minute) })).toBe(true);
  });
});
