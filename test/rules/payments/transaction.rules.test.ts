/**
 * Goal: no message in any order makes or loses a cent of a hold. Method: random sequences of clearings, reversals and
 * expiry over one transaction, checked against plain sums and against the ledger's own patterns.
 * @module
 */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  advise,
  clear,
  expire,
  holdExpiry,
  increase,
  refund,
  reverse,
  type TransactionChange,
  type TransactionState,
} from '../../../src/domains/payments/transactions/transaction.rules.ts';
import { wallet } from '../../../src/domains/treasury/ledger/account.rules.ts';
import { authorization, clearing, type Posting, release } from '../../../src/domains/treasury/ledger/ledger.rules.ts';
import { settled } from '../../support/settlement.ts';

type Said =
  | { kind: 'clear'; amountCents: number; isFinal: boolean }
  | { kind: 'reverse'; amountCents: number | undefined }
  | { kind: 'expire' };

const amount = fc.integer({ min: 1, max: 100_000 });
const said: fc.Arbitrary<Said> = fc.oneof(
  fc.record({
    kind: fc.constant('clear' as const),
    amountCents: fc.integer({ min: 0, max: 100_000 }),
    isFinal: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('reverse' as const), amountCents: fc.option(amount, { nil: undefined }) }),
  fc.constant({ kind: 'expire' as const }),
);
const authorized = (approvedCents: number): TransactionState => ({
  status: 'pending',
  type: 'authorization',
  amountCents: approvedCents,
  approvedCents,
  heldCents: approvedCents,
  clearedCents: 0,
  reversedCents: 0,
  refundedCents: 0,
  isFinal: false,
});
const declined: TransactionState = { ...authorized(0), status: 'failed', amountCents: 500 };

const hear = (state: TransactionState, message: Said): TransactionChange => {
  if (message.kind === 'clear') return clear(state, message);
  return message.kind === 'reverse' ? reverse(state, message.amountCents) : expire(state);
};

const ownerId = 'own_aaaaaaaa';
const from = wallet('wal_aaaaaaaa');

/** The journal as the service posts it. */
function postingsOf(state: TransactionState, message: Said, balances: Map<string, number>): Posting[] {
  const owed = `owner:${ownerId}:receivable`;
  return settled(journalOf(state, message), new Map(balances).set(owed, -(balances.get(owed) ?? 0)));
}

function journalOf(state: TransactionState, message: Said): Posting[] {
  if (message.kind !== 'clear') {
    const { releasedCents } = hear(state, message);
    return releasedCents === 0 ? [] : release({ ownerId, from, amountCents: releasedCents });
  }
  return clearing({
    ownerId,
    from,
    amountCents: message.amountCents,
    isFinal: message.isFinal,
    heldCents: state.heldCents,
  });
}

const book = (balances: Map<string, number>, postings: readonly Posting[]): void => {
  for (const { account, amountCents } of postings) balances.set(account, (balances.get(account) ?? 0) + amountCents);
};

