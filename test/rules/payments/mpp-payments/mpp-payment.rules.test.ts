/** What a machine payment may become, what settles it, and when its process acts. @module */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  knownInWords,
  nextInWords,
  noChallengeInWords,
  payResult,
  statusShown,
  unpayableInWords,
} from '../../../../src/domains/payments/mpp-payments/mpp-payment.outcome.rules.ts';
import {
  commandAfterAnswer,
  credentialLivesMs,
  givenUpAt,
  isFinalMppPayment,
  type MppPaymentProgress,
  type MppPaymentStatus,
  merchantSays,
  moveMppPayment,
  mppPaymentCommands,
  mppPaymentDueAt,
  mppPaymentFacts,
  mppPaymentStatuses,
  sendWithinMs,
  settlementOf,
  takesReceipt,
} from '../../../../src/domains/payments/mpp-payments/mpp-payment.rules.ts';
import {
  presentationTimeoutMs,
  unpayableReasons,
} from '../../../../src/domains/payments/mpp-payments/paid-resource.port.ts';
import { day, second } from '../../../../src/kernel/instant.ts';

const status = fc.constantFrom(...mppPaymentStatuses);
const command = fc.constantFrom(...mppPaymentCommands);
const charge = fc.constantFrom('approved' as const, 'declined' as const, null);
const now = { business: new Date('2026-03-01T12:00:00Z'), real: new Date('2026-02-01T12:00:00Z') };

const aPayment = (over: Partial<MppPaymentProgress> = {}): MppPaymentProgress => ({
  status: 'requested',
  chargeOutcome: null,
  sendUntil: null,
  sentAt: null,
  presentedAt: null,
  ...over,
});

describe('moves', () => {
  test('the same cause never moves a payment twice', () => {
    fc.assert(
      fc.property(status, command, (from, one) => {
        expect(moveMppPayment(from, one, true)).toEqual({ outcome: 'already', next: from });
      }),
    );
  });

  test('a credential is presented once: no way leads back to a payment that may be presented', () => {
    const before: readonly MppPaymentStatus[] = ['requested', 'challenged', 'allowed', 'minted'];
    fc.assert(
      fc.property(status, command, (from, one) => {
        if (before.includes(from)) return;
        const move = moveMppPayment(from, one, false);
        if (move.outcome === 'moved') expect([...before, 'presenting']).not.toContain(move.next);
      }),
    );
    expect(moveMppPayment('minted', 'present', false)).toEqual({ outcome: 'moved', next: 'presenting' });
  });

  test('before the credential has left nothing is unknown, and nothing is settled by silence', () => {
    for (const from of ['requested', 'challenged', 'allowed', 'minted'] as const) {
      for (const one of ['lose', 'giveUp', 'accept', 'decline'] as const)
        expect(moveMppPayment(from, one, false).outcome).toBe('refused');
    }
    expect(moveMppPayment('presenting', 'giveUp', false)).toEqual({
      outcome: 'refused',
      why: 'cannot settle as not paid a payment that is presenting',
    });
  });

  test('a step that ends late refuses no payment that may be under way; the step that sends withholds it', () => {
    for (const from of ['presenting', 'accepted', 'unknown'] as const)
      expect(moveMppPayment(from, 'refuse', false).outcome).toBe('refused');
    expect(moveMppPayment('presenting', 'withhold', false)).toEqual({ outcome: 'moved', next: 'refused' });
    for (const from of mppPaymentStatuses.filter((one) => one !== 'presenting'))
      expect(moveMppPayment(from, 'withhold', false).outcome).toBe('refused');
  });

  test('a paid payment stays paid, whatever comes', () => {
    fc.assert(fc.property(command, (one) => expect(moveMppPayment('paid', one, false).outcome).toBe('refused')));
  });
});

