/** Goal: an intent ends once, applies each cause once, and is never paid for twice. Method: properties. @module */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseDecision } from '../../../src/domains/identity/approvals/decision.messages.ts';
import {
  type IntentState,
  intentCommands,
  intentFacts,
  intentStatuses,
  isBeingPaid,
  isFinalIntent,
  moveIntent,
  statusAsOf,
  whyPastDeadline,
  whyUnpayable,
} from '../../../src/domains/spending/intents/intent.rules.ts';
import { day, later } from '../../../src/kernel/instant.ts';

const kind = fc.constantFrom(...intentCommands);
const state: fc.Arbitrary<IntentState> = fc.record({
  status: fc.constantFrom(...intentStatuses),
  matchedTransactionId: fc.option(fc.constant('tx_aaaaaaaa'), { nil: null }),
  transferId: fc.constantFrom(null, 'tr_aaaaaaaa'),
  openPaymentId: fc.option(fc.constant('mpay_aaaaaaaa'), { nil: null }),
  isRecurring: fc.boolean(),
});
const now = new Date('2026-03-01T12:00:00.000Z');

/** The row after a move, as the service writes it. */
const after = (from: IntentState, command: (typeof intentCommands)[number]): IntentState => {
  const move = moveIntent(from, command, false);
  if (move.outcome !== 'moved') return from;
  const matched = { match: 'tx_bbbbbbbb', unmatch: null };
  const matchedTransactionId =
    command === 'match' || command === 'unmatch' ? matched[command] : from.matchedTransactionId;
  const transferId = command === 'unmatch' ? null : from.transferId;
  return { ...from, status: move.next, matchedTransactionId, transferId };
};

test('a final intent is never moved', () => {
  fc.assert(
    fc.property(state, kind, (from, command) => {
      if (!isFinalIntent(from.status)) return;
      expect(moveIntent(from, command, false).outcome).not.toBe('moved');
    }),
  );
});

test('each status takes its own commands and no others', () => {
  const free = { matchedTransactionId: null, transferId: null, openPaymentId: null, isRecurring: false };
  const paid = { ...free, matchedTransactionId: 'tx_aaaaaaaa' };
  const takes = (of: Omit<IntentState, 'status'>) =>
    Object.fromEntries(
      intentStatuses.map((status) => [
        status,
        intentCommands.filter((command) => moveIntent({ ...of, status }, command, false).outcome === 'moved'),
      ]),
    );
  const final = { denied: [], completed: [], failed: [], expired: [], cancelled: [] };
  expect(takes(free)).toEqual({
    pending_approval: ['approve', 'deny', 'cancel', 'expire'],
    approved: ['cancel', 'expire', 'match', 'complete', 'fail'],
    ...final,
  });
  expect(takes(paid).approved).toEqual(['unmatch', 'complete', 'fail']);
});

const open = {
  status: 'approved',
  matchedTransactionId: null,
  transferId: null,
  openPaymentId: null,
  isRecurring: false,
} as const satisfies IntentState;
const byTransaction = { ...open, matchedTransactionId: 'tx_aaaaaaaa' };
const byTransfer = { ...open, transferId: 'tr_aaaaaaaa' };
const byPayment = { ...open, openPaymentId: 'mpay_aaaaaaaa' };

test('each command that moves an intent leads to its status', () => {
  const led = (from: IntentState, command: (typeof intentCommands)[number]) => {
    const move = moveIntent(from, command, false);
    return move.outcome === 'moved' ? move.next : move.outcome;
  };
  const waiting = { ...open, status: 'pending_approval' as const };
  expect(led(waiting, 'approve')).toBe('approved');
  expect(led(waiting, 'deny')).toBe('denied');
  for (const from of [waiting, open]) {
    expect(led(from, 'cancel')).toBe('cancelled');
    expect(led(from, 'expire')).toBe('expired');
  }
  expect(led(open, 'match')).toBe('approved');
  expect(led(open, 'complete')).toBe('completed');
  expect(led(open, 'fail')).toBe('failed');
  for (const from of [byTransaction, byTransfer]) expect(led(from, 'unmatch')).toBe('approved');
});