describe('any sequence of messages', () => {
  const sequences = fc.tuple(
    fc.oneof(amount.map(authorized), fc.constant(declined)),
    fc.array(said, { maxLength: 12 }),
  );

  test('the hold is between 0 and the approved amount, and equals the hold in the ledger', () => {
    fc.assert(
      fc.property(sequences, ([first, messages]) => {
        const balances = new Map([[`wallet:${from.id}:available`, 300_000]]);
        if (first.heldCents > 0) book(balances, authorization({ ownerId, from, amountCents: first.heldCents }));
        let state = first;
        for (const message of messages) {
          book(balances, postingsOf(state, message, balances));
          state = hear(state, message).next;
          expect(state.heldCents).toBeGreaterThanOrEqual(0);
          // Of what was not approved here, parts may be reversed, and nothing is held.
          const reversedCents = state.approvedCents === 0 ? 0 : state.reversedCents;
          expect(state.heldCents + reversedCents).toBeLessThanOrEqual(state.approvedCents);
          expect(balances.get(`wallet:${from.id}:held`) ?? 0).toBe(state.heldCents);
        }
        expect(balances.get(`external:cards:${ownerId}`) ?? 0).toBe(state.clearedCents);
        expect([...balances.values()].reduce((sum, cents) => sum + cents, 0)).toBe(300_000);
      }),
    );
  });

  test('each message says where the hold went: it stays, is given back or pays what is collected', () => {
    fc.assert(
      fc.property(sequences, ([first, messages]) => {
        let state = first;
        for (const message of messages) {
          const { next, releasedCents, beyondCents } = hear(state, message);
          const collectedCents = message.kind === 'clear' ? message.amountCents : 0;
          expect(state.heldCents).toBe(next.heldCents + releasedCents + (collectedCents - beyondCents));
          expect(Math.min(releasedCents, beyondCents, collectedCents - beyondCents)).toBeGreaterThanOrEqual(0);
          state = next;
        }
      }),
    );
  });

  test('completes at most once, and everything the network collected is in it', () => {
    fc.assert(
      fc.property(sequences, ([first, messages]) => {
        let state = first;
        let completions = 0;
        for (const message of messages) {
          const change = hear(state, message);
          if (change.completes) completions += 1;
          if (change.completes) expect(change.next.status).toBe('completed');
          state = change.next;
        }
        const collected = messages.reduce(
          (sum, message) => sum + (message.kind === 'clear' ? message.amountCents : 0),
          0,
        );
        expect(state.clearedCents).toBe(collected);
        expect(completions).toBeLessThanOrEqual(1);
        if (state.status === 'completed') expect([completions, state.amountCents]).toEqual([1, state.clearedCents]);
      }),
    );
  });

  test('fully reversed means that nothing is held and nothing was collected', () => {
    fc.assert(
      fc.property(sequences, ([first, messages]) => {
        let state = first;
        for (const message of messages) {
          const change = hear(state, message);
          if (change.isFullyReversed) {
            expect([change.next.heldCents, change.next.clearedCents, change.next.status]).toEqual([0, 0, 'reversed']);
          }
          state = change.next;
        }
      }),
    );
  });

  test('after an end nothing is held, and expiry finds nothing', () => {
    fc.assert(
      fc.property(sequences, ([first, messages]) => {
        let state = first;
        for (const message of messages) state = hear(state, message).next;
        if (state.isFinal || state.status === 'reversed') {
          expect(state.heldCents).toBe(0);
          expect(expire(state)).toMatchObject({ next: state, releasedCents: 0 });
        }
      }),
    );
  });

  test('an aged transaction has ended, and holds nothing', () => {
    fc.assert(
      fc.property(sequences, ([first, messages]) => {
        let state = first;
        for (const message of messages) state = hear(state, message).next;
        const { next, completes } = expire(state);
        expect([next.status === 'pending', next.heldCents]).toEqual([false, 0]);
        if (state.status === 'pending') expect(completes).toBe(next.clearedCents > 0);
      }),
    );
  });
});