describe('the charge', () => {
  test('an approved charge always ends as paid, a declined one never does', () => {
    fc.assert(
      fc.property(fc.constantFrom('delivered' as const, 'refused' as const, 'nothing' as const), (says) => {
        expect(commandAfterAnswer('approved', says)).toBe('pay');
        expect(commandAfterAnswer('declined', says)).toBe('decline');
      }),
    );
    expect(['delivered', 'refused', 'nothing'].map((says) => commandAfterAnswer(null, says as 'nothing'))).toEqual([
      'accept',
      'decline',
      'lose',
    ]);
  });

  test('settles what has no answer of the merchant any more, and opens a refused payment again', () => {
    expect(settlementOf({ status: 'presenting', chargeOutcome: 'approved' })).toBeUndefined();
    for (const from of ['accepted', 'unknown', 'declined', 'refused', 'not_paid'] as const) {
      expect(settlementOf({ status: from, chargeOutcome: 'approved' })).toBe('pay');
      expect(isFinalMppPayment({ status: from, chargeOutcome: 'approved' })).toBe(false);
      expect(statusShown({ status: from, chargeOutcome: 'approved' })).toBe('paid');
    }
    expect(settlementOf({ status: 'unknown', chargeOutcome: 'declined' })).toBe('decline');
    expect(settlementOf({ status: 'not_paid', chargeOutcome: 'declined' })).toBeUndefined();
  });

  test('the settling command is one that the payment takes', () => {
    fc.assert(
      fc.property(status, charge, (from, chargeOutcome) => {
        const one = settlementOf({ status: from, chargeOutcome });
        if (one === undefined) return;
        const move = moveMppPayment(from, one, false);
        expect(move.outcome).toBe('moved');
        if (move.outcome === 'moved') expect(isFinalMppPayment({ status: move.next, chargeOutcome })).toBe(true);
      }),
    );
  });
});

test.each([
  [200, 'delivered'],
  [204, 'delivered'],
  [302, 'nothing'],
  [400, 'refused'],
  [402, 'refused'],
  [403, 'refused'],
  [408, 'nothing'],
  [425, 'nothing'],
  [429, 'nothing'],
  [500, 'nothing'],
  [503, 'nothing'],
] as const)('a merchant that answers %i says %s', (httpStatus, says) => {
  expect(merchantSays(httpStatus, false)).toBe(says);
  expect(merchantSays(httpStatus, true)).toBe(says === 'delivered' ? 'receipted' : says);
});

test('a receipt settles exactly a payment that waits for its charge; the charge decides where it is known', () => {
  fc.assert(
    fc.property(status, charge, (from, chargeOutcome) => {
      const takes = takesReceipt({ status: from, chargeOutcome });
      expect(takes).toBe(chargeOutcome === null && ['presenting', 'accepted', 'unknown'].includes(from));
      if (takes) expect(moveMppPayment(from, 'pay', false).outcome).toBe('moved');
      const command = { approved: 'pay', declined: 'decline' } as const;
      expect(commandAfterAnswer(chargeOutcome, 'receipted')).toBe(
        chargeOutcome === null ? 'pay' : command[chargeOutcome],
      );
    }),
  );
});

describe('facts and due times', () => {
  test('a fact that is reached stays reached on every way', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 12 }), (commands) => {
        let from: MppPaymentStatus = 'requested';
        let reached = 0;
        for (const one of commands) {
          const move = moveMppPayment(from, one, false);
          if (move.outcome === 'moved') from = move.next;
          const facts = mppPaymentFacts(aPayment({ status: from }), now);
          expect(facts.reached.length).toBeGreaterThanOrEqual(reached);
          expect(facts.reached.includes('settled')).toBe(facts.final);
          reached = facts.reached.length;
        }
      }),
    );
  });

  test('a payment that waits for no one has a due time, and a final one has none', () => {
    expect(mppPaymentFacts(aPayment({ status: 'presenting', sendUntil: now.real }), now).dueInMs).toEqual({
      answer: presentationTimeoutMs + second,
    });
    const sentAt = new Date(now.real.getTime() - 1_000);
    const sendUntil = new Date(now.real.getTime() + sendWithinMs);
    expect(mppPaymentFacts(aPayment({ status: 'presenting', sendUntil, sentAt }), now).dueInMs).toEqual({
      answer: presentationTimeoutMs,
    });
    for (const one of ['accepted', 'unknown'] as const) {
      const facts = mppPaymentFacts(aPayment({ status: one, presentedAt: now.business }), now);
      expect(facts.dueInMs).toEqual({ silence: credentialLivesMs + 7 * day });
    }
    const charged = aPayment({ status: 'unknown', presentedAt: now.business, chargeOutcome: 'approved' });
    expect(mppPaymentFacts(charged, now).dueInMs.charge).toBe(0);
    expect(mppPaymentDueAt(charged, now)).toEqual(now.business);
    for (const one of ['paid', 'declined', 'refused', 'not_paid'] as const)
      expect(mppPaymentDueAt(aPayment({ status: one, presentedAt: now.business }), now)).toBeNull();
  });

  test('the send is over before anyone concludes that it did not happen', () => {
    const sendUntil = new Date(now.real.getTime() + sendWithinMs);
    const dueInMs = mppPaymentFacts(aPayment({ status: 'presenting', sendUntil }), now).dueInMs.answer ?? 0;
    expect(dueInMs).toBeGreaterThan(sendWithinMs + presentationTimeoutMs);
  });
});

