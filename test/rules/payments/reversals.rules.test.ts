/**
 * Goal: reversals of parts are one reversal of their sum, whenever they come: before the authorization, between other
 * messages or after them, late, repeated, and for what the network approved itself. Method: one authorization in every
 * order of its messages, against the plain sum; and the facts of a decision, from messages that wait and from booked ones.
 * @module
 */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { decideAuthorization, type PriorMessages } from '../../../src/domains/payments/network/authorization.rules.ts';
import { type EarlyMessage, priorMessagesOf } from '../../../src/domains/payments/network/authorization-facts.ts';
import { paymentModel } from '../../support/payment-model.ts';
import { type Message, modelAgents, modelFundsCents } from '../../support/payment-shapes.ts';
import { harmless } from '../spending/spending.arbitraries.ts';

const day = 86_400_000;
/** More than the card may pay: the rules decline it, and only the network's own approval holds money for it. */
const tooMuch = 5_000;
const amounts = fc.integer({ min: 1, max: 4_000 });
const parts = fc.array(fc.integer({ min: 1, max: 2_500 }), { minLength: 1, maxLength: 4 });
const sumOf = (all: readonly number[]): number => all.reduce((sum, one) => sum + one, 0);

const ofOne = { card: 0, about: 'auth' } as const;
const authorizationOf = (amountCents: number): Message => ({
  ...{ kind: 'authorization', id: 'auth', about: null, card: 0, amountCents },
});
const reversalsOf = (all: readonly number[]): Message[] =>
  all.map((amountCents, i) => ({ ...ofOne, kind: 'reversal', id: `rev_${i}`, amountCents }));

/** In this order, each `waits` days after the one before it. */
function play(messages: readonly Message[], waits: readonly number[] = []) {
  const model = paymentModel({ fundsCents: modelFundsCents, agents: modelAgents() });
  let at = Date.UTC(2026, 1, 10);
  for (const [i, message] of messages.entries()) {
    at += 1_000 + (waits[i] ?? 0) * day;
    model.sweep(new Date(at));
    model.send(message, new Date(at));
    expect(model.wrong()).toEqual([]);
  }
  return { held: model.balances().held, payment: model.payments.get('auth') };
}

/** All of them in some order, some of them twice, with up to a day and a half between two. */
const orders = (messages: readonly Message[]) =>
  fc
    .tuple(fc.subarray([...messages]), fc.array(fc.constantFrom(0, 0, 1.5), { minLength: 12, maxLength: 12 }))
    .chain(([again, waits]) =>
      fc.record({
        messages: fc.shuffledSubarray([...messages, ...again], { minLength: messages.length + again.length }),
        // Within the days that a hold lasts.
        waits: fc.constant(waits.map((wait, i) => (waits.slice(0, i).filter(Boolean).length < 3 ? wait : 0))),
      }),
    );

describe('in every order', () => {
  test('held is what was asked for, less what was reversed and collected', () => {
    fc.assert(
      fc.property(
        fc
          .record({ asked: amounts, named: parts, collected: fc.option(amounts, { nil: 0 }) })
          .chain(({ asked, named, collected }) => {
            const clearing: Message = { ...ofOne, kind: 'clearing', id: 'clr', amountCents: collected, isFinal: false };
            const all = [authorizationOf(asked), ...reversalsOf(named), ...(collected === 0 ? [] : [clearing])];
            return fc.record({
              order: orders(all),
              leftCents: fc.constant(Math.max(0, asked - sumOf(named) - collected)),
            });
          }),
        ({ order, leftCents }) => expect(play(order.messages, order.waits).held).toBe(leftCents),
      ),
      { numRuns: 400 },
    );
  });

  test('held is what the network approved itself, less what was reversed, also where that is more than was asked for', () => {
    fc.assert(
      fc.property(
        fc.record({ beyond: fc.constantFrom(0, 0, 700), named: parts }).chain(({ beyond, named }) => {
          const authorization = authorizationOf(tooMuch);
          const advised = { amountCents: tooMuch + beyond, authorization };
          const advice: Message = { ...ofOne, kind: 'advice', id: 'adv', ...advised };
          const order = orders([authorization, advice, ...reversalsOf(named)]);
          return fc.record({ order, leftCents: fc.constant(Math.max(0, tooMuch + beyond - sumOf(named))) });
        }),
        ({ order, leftCents }) => expect(play(order.messages, order.waits).held).toBe(leftCents),
      ),
      { numRuns: 400 },
    );
  });

  test('parts that leave nothing free the money and end the payment, as one reversal of all', () => {
    fc.assert(
      fc.property(amounts, fc.integer({ min: 1, max: 3 }), fc.boolean(), (asked, split, isBefore) => {
        const first = Math.floor(asked / (split + 1));
        const whole = [asked];
        const inParts = first === 0 ? whole : [first, asked - first];
        const ends = [whole, inParts].map((named) => {
          const authorization = [authorizationOf(asked)];
          const reversals = reversalsOf(named);
          const { held, payment } = play(
            isBefore ? [...reversals, ...authorization] : [...authorization, ...reversals],
          );
          return [held, payment?.status, payment?.declineRule];
        });
        expect(ends[0]).toEqual(isBefore ? [0, 'failed', 'reversed_before'] : [0, 'reversed', null]);
        expect(ends[1]).toEqual(ends[0]);
      }),
    );
  });
});

describe('the facts of a decision', () => {
  const cardRef = 'cr_own';
  const waiting = (amountCents: number | undefined, i: number): EarlyMessage => {
    const named = {
      id: `rev_${i}`,
      authorizationId: 'auth',
      cardRef,
      ...(amountCents !== undefined && { amountCents }),
    };
    return { id: named.id, kind: 'reversal', cardRef, body: named, requestId: null };
  };
  const nothing = { orphan: null, reversals: undefined };
  const decide = (before: PriorMessages, amountCents: number) => {
    const spending = { ...harmless, request: { ...harmless.request, amountCents } };
    const { outcome, rule, holdCents } = decideAuthorization({
      ...{ spending, candidates: [], token: null, availableCents: 1_000_000, partialSupported: false, before },
    });
    return { outcome, rule, holdCents };
  };

  test('parts are their sum, and one without an amount is all', () => {
    fc.assert(
      fc.property(amounts, parts, fc.boolean(), (asked, named, hasWhole) => {
        const all = hasWhole ? [...named, undefined] : named;
        const before = priorMessagesOf({ ...nothing, early: all.map(waiting) }, cardRef);
        expect(before.reversals).toEqual({ cents: sumOf(named), isWhole: hasWhole });
        const isAll = hasWhole || sumOf(named) >= asked;
        const { outcome, rule } = decide(before, asked);
        expect([outcome, rule === 'reversed_before']).toEqual(isAll ? ['declined', true] : ['approved', false]);
        // Once they are booked the answer is the same, and only what is still to come is held.
        const booked = decide({ ...before, isBooked: true }, asked);
        expect(booked).toMatchObject({ outcome, rule, holdCents: isAll ? 0 : asked - sumOf(named) });
      }),
    );
  });

  test('reversals of another card count for nothing', () => {
    const early = [{ ...waiting(undefined, 0), cardRef: 'cr_other' }, waiting(300, 1)];
    expect(priorMessagesOf({ ...nothing, early }, cardRef).reversals).toEqual({ cents: 300, isWhole: false });
  });
});