describe('single messages', () => {
  test('a final clearing of 0 gives the whole hold back', () => {
    expect(clear(authorized(1_000), { amountCents: 0, isFinal: true })).toMatchObject({
      next: { status: 'reversed', heldCents: 0, reversedCents: 1_000 },
      releasedCents: 1_000,
      isFullyReversed: true,
      completes: false,
    });
  });

  test('a clearing that is not the last leaves the rest held, and the amount is what was asked or more', () => {
    const change = clear(authorized(1_000), { amountCents: 400, isFinal: false });
    const after = { ...authorized(1_000), type: 'capture', heldCents: 600, clearedCents: 400 };
    const nothing = { releasedCents: 0, beyondCents: 0, completes: false, isFullyReversed: false };
    expect(change).toEqual({ ...nothing, next: after });
    expect(clear(change.next, { amountCents: 700, isFinal: false })).toEqual({
      ...nothing,
      next: { ...after, amountCents: 1_100, heldCents: 0, clearedCents: 1_100 },
      beyondCents: 100,
    });
  });

  test('the last clearing gives the rest back and completes, and what comes after it is collected without completing', () => {
    const last = clear(authorized(1_000), { amountCents: 400, isFinal: true });
    const after: TransactionState = {
      ...{ ...authorized(1_000), type: 'capture', status: 'completed' },
      ...{ amountCents: 400, heldCents: 0, clearedCents: 400, isFinal: true },
    };
    const whole = { next: after, releasedCents: 600, beyondCents: 0, completes: true, isFullyReversed: false };
    expect(last).toEqual(whole);
    expect(clear(after, { amountCents: 100, isFinal: false })).toEqual({
      next: { ...after, amountCents: 500, clearedCents: 500 },
      ...{ releasedCents: 0, beyondCents: 100, completes: false, isFullyReversed: false },
    });
  });

  test('a clearing of 0 that is not the last changes nothing', () => {
    const state = authorized(1_000);
    const nothing = { releasedCents: 0, beyondCents: 0, completes: false, isFullyReversed: false };
    expect(clear(state, { amountCents: 0, isFinal: false })).toEqual({ ...nothing, next: state });
  });

  test('a reversal of a part leaves an open payment of what is held and collected', () => {
    const collected = clear(authorized(1_000), { amountCents: 400, isFinal: false }).next;
    expect(reverse(collected, 200)).toEqual({
      next: { ...collected, amountCents: 800, heldCents: 400, reversedCents: 200 },
      ...{ releasedCents: 200, beyondCents: 0, completes: false, isFullyReversed: false },
    });
    expect(reverse(authorized(1_000), undefined).next).toEqual({
      ...{ ...authorized(1_000), heldCents: 0, reversedCents: 1_000 },
      ...{ status: 'reversed', type: 'reversal' },
    });
  });

  test('a part of what was not approved here is remembered and ends nothing; all of it, or as much as was asked for, does', () => {
    const collected = clear(authorized(0), { amountCents: 400, isFinal: false }).next;
    const nothing = { releasedCents: 0, beyondCents: 0, completes: false, isFullyReversed: false };
    expect(reverse(collected, 200)).toEqual({ ...nothing, next: { ...collected, reversedCents: 200 } });
    expect(reverse(reverse(collected, 200).next, 300).next).toEqual({ ...collected, reversedCents: 500 });
    const ended = { next: { status: 'completed', isFinal: true, clearedCents: 400 }, completes: true };
    expect(reverse(collected, undefined)).toMatchObject(ended);
    const asked = { ...collected, requestedCents: 1_000 };
    expect(reverse(asked, 999)).toMatchObject({ next: { status: 'pending', reversedCents: 999 }, completes: false });
    expect(reverse(asked, 1_000)).toMatchObject(ended);
  });

  test('reversals of parts add up', () => {
    const once = reverse(authorized(1_000), 300).next;
    expect(reverse(once, 300)).toMatchObject({ next: { heldCents: 400, reversedCents: 600 }, releasedCents: 300 });
  });

  test('a payment that was collected and given back whole in advance ends as reversed', () => {
    const refunded = refund(authorized(1_000), 400);
    expect(clear(refunded, { amountCents: 400, isFinal: true }).next.status).toBe('reversed');
    const open = refund(clear(authorized(1_000), { amountCents: 400, isFinal: false }).next, 400);
    expect([open.status, expire(open).next.status]).toEqual(['pending', 'reversed']);
  });

  test('an increment raises what is asked, approved and held', () => {
    expect(increase(authorized(1_000), 250)).toEqual(authorized(1_250));
  });

  test('a reversal above the hold gives back the hold', () => {
    expect(reverse(authorized(1_000), 5_000)).toMatchObject({ releasedCents: 1_000, isFullyReversed: true });
  });

  test('of a payment of which nothing is held, a reversal of the whole ends it and one of a part does not', () => {
    const unheld = { ...authorized(1_000), heldCents: 0 };
    expect(reverse(unheld, 1_000)).toMatchObject({ next: { status: 'reversed' }, isFullyReversed: true });
    const rest = { ...unheld, amountCents: 1, reversedCents: 999 };
    expect(reverse(unheld, 999)).toMatchObject({ next: rest, releasedCents: 0, isFullyReversed: false });
  });

  test('a part of a payment that holds less than was approved leaves what is still to come in the hold', () => {
    const underheld = { ...authorized(1_000), heldCents: 400 };
    const reversed = { ...underheld, amountCents: 400, reversedCents: 600 };
    expect(reverse(underheld, 600)).toMatchObject({ next: reversed, releasedCents: 0, isFullyReversed: false });
    expect(reverse(underheld, 601)).toMatchObject({ next: { heldCents: 399, status: 'pending' }, releasedCents: 1 });
    expect(reverse(reversed, 1)).toMatchObject({ next: { heldCents: 399, status: 'pending' }, releasedCents: 1 });
    expect(reverse(reversed, 400)).toMatchObject({ next: { heldCents: 0, status: 'reversed' }, releasedCents: 400 });
    const collected = clear(underheld, { amountCents: 400, isFinal: false }).next;
    expect(reverse(collected, 599)).toMatchObject({
      next: { ...collected, amountCents: 401, reversedCents: 599 },
      completes: false,
    });
    expect(reverse(collected, 600)).toMatchObject({ next: { status: 'completed', isFinal: true }, completes: true });
  });

  test('what is held after a part was reversed covers what is still to come, as far as it did before', () => {
    fc.assert(
      fc.property(amount, amount, fc.nat(100_000), amount, (approvedCents, held, collected, reversed) => {
        const first = { ...authorized(approvedCents), heldCents: Math.min(held, approvedCents) };
        const before = clear(first, { amountCents: Math.min(collected, approvedCents), isFinal: false }).next;
        const { next, releasedCents } = reverse(before, reversed);
        if (reversed >= approvedCents) return expect(next.heldCents).toBe(0);
        const toCome = Math.max(0, approvedCents - before.clearedCents - reversed);
        expect(next.heldCents).toBe(Math.min(before.heldCents, toCome));
        expect(next.heldCents + releasedCents).toBe(before.heldCents);
        expect(next.status === 'pending').toBe(toCome > 0);
      }),
    );
  });

  test('several partial reversals are one of their sum', () => {
    fc.assert(
      fc.property(
        ...[amount, amount, fc.nat(100_000)],
        fc.array(amount, { minLength: 1, maxLength: 5 }),
        (approvedCents, held, collected, parts) => {
          const first = { ...authorized(approvedCents), heldCents: Math.min(held, approvedCents) };
          const before = clear(first, { amountCents: collected, isFinal: false }).next;
          let state = before;
          let releasedCents = 0;
          for (const part of parts) {
            const change = reverse(state, part);
            releasedCents += change.releasedCents;
            state = change.next;
          }
          const once = reverse(
            before,
            parts.reduce((sum, part) => sum + part, 0),
          );
          expect([state, releasedCents]).toEqual([once.next, once.releasedCents]);
        },
      ),
    );
  });

  test('how little is held changes only what is held: it is never more, and what is beyond it is owed', () => {
    const parts = said.filter(({ kind }) => kind !== 'expire');
    fc.assert(
      fc.property(amount, amount, fc.array(parts, { maxLength: 8 }), (approvedCents, held, messages) => {
        let full = authorized(approvedCents);
        let little: TransactionState = { ...full, heldCents: Math.min(held, approvedCents) };
        let [fromFull, fromLittle] = [0, 0];
        for (const message of messages) {
          const [one, other] = [hear(full, message), hear(little, message)];
          const { heldCents, ...same } = one.next;
          expect(other.next).toEqual({ ...same, heldCents: expect.any(Number) });
          expect([other.completes, other.isFullyReversed]).toEqual([one.completes, one.isFullyReversed]);
          expect(other.next.heldCents).toBeLessThanOrEqual(heldCents);
          fromFull += one.beyondCents;
          fromLittle += other.beyondCents;
          [full, little] = [one.next, other.next];
        }
        // Each cent that was missing from the hold is at most once taken from elsewhere.
        expect(fromLittle - fromFull).toBeGreaterThanOrEqual(0);
        expect(fromLittle - fromFull).toBeLessThanOrEqual(approvedCents - Math.min(held, approvedCents));
      }),
    );
  });

  test('a reversal of a part after the last clearing finds nothing that could be reversed', () => {
    const completed = clear(authorized(1_000), { amountCents: 400, isFinal: true }).next;
    expect(reverse(completed, 100)).toMatchObject({ releasedCents: 0, isFullyReversed: false, completes: false });
    expect(reverse(completed, 100).next).toEqual(completed);
  });

  test('a declined transaction has nothing to give back', () => {
    expect(reverse(declined, undefined)).toMatchObject({ next: declined, releasedCents: 0, isFullyReversed: false });
  });
});