test('an approval of an approved intent keeps its first approver', () => {
  expect(moveIntent(open, 'approve', false)).toEqual({ outcome: 'already', next: 'approved' });
});

test.each<[IntentState, (typeof intentCommands)[number], string]>([
  [{ ...open, status: 'denied' }, 'approve', 'cannot approve an intent that is denied'],
  [{ ...open, status: 'expired' }, 'expire', 'cannot expire an intent that is expired'],
  [
    { ...open, isRecurring: true },
    'match',
    'cannot match a recurring intent: each of its windows is paid for separately',
  ],
  [byTransaction, 'cancel', 'cannot cancel an intent while transaction tx_aaaaaaaa is paying for it'],
  [byTransfer, 'expire', 'cannot expire an intent while transfer tr_aaaaaaaa is paying for it'],
  [byTransaction, 'match', 'the intent is already paid for by transaction tx_aaaaaaaa'],
  [byTransfer, 'match', 'the intent is already paid for by transfer tr_aaaaaaaa'],
  [open, 'unmatch', 'nothing is paying for this intent'],
  [byPayment, 'unmatch', 'nothing is paying for this intent'],
  [byPayment, 'expire', 'cannot expire an intent while payment mpay_aaaaaaaa for it is open'],
  [byPayment, 'cancel', 'cannot cancel an intent while payment mpay_aaaaaaaa for it is open'],
])('%j refuses %s in words', (from, command, why) => {
  expect(moveIntent(from, command, false)).toEqual({ outcome: 'refused', why });
});

test('only a waiting and an approved intent are not final', () => {
  expect(intentStatuses.filter((status) => !isFinalIntent(status))).toEqual(['pending_approval', 'approved']);
});

test('to deny what is denied and to cancel what is cancelled changes nothing; to expire it again is refused', () => {
  for (const [command, status] of [
    ['deny', 'denied'],
    ['cancel', 'cancelled'],
  ] as const)
    expect(moveIntent({ ...open, status }, command, false)).toEqual({ outcome: 'already', next: status });
  expect(moveIntent({ ...open, status: 'expired' }, 'expire', false).outcome).toBe('refused');
});

test('no command of one payment moves a recurring intent, each other one does', () => {
  const recurring = { ...open, isRecurring: true };
  for (const command of ['match', 'unmatch', 'complete', 'fail'] as const)
    expect(moveIntent(recurring, command, false)).toEqual({
      outcome: 'refused',
      why: `cannot ${command} a recurring intent: each of its windows is paid for separately`,
    });
  for (const command of ['cancel', 'expire'] as const)
    expect(moveIntent(recurring, command, false).outcome).toBe('moved');
});

test('from its deadline on an open intent reads as expired, unless something is paying for it', () => {
  const read = (from: IntentState, leftMs: number) => statusAsOf({ ...from, expiresAt: later(now, leftMs) }, now);
  for (const status of ['pending_approval', 'approved'] as const) {
    expect(read({ ...open, status }, 1)).toBe(status);
    expect(read({ ...open, status }, 0)).toBe('expired');
  }
  for (const from of [byTransaction, byTransfer, byPayment]) expect(read(from, 0)).toBe('approved');
  for (const status of intentStatuses.filter(isFinalIntent)) expect(read({ ...open, status }, 0)).toBe(status);
  expect(whyPastDeadline({ ...open, expiresAt: later(now, 1) }, now)).toBeUndefined();
  expect(whyPastDeadline({ ...byTransfer, expiresAt: now }, now)).toBeUndefined();
  expect(whyPastDeadline({ ...open, expiresAt: now }, now)).toBe('the intent expired at 2026-03-01T12:00:00.000Z');
});

test('a machine payment that is open hinders no transaction from paying', () => {
  for (const command of ['match', 'complete', 'fail'] as const)
    expect(moveIntent(byPayment, command, false).outcome).toBe('moved');
});

test('a transaction, a transfer or an open payment is paying for an intent, and stops its due times', () => {
  expect(isBeingPaid(open)).toBe(false);
  for (const from of [byTransaction, byTransfer, byPayment]) {
    expect(isBeingPaid(from)).toBe(true);
    expect(intentFacts({ ...from, expiresAt: now }, now)).toEqual({ final: false, reached: ['decided'], dueInMs: {} });
  }
});

