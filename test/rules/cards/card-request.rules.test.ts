/** Goal: a card request is decided once, in time, and grants what was approved. Method: properties over all states and times. @module */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type CardRequestCommand,
  cardRequestFacts,
  cardRequestStatuses,
  changesOf,
  dueAt,
  expiryOf,
  grantedLimits,
  isFinalCardRequest,
  limitNames,
  moveCardRequest,
  reminderOf,
  statusAsOf,
  whyNoChanges,
} from '../../../src/domains/cards/card-requests/card-request.rules.ts';
import { hour } from '../../../src/kernel/instant.ts';
import { cents } from '../../../src/kernel/money.ts';

const status = fc.constantFrom(...cardRequestStatuses);
const command = fc.constantFrom<CardRequestCommand>('approve', 'deny', 'cancel', 'expire');
const createdAt = new Date('2026-05-04T10:00:00.000Z');
const amount = fc.option(fc.integer({ min: 0, max: 99_999_999_999 }).map(cents));
const limits = fc.record({ maxTransactionCents: amount, dailyLimitCents: amount, monthlyLimitCents: amount });

describe('moves', () => {
  test('a final request is never moved', () => {
    fc.assert(
      fc.property(status.filter(isFinalCardRequest), command, fc.boolean(), (from, asked, seen) => {
        const move = moveCardRequest(from, asked, seen);
        expect(move.outcome).not.toBe('moved');
        if (move.outcome === 'already') expect(move.next).toBe(from);
      }),
    );
  });

  test('a repeated command changes nothing, by the same cause and by another', () => {
    fc.assert(
      fc.property(command, fc.boolean(), (asked, seen) => {
        const first = moveCardRequest('pending', asked, false);
        expect(first.outcome).toBe('moved');
        if (first.outcome !== 'moved') return;
        expect(moveCardRequest(first.next, asked, seen)).toEqual({ outcome: 'already', next: first.next });
      }),
    );
  });

  test('of two different commands only the first one moves a request', () => {
    fc.assert(
      fc.property(command, command, (first, second) => {
        fc.pre(first !== second);
        const moved = moveCardRequest('pending', first, false);
        if (moved.outcome !== 'moved') throw new Error('a pending request moves');
        expect(moveCardRequest(moved.next, second, false).outcome).toBe('refused');
      }),
    );
  });

  test('each command leads to its status, and a refusal names the one that was reached', () => {
    const next = { approve: 'approved', deny: 'denied', cancel: 'cancelled', expire: 'expired' } as const;
    for (const asked of ['approve', 'deny', 'cancel', 'expire'] as const) {
      expect(moveCardRequest('pending', asked, false)).toEqual({ outcome: 'moved', next: next[asked] });
      expect(moveCardRequest('pending', asked, true)).toEqual({ outcome: 'already', next: 'pending' });
    }
    expect(moveCardRequest('denied', 'approve', false)).toEqual({
      outcome: 'refused',
      why: 'cannot approve a card request that is denied',
    });
  });
});