describe('what the caller learns', () => {
  const outcome = (over: object) => ({
    status: 'presenting' as const,
    chargeOutcome: null,
    chargeSource: null,
    outcomeCode: null,
    outcomeReason: null,
    merchantStatus: null,
    presentedAt: now.business,
    ...over,
  });

  test('a payment that may have been charged is never reported as refused', () => {
    fc.assert(
      fc.property(
        status,
        charge,
        fc.option(fc.integer({ min: 200, max: 599 })),
        (from, chargeOutcome, merchantStatus) => {
          const { kind } = payResult(outcome({ status: from, chargeOutcome, merchantStatus }));
          const mayBeCharged = chargeOutcome === 'approved' || ['presenting', 'unknown', 'accepted'].includes(from);
          if (mayBeCharged) expect(kind).not.toBe('refused');
          if (from === 'unknown' && chargeOutcome === null) expect(kind).toBe('unknown');
        },
      ),
    );
  });

  test('only a payment that the network has charged waits for nothing but its clearing', () => {
    const paid = (chargeSource: string | null) =>
      outcome({ status: 'paid', chargeOutcome: 'approved', chargeSource, merchantStatus: 200 });
    expect(nextInWords(paid('network'))).toBe('Nothing. The intent is completed by the clearing.');
    for (const source of ['verify', 'receipt', 'operator'])
      expect(nextInWords(paid(source))).toMatch(/waits seven days for the charge of the card network/);
    expect(knownInWords(paid('receipt'))).toBe(
      'The merchant answered 200 and gave a receipt, and the payment is settled.',
    );
  });

  test('a refusal has the code of its reason; a rule of the policy is 403', () => {
    const refused = (outcomeCode: string) =>
      payResult(outcome({ status: 'refused', outcomeCode, outcomeReason: 'why' }));
    for (const code of unpayableReasons) expect(refused(code)).toMatchObject({ code: 'invalid_state', why: 'why' });
    expect(refused('insufficient_funds')).toMatchObject({ code: 'insufficient_funds' });
    expect(refused('daily_limit')).toMatchObject({ code: 'policy_denied' });
    expect(givenUpAt(now.business).getTime() - now.business.getTime()).toBe(7 * day + credentialLivesMs);
  });

  test('an offer of cryptocurrency only is refused with a sentence that names what was offered', () => {
    expect(noChallengeInWords({ offered: ['tempo/charge', 'evm/charge'], reasons: [], offersX402: true })).toEqual({
      code: 'other_method',
      why: 'the merchant offers only tempo/charge, evm/charge, x402 (a cryptocurrency); Bursar pays with card/charge; nothing was spent',
    });
    expect(noChallengeInWords({ offered: [], reasons: [], offersX402: true }).why).toContain('only x402');
    expect(
      noChallengeInWords({
        offered: ['card/charge'],
        reasons: ['the currency is usd; Bursar pays in eur'],
        offersX402: false,
      }),
    ).toEqual({
      code: 'no_challenge',
      why: 'no challenge of the merchant can be paid: the currency is usd; Bursar pays in eur; nothing was spent',
    });
    expect(noChallengeInWords({ offered: [], reasons: [], offersX402: false }).why).toMatch(/without a challenge/);
    expect(noChallengeInWords({ offered: ['a\u202eb/c'], reasons: [], offersX402: false }).why).toContain('a?b/c');
    expect(unpayableInWords('not_payment_required', 200)).toMatch(/answered 200 and asks for no payment; nothing/);
  });
});