test('why nothing may be paid for an intent is said in words', () => {
  const why = (from: IntentState, allowsOnceOf: string | null = null) =>
    whyUnpayable({ ...from, allowsOnceOf, expiresAt: now }, now);
  expect(why(open, 'tx_bbbbbbbb')).toBe(
    'the intent only lets the charge of transaction tx_bbbbbbbb pass once, when its merchant asks again',
  );
  expect(why({ ...open, status: 'pending_approval' })).toBe(
    'the intent is pending_approval; only an approved one can be paid for',
  );
  expect(why(byTransaction)).toBe('transaction tx_aaaaaaaa is paying for this intent already');
  expect(why(byTransfer)).toBe('transfer tr_aaaaaaaa is paying for this intent already');
  expect(why(byPayment)).toBeUndefined();
});

test('a cause changes an intent at most once', () => {
  fc.assert(
    fc.property(state, kind, (from, command) => {
      expect(moveIntent(from, command, true)).toEqual({ outcome: 'already', next: from.status });
    }),
  );
});

test('only one of two causes matches or completes an intent', () => {
  fc.assert(
    fc.property(state, fc.constantFrom('match' as const, 'complete' as const), (from, command) => {
      if (moveIntent(from, command, false).outcome !== 'moved') return;
      expect(moveIntent(after(from, command), command, false).outcome).toBe('refused');
    }),
  );
});

test('a revoking command repeated by anyone changes nothing and succeeds', () => {
  fc.assert(
    fc.property(state, fc.constantFrom('deny' as const, 'cancel' as const), (from, command) => {
      const once = after(from, command);
      if (moveIntent(from, command, false).outcome !== 'moved') return;
      expect(moveIntent(once, command, false).outcome).toBe('already');
    }),
  );
});

test('while a transaction or an open machine payment pays for it, an intent neither expires nor is cancelled', () => {
  const approved = {
    status: 'approved',
    matchedTransactionId: null,
    transferId: null,
    openPaymentId: null,
    isRecurring: false,
  } as const;
  const paying = [{ matchedTransactionId: 'tx_aaaaaaaa' }, { openPaymentId: 'mpay_aaaaaaaa' }];
  fc.assert(
    fc.property(
      fc.constantFrom('expire' as const, 'cancel' as const),
      fc.constantFrom(...paying),
      fc.boolean(),
      (command, by, isRecurring) => {
        const move = moveIntent({ ...approved, ...by, isRecurring }, command, false);
        const [id] = Object.values(by);
        expect(move).toMatchObject({ outcome: 'refused', why: expect.stringContaining(String(id)) });
        expect(moveIntent({ ...approved, isRecurring }, command, false).outcome).toBe('moved');
      },
    ),
  );
});

test('any sequence of commands ends in at most one completion', () => {
  fc.assert(
    fc.property(fc.array(kind, { maxLength: 30 }), (commands) => {
      let row: IntentState = {
        status: 'pending_approval',
        matchedTransactionId: null,
        transferId: null,
        openPaymentId: null,
        isRecurring: false,
      };
      let completions = 0;
      for (const command of commands) {
        if (command === 'complete' && moveIntent(row, command, false).outcome === 'moved') completions += 1;
        row = after(row, command);
      }
      expect(completions).toBeLessThanOrEqual(1);
    }),
  );
});

test('the deadline is due until something pays, and never after the end', () => {
  fc.assert(
    fc.property(fc.integer({ min: -5 * day, max: 60 * day }), (leftMs) => {
      const open = {
        status: 'approved' as const,
        matchedTransactionId: null,
        transferId: null,
        openPaymentId: null,
        isRecurring: false,
        expiresAt: later(now, leftMs),
      };
      expect(intentFacts(open, now)).toEqual({ final: false, reached: ['decided'], dueInMs: { deadline: leftMs } });
      expect(intentFacts({ ...open, matchedTransactionId: 'tx_aaaaaaaa' }, now).dueInMs).toEqual({});
      expect(intentFacts({ ...open, openPaymentId: 'mpay_aaaaaaaa' }, now).dueInMs).toEqual({});
      const ended = intentFacts({ ...open, status: 'completed' }, now);
      expect(ended).toEqual({ final: true, reached: ['decided', 'paid'], dueInMs: {} });
    }),
  );
});