describe('how long a hold lives', () => {
  const at = new Date('2026-03-01T12:00:00.000Z');
  const days = (mcc: string) => (holdExpiry({ mcc, at }).getTime() - at.getTime()) / 86_400_000;

  test.each(['3351', '3500', '3501', '3999', '4411', '7011', '7512', '7513'])('%s: 31 days', (mcc) =>
    expect(days(mcc)).toBe(31),
  );
  test.each(['3350', '4000', '4410', '7010', '7012', '7511', '7514', '5734', '0000'])('%s: 7 days', (mcc) =>
    expect(days(mcc)).toBe(7),
  );
  test.each([
    [3_600_000, 3_600_000],
    [3_599_999, 7 * 86_400_000],
    [90 * 86_400_000 - 1, 90 * 86_400_000 - 1],
    [90 * 86_400_000 + 1, 90 * 86_400_000],
  ])('an expiry of the network after %d ms: %d ms', (asked, lives) => {
    const networkExpiresAt = new Date(at.getTime() + asked);
    expect(holdExpiry({ mcc: '5734', at, networkExpiresAt }).getTime() - at.getTime()).toBe(lives);
  });

  test('an expiry of the network is used within its bounds', () => {
    const networkExpiresAt = new Date('2026-03-02T00:00:00.000Z');
    expect(holdExpiry({ mcc: '7011', at, networkExpiresAt })).toEqual(networkExpiresAt);
    fc.assert(
      fc.property(fc.date({ noInvalidDate: true }), (said) => {
        const lives = holdExpiry({ mcc: '5734', at, networkExpiresAt: said }).getTime() - at.getTime();
        expect(lives).toBeGreaterThanOrEqual(3_600_000);
        expect(lives).toBeLessThanOrEqual(90 * 86_400_000);
      }),
    );
  });
});