describe('time', () => {
  const row = (remindedAt: Date | null) => ({
    status: 'pending' as const,
    createdAt,
    remindedAt,
    expiresAt: expiryOf(createdAt),
  });

  test('the reminder is at half of the 72 hours', () => {
    expect(expiryOf(createdAt).getTime() - createdAt.getTime()).toBe(72 * hour);
    expect(reminderOf(createdAt).getTime() - createdAt.getTime()).toBe(36 * hour);
  });

  test('at every time exactly one step is next, and none is early', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 100 * hour }), fc.boolean(), (elapsedMs, isReminded) => {
        const now = new Date(createdAt.getTime() + elapsedMs);
        const { dueInMs } = cardRequestFacts(row(isReminded ? reminderOf(createdAt) : null), now);
        expect(dueInMs.deadline).toBe(72 * hour - elapsedMs);
        const isReminderOpen = !isReminded && elapsedMs < 72 * hour;
        expect(dueInMs.reminder).toBe(isReminderOpen ? 36 * hour - elapsedMs : undefined);
        expect(statusAsOf(row(null), now)).toBe(elapsedMs >= 72 * hour ? 'expired' : 'pending');
      }),
    );
  });

  test('its workflow waits for the reminder first, then for the deadline', () => {
    expect(dueAt(row(null))).toEqual(new Date('2026-05-05T22:00:00.000Z'));
    expect(dueAt(row(reminderOf(createdAt)))).toEqual(new Date('2026-05-07T10:00:00.000Z'));
    const facts = (remindedAt: Date | null) => cardRequestFacts(row(remindedAt), createdAt);
    expect(facts(null)).toEqual({
      final: false,
      reached: [],
      dueInMs: { reminder: 36 * hour, deadline: 72 * hour },
    });
    expect(facts(createdAt)).toEqual({ final: false, reached: ['reminded'], dueInMs: { deadline: 72 * hour } });
  });

  test('at its deadline a request has expired, and is not reminded of any more', () => {
    const atEnd = expiryOf(createdAt);
    const before = new Date(atEnd.getTime() - 1);
    expect([statusAsOf(row(null), before), statusAsOf(row(null), atEnd)]).toEqual(['pending', 'expired']);
    expect(cardRequestFacts(row(null), before).dueInMs).toEqual({ reminder: 1 - 36 * hour, deadline: 1 });
    expect(cardRequestFacts(row(null), atEnd).dueInMs).toEqual({ deadline: 0 });
  });

  test('a final request keeps its status after its deadline', () => {
    fc.assert(
      fc.property(status.filter(isFinalCardRequest), (final) => {
        expect(statusAsOf({ status: final, expiresAt: createdAt }, createdAt)).toBe(final);
      }),
    );
  });

  test('a final request has no due time', () => {
    fc.assert(
      fc.property(status.filter(isFinalCardRequest), (final) => {
        expect(dueAt({ ...row(null), status: final })).toBeNull();
        expect(cardRequestFacts({ ...row(null), status: final }, createdAt)).toEqual({
          final: true,
          reached: ['reminded', 'decided'],
          dueInMs: {},
        });
      }),
    );
  });
});

describe('what an approval grants', () => {
  test('is the requested limits, where the approver changes none', () => {
    fc.assert(fc.property(limits, (requested) => expect(grantedLimits(requested)).toEqual(requested)));
  });

  test('is the approver’s limits, also zero, and the requested ones for the rest', () => {
    fc.assert(
      fc.property(limits, fc.integer({ min: 0, max: 1_000 }).map(cents), (requested, dailyLimitEuros) => {
        expect(grantedLimits(requested, { dailyLimitEuros })).toEqual({
          ...requested,
          dailyLimitCents: dailyLimitEuros,
        });
      }),
    );
  });

  test('accepts changes of limits only', () => {
    expect(whyNoChanges({ dailyLimitEuros: cents(1) })).toBeUndefined();
    for (const name of ['amountEuros', 'constructor', 'toString']) {
      expect(whyNoChanges({ [name]: cents(1) })).toMatch(/dailyLimitEuros/);
    }
  });

  test('says which limits an approver may change', () => {
    const why =
      'an approver of a card request may change maxTransactionEuros, dailyLimitEuros, monthlyLimitEuros and nothing else';
    expect(whyNoChanges({ dailyLimitEuros: cents(1), amountEuros: cents(1) })).toBe(why);
    expect(whyNoChanges({})).toBeUndefined();
  });

  test('is shown to people with a label for each limit', () => {
    expect(Object.values(limitNames).map(({ label }) => label)).toEqual([
      ...['Most for one payment', 'Daily limit', 'Monthly limit'],
    ]);
  });

  test('is the same, whether the approver names the limits in cents or by their names', () => {
    const named = { maxTransactionCents: cents(1), dailyLimitCents: cents(0), monthlyLimitCents: cents(3) };
    expect(changesOf(named)).toEqual({ maxTransactionEuros: 1, dailyLimitEuros: 0, monthlyLimitEuros: 3 });
    const one = changesOf({ dailyLimitCents: cents(2), monthlyLimitCents: undefined });
    expect(Object.entries(one)).toEqual([['dailyLimitEuros', 2]]);
    const requested = { maxTransactionCents: cents(9), dailyLimitCents: null, monthlyLimitCents: cents(9) };
    expect(grantedLimits(requested, changesOf(named))).toEqual(named);
  });
});
