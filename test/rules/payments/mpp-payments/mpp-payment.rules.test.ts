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
  answerDueAt,
  bodyLivesMs,
  commandAfterAnswer,
  credentialLivesMs,
  givenUpAt,
  isFinalMppPayment,
  isPast,
  type MppPaymentProgress,
  type MppPaymentStatus,
  merchantSays,
  moveMppPayment,
  mppPaymentCommands,
  mppPaymentDueAt,
  mppPaymentFacts,
  mppPaymentStatuses,
  openMppPaymentStatuses,
  sendWithinMs,
  settlementOf,
  takesReceipt,
  waitsForCharge,
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

  test('each status takes its own commands, each of which leads to one status', () => {
    const takes = (from: MppPaymentStatus) =>
      Object.fromEntries(
        mppPaymentCommands.flatMap((one) => {
          const move = moveMppPayment(from, one, false);
          return move.outcome === 'moved' ? [[one, move.next]] : [];
        }),
      );
    expect(Object.fromEntries(mppPaymentStatuses.map((from) => [from, takes(from)]))).toEqual({
      requested: { challenge: 'challenged', refuse: 'refused' },
      challenged: { allow: 'allowed', refuse: 'refused' },
      allowed: { mint: 'minted', refuse: 'refused' },
      minted: { present: 'presenting', refuse: 'refused', pay: 'paid' },
      presenting: { accept: 'accepted', lose: 'unknown', pay: 'paid', decline: 'declined', withhold: 'refused' },
      accepted: { pay: 'paid', decline: 'declined', giveUp: 'not_paid' },
      unknown: { accept: 'accepted', pay: 'paid', decline: 'declined', giveUp: 'not_paid' },
      paid: {},
      declined: { pay: 'paid' },
      refused: { pay: 'paid' },
      not_paid: { pay: 'paid' },
    });
  });

  test('a refused command is named in words', () => {
    const words = mppPaymentCommands.map((one) => {
      const move = moveMppPayment('paid', one, false);
      return move.outcome === 'refused' ? move.why : move.outcome;
    });
    expect(words).toEqual(
      [
        ...['read the challenge of', 'allow', 'mint a credential for', 'present the credential of', 'accept'],
        ...['lose the outcome of', 'settle as paid', 'decline', 'refuse', 'withhold the credential of'],
        'settle as not paid',
      ].map((verb) => `cannot ${verb} a payment that is paid`),
    );
  });

  test('an intent has at most one payment that has not ended', () => {
    expect(openMppPaymentStatuses).toEqual([
      ...['requested', 'challenged', 'allowed', 'minted', 'presenting', 'accepted', 'unknown'],
    ]);
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
  [199, 'nothing'],
  [200, 'delivered'],
  [204, 'delivered'],
  [299, 'delivered'],
  [300, 'nothing'],
  [302, 'nothing'],
  [399, 'nothing'],
  [400, 'refused'],
  [402, 'refused'],
  [403, 'refused'],
  [408, 'nothing'],
  [425, 'nothing'],
  [429, 'nothing'],
  [499, 'refused'],
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
    // Not `silence`, also where its time is over: what is charged does not count as not paid.
    expect(mppPaymentFacts(charged, now).dueInMs).toEqual({ charge: 0 });
    expect(mppPaymentDueAt(charged, now)).toEqual(now.business);
    for (const one of ['paid', 'declined', 'refused', 'not_paid'] as const)
      expect(mppPaymentDueAt(aPayment({ status: one, presentedAt: now.business }), now)).toBeNull();
  });

  test('the facts of each status are those of the way that leads to it', () => {
    const reached = (one: MppPaymentStatus) => mppPaymentFacts(aPayment({ status: one }), now).reached;
    for (const one of ['requested', 'challenged', 'allowed'] as const) expect(reached(one)).toEqual([]);
    for (const one of ['minted', 'presenting'] as const) expect(reached(one)).toEqual(['minted']);
    for (const one of ['accepted', 'unknown'] as const) expect(reached(one)).toEqual(['minted', 'answered']);
    for (const one of ['paid', 'declined', 'refused', 'not_paid'] as const)
      expect(reached(one)).toEqual(['minted', 'answered', 'settled']);
    expect([isPast('allowed', 'allowed'), isPast('minted', 'allowed'), isPast('allowed', 'minted')]).toEqual([
      ...[false, true, false],
    ]);
  });

  test('only a minted payment may be sent, only one that is presented has a time to answer, and only one of which nothing is heard is silent', () => {
    const instants = { sendUntil: now.real, sentAt: now.real, presentedAt: now.business };
    for (const one of mppPaymentStatuses) {
      const { dueInMs } = mppPaymentFacts(aPayment({ status: one, ...instants }), now);
      expect(dueInMs.send).toBe(one === 'minted' ? 0 : undefined);
      expect(dueInMs.answer !== undefined).toBe(one === 'presenting');
      expect(dueInMs.silence !== undefined).toBe(waitsForCharge(one));
      expect(waitsForCharge(one)).toBe(one === 'accepted' || one === 'unknown');
    }
    expect(mppPaymentFacts(aPayment({ status: 'unknown' }), now).dueInMs).toEqual({});
    expect(answerDueAt({ sentAt: null, sendUntil: null })).toBeNull();
  });

  test('the relay looks at a payment at its nearest due time, at once where that has passed, and where it waits for no time', () => {
    const real = (ms: number) => new Date(now.real.getTime() + ms);
    const presenting = (sentAt: Date) => aPayment({ status: 'presenting', sentAt, sendUntil: real(sendWithinMs) });
    expect(mppPaymentDueAt(presenting(now.real), now)).toEqual(
      new Date(now.business.getTime() + presentationTimeoutMs + second),
    );
    expect(mppPaymentDueAt(presenting(real(-day)), now)).toEqual(now.business);
    expect(mppPaymentDueAt(aPayment(), now)).toEqual(now.business);
    const silent = aPayment({ status: 'unknown', presentedAt: now.business });
    expect(mppPaymentDueAt(silent, now)).toEqual(givenUpAt(now.business));
  });

  test('times are those that the documents name: 20 seconds to send, five minutes of a credential, a day of an answer', () => {
    expect([sendWithinMs, credentialLivesMs, bodyLivesMs]).toEqual([20_000, 300_000, 86_400_000]);
    expect(+givenUpAt(now.business) - +now.business).toBe(300_000 + 7 * 86_400_000);
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

  test('what is known is one sentence for each status, with what the merchant answered and the reason', () => {
    const known = (over: object) => knownInWords(outcome(over));
    expect(known({ status: 'requested' })).toBe('The resource is being requested. Nothing is spent.');
    expect(known({ status: 'challenged' })).toBe('The merchant asks for a payment. Nothing is spent.');
    expect(known({ status: 'allowed' })).toBe('The payment is allowed. Nothing is spent.');
    expect(known({ status: 'minted' })).toBe('A credential was minted and has not been sent. Nothing is spent.');
    expect(known({})).toBe('The credential may be with the merchant, which has not answered yet.');
    expect(known({ chargeOutcome: 'declined' })).toBe(
      'The charge was declined, and the merchant has not answered yet.',
    );
    expect(known({ status: 'accepted', merchantStatus: 200 })).toBe(
      'The merchant answered 200, and the charge has not been seen yet.',
    );
    expect(known({ status: 'unknown' })).toBe(
      'The merchant gave no answer, so it is not known whether it charged the card.',
    );
    expect(known({ status: 'unknown', merchantStatus: 500, outcomeReason: 'it broke off' })).toBe(
      'The merchant answered 500, so it is not known whether it charged the card: it broke off.',
    );
    expect(known({ status: 'declined', merchantStatus: 402 })).toBe(
      'The merchant answered 402, and no money has moved.',
    );
    expect(known({ status: 'declined', merchantStatus: 402, outcomeReason: 'daily limit' })).toBe(
      'The merchant answered 402, and no money has moved: daily limit.',
    );
    expect(known({ status: 'refused' })).toBe('Nothing was sent and nothing is spent.');
    expect(known({ status: 'refused', outcomeReason: 'daily limit' })).toBe(
      'Nothing was sent and nothing is spent: daily limit.',
    );
    expect(known({ status: 'not_paid' })).toBe(
      'Neither the network nor the merchant reported a charge. It counts as not paid.',
    );
    const paid = (chargeSource: string | null) => known({ status: 'paid', merchantStatus: 200, chargeSource });
    for (const source of ['network', null])
      expect(paid(source)).toBe('The merchant answered 200, and the payment is settled.');
    expect(paid('verify')).toBe('The merchant answered 200 and verified the credential, and the payment is settled.');
    expect(paid('operator')).toBe(
      'The merchant answered 200, and an operator found that it was paid, and the payment is settled.',
    );
  });

  test('what happens next is one sentence for each status', () => {
    const next = (over: object) => nextInWords(outcome(over));
    const settles = "The card network, the merchant's verify or an operator's resolve settles it;";
    for (const one of ['accepted', 'unknown']) {
      expect(next({ status: one })).toBe(
        `${settles} without them it counts as not paid on 2026-03-08T12:05:00.000Z. It is never paid again.`,
      );
      expect(next({ status: one, presentedAt: null })).toBe(
        `${settles} without them it counts as not paid. It is never paid again.`,
      );
    }
    for (const one of ['declined', 'refused', 'not_paid'])
      expect(next({ status: one })).toBe('Nothing, unless the card network reports a charge after all.');
    for (const one of ['requested', 'challenged', 'allowed', 'minted', 'presenting'])
      expect(next({ status: one })).toBe('The payment goes on by itself.');
    expect(next({ status: 'paid', chargeSource: 'receipt' })).toBe(
      'The intent is completed. Its transaction waits seven days for the charge of the card network; without one it ends as failed, and no money moves.',
    );
  });

  test('the answer to the caller is that of the status', () => {
    const result = (over: object) => payResult(outcome(over));
    for (const one of ['accepted', 'paid', 'declined']) expect(result({ status: one })).toEqual({ kind: 'answered' });
    for (const one of ['requested', 'presenting', 'unknown'])
      expect(result({ status: one })).toEqual({ kind: 'unknown' });
    expect(result({ status: 'not_paid' })).toEqual({
      ...{ kind: 'refused', code: 'invalid_state' },
      why: 'Neither the network nor the merchant reported a charge. It counts as not paid.',
    });
    expect(result({ status: 'refused', outcomeCode: 'no_challenge' })).toEqual({
      ...{ kind: 'refused', code: 'invalid_state', why: 'nothing was spent' },
    });
    for (const code of ['no_challenge', 'other_method', 'other_digest', 'not_sent'])
      expect(result({ status: 'refused', outcomeCode: code })).toMatchObject({ code: 'invalid_state' });
    expect(result({ status: 'refused', outcomeCode: 'inactive' })).toMatchObject({ code: 'policy_denied' });
    expect(statusShown({ status: 'unknown', chargeOutcome: 'declined' })).toBe('declined');
    expect(statusShown({ status: 'presenting', chargeOutcome: 'approved' })).toBe('presenting');
  });

  test('why there is nothing to pay is a sentence for each reason', () => {
    expect(unpayableReasons.map((reason) => unpayableInWords(reason, 204))).toEqual(
      unpayableReasons.map((reason) => `${why[reason]}; nothing was spent`),
    );
    expect(unpayableInWords('not_payment_required', null)).toBe(
      'the merchant answered something else and asks for no payment; nothing was spent',
    );
  });

  test('an offer is named once, at most five, in plain characters and cut', () => {
    const offered = ['a/c', 'a/c', 'b/c', 'c/c', 'd/c', 'e/c', 'f/c'];
    expect(noChallengeInWords({ offered, reasons: [], offersX402: true }).why).toBe(
      'the merchant offers only a/c, b/c, c/c, d/c, e/c; Bursar pays with card/charge; nothing was spent',
    );
    expect(noChallengeInWords({ offered: ['x'.repeat(200)], reasons: [], offersX402: false }).why).toBe(
      `the merchant offers only ${'x'.repeat(160)}; Bursar pays with card/charge; nothing was spent`,
    );
    expect(noChallengeInWords({ offered: ['card/charge', 'a/c'], reasons: ['é ~'], offersX402: true })).toEqual({
      code: 'no_challenge',
      why: 'no challenge of the merchant can be paid: ? ~; nothing was spent',
    });
    expect(noChallengeInWords({ offered: [], reasons: [], offersX402: false })).toEqual({
      code: 'no_challenge',
      why: 'the merchant asks for a payment without a challenge; nothing was spent',
    });
  });
});

const why: Readonly<Record<(typeof unpayableReasons)[number], string>> = {
  address_refused: 'the address of the merchant may not be connected to',
  unreachable: 'the merchant did not answer',
  redirect_refused: 'the merchant redirects to an address that may not be connected to',
  too_many_redirects: 'the merchant redirects more than five times',
  not_payment_required: 'the merchant answered 204 and asks for no payment',
};