test('charges never move a recurring intent: it ends by its deadline, a person or its agent', () => {
  fc.assert(
    fc.property(state, kind, (from, command) => {
      const move = moveIntent({ ...from, isRecurring: true }, command, false);
      if (['match', 'unmatch', 'complete', 'fail'].includes(command)) expect(move.outcome).toBe('refused');
      if (move.outcome === 'moved') expect(['completed', 'failed']).not.toContain(move.next);
    }),
  );
});

test('a recurring intent waits for the end of its window, and then for the next or for its deadline', () => {
  const open = {
    status: 'approved' as const,
    matchedTransactionId: null,
    transferId: null,
    openPaymentId: null,
    isRecurring: true,
    expiresAt: later(now, 60 * day),
  };
  const dueOf = (windowToAt: Date | null) => intentFacts({ ...open, windowToAt }, now).dueInMs;
  expect(dueOf(later(now, 3 * day))).toEqual({ windowEnd: 3 * day, deadline: 60 * day });
  expect(dueOf(now)).toEqual({ windowEnd: 0, deadline: 60 * day });
  expect(intentFacts({ ...open, openPaymentId: 'mpay_aaaaaaaa', windowToAt: now }, now).dueInMs).toEqual({});
  expect(dueOf(null)).toEqual({ deadline: 60 * day });
  const waiting = { ...open, status: 'pending_approval' as const, windowToAt: now };
  expect(intentFacts(waiting, now)).toEqual({ final: false, reached: [], dueInMs: { deadline: 60 * day } });
});

test('past its deadline an open intent is returned as expired, and every other status unchanged', () => {
  fc.assert(
    fc.property(state, fc.boolean(), (from, isPast) => {
      const read = statusAsOf({ ...from, expiresAt: later(now, isPast ? 0 : 1) }, now);
      const isExpired = isPast && !isFinalIntent(from.status) && !isBeingPaid(from);
      expect(read).toBe(isExpired ? 'expired' : from.status);
    }),
  );
});

test('an intent may be paid for exactly while it is approved, unpaid, before its deadline, and for no charge allowed once', () => {
  fc.assert(
    fc.property(state, fc.boolean(), fc.constantFrom(null, 'tx_aaaaaaaa'), (from, isPast, allowsOnceOf) => {
      const why = whyUnpayable({ ...from, allowsOnceOf, expiresAt: later(now, isPast ? 0 : 1) }, now);
      const isPayable =
        allowsOnceOf === null &&
        from.status === 'approved' &&
        from.matchedTransactionId === null &&
        from.transferId === null &&
        (!isPast || isBeingPaid(from));
      expect(why === undefined).toBe(isPayable);
    }),
  );
  const late = {
    status: 'approved',
    matchedTransactionId: null,
    transferId: null,
    openPaymentId: null,
    isRecurring: false,
    expiresAt: now,
    allowsOnceOf: null,
  } as const;
  expect(whyUnpayable(late, now)).toBe(`the intent expired at ${now.toISOString()}`);
});

test('every input of a signal is a decision or a named refusal, and never throws', () => {
  fc.assert(
    fc.property(fc.anything(), (typed) => {
      const parsed = parseDecision(typed);
      expect('ignored' in parsed || ['approve', 'deny', 'cancel'].includes(parsed.decision)).toBe(true);
    }),
  );
  expect(parseDecision('approve')).toEqual({ decision: 'approve', by: 'unnamed' });
  expect(parseDecision({ decision: ' DENY ', by: 'Anna\n<b>' })).toEqual({ decision: 'deny', by: 'Annab' });
  expect(parseDecision(undefined)).toHaveProperty('ignored');
  expect(parseDecision({ unreadable: true })).toHaveProperty('ignored');
});