describe('refunds', () => {
  const interleaved = fc.tuple(amount.map(authorized), fc.array(fc.oneof(said, amount), { maxLength: 12 }));

  test('give the same end wherever they come between the other messages', () => {
    fc.assert(
      fc.property(interleaved, ([first, messages]) => {
        let mixed = first;
        for (const message of messages) {
          mixed = typeof message === 'number' ? refund(mixed, message) : hear(mixed, message).next;
        }
        let sorted = first;
        for (const message of messages) if (typeof message !== 'number') sorted = hear(sorted, message).next;
        for (const message of messages) if (typeof message === 'number') sorted = refund(sorted, message);
        expect(mixed).toEqual(sorted);
      }),
    );
  });

  test.each([
    [499, 'completed'],
    [500, 'reversed'],
    [501, 'reversed'],
  ])('of %i of 500 collected leave it %s', (refundedCents, status) => {
    const completed = clear(authorized(500), { amountCents: 500, isFinal: true }).next;
    expect(refund(completed, refundedCents)).toEqual({ ...completed, refundedCents, status });
  });
});

describe('an advice', () => {
  const heard = fc.tuple(
    fc.oneof(amount.map(authorized), fc.constant(declined)),
    fc.array(said, { maxLength: 6 }),
    amount,
    fc.integer({ min: 0, max: 100_000 }),
  );

  test('holds what is missing, at most what is available, and nothing when it is repeated', () => {
    fc.assert(
      fc.property(heard, ([first, messages, approvedCents, availableCents]) => {
        const before = messages.reduce((state, message) => hear(state, message).next, first);
        const after = advise(before, { approvedCents, availableCents });
        const addedCents = after.heldCents - before.heldCents;
        expect(addedCents).toBeGreaterThanOrEqual(0);
        expect(addedCents).toBeLessThanOrEqual(availableCents);
        expect(advise(after, { approvedCents, availableCents: 100_000 })).toBe(after);
        if (after === before) return;
        expect(after.status).toBe('pending');
        expect(after.heldCents + after.clearedCents + after.reversedCents).toBeLessThanOrEqual(approvedCents);
      }),
    );
  });

  test('of more than was approved holds the difference, as far as there is money', () => {
    const open: TransactionState = { ...authorized(1_000), heldCents: 500, clearedCents: 300, reversedCents: 200 };
    const advised = { ...open, amountCents: 1_300, approvedCents: 1_500 };
    expect(advise(open, { approvedCents: 1_500, availableCents: 200 })).toEqual({ ...advised, heldCents: 700 });
    expect(advise(open, { approvedCents: 1_500, availableCents: 9_000 })).toEqual({ ...advised, heldCents: 1_000 });
    expect(advise(open, { approvedCents: 1_000, availableCents: 9_000 })).toBe(open);
  });

  test('of a declined payment opens it, and one that has ended stays as it is', () => {
    const asked = { approvedCents: 500, availableCents: 9_000 };
    expect(advise(declined, asked)).toEqual({
      ...{ ...declined, status: 'pending', amountCents: 500, approvedCents: 500, heldCents: 500 },
    });
    for (const ended of [
      { ...declined, isFinal: true },
      { ...declined, status: 'completed' as const },
      { ...declined, status: 'reversed' as const },
    ])
      expect(advise(ended, asked)).toBe(ended);
  });

  test('of what was collected already adds no hold', () => {
    const over = { ...declined, clearedCents: 500 };
    expect(advise(over, { approvedCents: 500, availableCents: 9_000 })).toBe(over);
    expect(advise(over, { approvedCents: 501, availableCents: 9_000 })).toMatchObject({ heldCents: 1 });
  });
});
