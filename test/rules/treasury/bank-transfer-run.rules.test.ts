/** What the run of a bank transfer waits for and until when: its facts, its questions, its reminders. @module */
import { describe, expect, test } from '@jest/globals';
import {
  type BankTransferStage,
  bankTransferStages,
  isFinalStage,
} from '../../../src/domains/treasury/sepa/bank-transfer.rules.ts';
import {
  approvalEndsAt,
  askDue,
  bankTransferFacts,
  dueAt,
  isClosed,
  reminderDue,
  type TimedTransfer,
} from '../../../src/domains/treasury/transfers/bank-transfer.run.rules.ts';
import { calendarDate } from '../../../src/kernel/calendar-date.ts';
import { day, hour, later, minute, second } from '../../../src/kernel/instant.ts';

/** A Wednesday. */
const now = { business: new Date('2026-05-06T12:00:00.000Z'), real: new Date('2026-03-01T12:00:00.000Z') };
const waiting = ['sending', 'submitted', 'accepted'] as const;

const transfer = (stage: BankTransferStage, over: Partial<TimedTransfer> = {}): TimedTransfer => ({
  stage,
  scheme: 'instant',
  ...{ expiresAt: null, sentAt: null, askedAt: null, asks: 0, settlementDate: null, reminders: 0 },
  ...{ recallOutcome: null, returnWindowEndsAt: null, closedAt: null },
  ...over,
});
const others = (...stages: readonly BankTransferStage[]) =>
  bankTransferStages.filter((stage) => !stages.includes(stage));

test('a person has 72 hours to approve', () => {
  expect(approvalEndsAt(now.business)).toEqual(new Date('2026-05-09T12:00:00.000Z'));
});

test('a transfer is closed by a final stage, or when its return window was closed', () => {
  for (const stage of bankTransferStages) {
    expect(isClosed({ stage, closedAt: null })).toBe(isFinalStage(stage));
    expect(isClosed({ stage, closedAt: now.business })).toBe(true);
  }
});

test('each stage has the facts of the way that leads to it, and a closed transfer has all', () => {
  const all = ['payeeChecked', 'approved', 'submitted', 'settled', 'returnWindowOver'];
  const count: Partial<Record<BankTransferStage, number>> = {
    ...{ requested: 0, pending_approval: 1, approved: 2, sending: 2, submitted: 3, accepted: 3, settled: 4 },
  };
  for (const stage of bankTransferStages) {
    const { final, reached } = bankTransferFacts(transfer(stage), now);
    expect([stage, reached]).toEqual([stage, all.slice(0, count[stage] ?? 5)]);
    expect(final).toBe(isFinalStage(stage));
  }
  const closed = transfer('settled', { closedAt: now.business, returnWindowEndsAt: later(now.business, day) });
  expect(bankTransferFacts(closed, now)).toEqual({ final: true, reached: all, dueInMs: {} });
});

describe('due times', () => {
  const dueOf = (stage: BankTransferStage, over: Partial<TimedTransfer>) =>
    bankTransferFacts(transfer(stage, over), now).dueInMs;

  test('an approval ends in business time, and only while a person decides', () => {
    const expiresAt = later(now.business, 3 * hour);
    expect(dueOf('pending_approval', { expiresAt })).toStrictEqual({ approval: 3 * hour });
    for (const stage of others('pending_approval')) expect(dueOf(stage, { expiresAt }).approval).toBeUndefined();
  });

  test('the bank is asked in real time, and only while it has something to say', () => {
    const sentAt = later(now.real, -minute);
    for (const stage of waiting) expect(dueOf(stage, { sentAt }).askAgain).toBe(second - minute);
    for (const stage of others(...waiting)) expect(dueOf(stage, { sentAt }).askAgain).toBeUndefined();
    expect(dueOf('sending', {})).toEqual({});
  });

  test('a recall is sent at once', () => {
    expect(dueOf('settled', { recallOutcome: 'asking' })).toEqual({ recall: 0 });
    expect(dueOf('settled', { recallOutcome: 'requested' })).toEqual({});
  });

  test('the return window ends in business time, and only of what is settled', () => {
    const returnWindowEndsAt = later(now.business, 2 * day);
    expect(dueOf('settled', { returnWindowEndsAt })).toEqual({ returnWindow: 2 * day });
    for (const stage of others('settled')) expect(dueOf(stage, { returnWindowEndsAt }).returnWindow).toBeUndefined();
  });

  test('a reminder is due in business time', () => {
    const settlementDate = calendarDate('2026-05-06');
    expect(dueOf('submitted', { settlementDate })).toEqual({ reminder: 19 * hour });
  });
});

describe('the questions to the bank', () => {
  test('become rarer, from the last one on, down to one in six hours', () => {
    const gaps = Array.from({ length: 9 }, (_, asks) => {
      const due = askDue(transfer('sending', { sentAt: now.business, askedAt: now.real, asks }));
      return ((due?.getTime() ?? 0) - now.real.getTime()) / second;
    });
    expect(gaps).toEqual([1, 2, 5, 15, 60, 300, 1_800, 21_600, 21_600]);
    expect(askDue(transfer('sending', { sentAt: now.real }))).toEqual(later(now.real, second));
  });

  test('are not put about a batch payment that the bank has', () => {
    const batch = { scheme: 'batch', sentAt: now.real } as const;
    expect(askDue(transfer('sending', batch))).toEqual(later(now.real, second));
    for (const stage of ['submitted', 'accepted'] as const) {
      expect(askDue(transfer(stage, batch))).toBeNull();
      expect(askDue(transfer(stage, { ...batch, scheme: 'instant' }))).toEqual(later(now.real, second));
    }
  });
});

describe('a reminder', () => {
  const remindedOf = (settlementDate: string, reminders = 0) =>
    reminderDue(transfer('submitted', { settlementDate: calendarDate(settlementDate), reminders }));

  test('comes at nine in Berlin, one and three business days after the day of settlement, and then no more', () => {
    expect(remindedOf('2026-05-06')).toEqual(new Date('2026-05-07T07:00:00.000Z'));
    expect(remindedOf('2026-05-06', 1)).toEqual(new Date('2026-05-11T07:00:00.000Z'));
    expect(remindedOf('2026-05-06', 2)).toBeNull();
    expect(remindedOf('2026-01-08')).toEqual(new Date('2026-01-09T08:00:00.000Z'));
  });

  test('counts from the next business day where the day of settlement is none', () => {
    expect(remindedOf('2026-05-09')).toEqual(new Date('2026-05-12T07:00:00.000Z'));
  });

  test('is for what the bank has, on a day that is known', () => {
    const settlementDate = calendarDate('2026-05-06');
    for (const stage of waiting) expect(reminderDue(transfer(stage, { settlementDate }))).not.toBeNull();
    for (const stage of others(...waiting)) expect(reminderDue(transfer(stage, { settlementDate }))).toBeNull();
    expect(reminderDue(transfer('submitted'))).toBeNull();
  });
});

test('the relay looks at a transfer when its run has to act, and at once while the bank is asked', () => {
  const at = now.business;
  const soon = later(at, hour);
  const due = (stage: BankTransferStage, over: Partial<TimedTransfer> = {}) => dueAt(transfer(stage, over), at);
  expect(due('pending_approval', { expiresAt: soon })).toEqual(soon);
  for (const stage of ['requested', 'approved', 'sending'] as const) expect(due(stage)).toEqual(at);
  expect(due('settled', { returnWindowEndsAt: soon })).toEqual(soon);
  expect(due('settled', { returnWindowEndsAt: soon, recallOutcome: 'asking' })).toEqual(at);
  expect(due('settled', { returnWindowEndsAt: soon, closedAt: at })).toBeNull();
  for (const stage of ['submitted', 'accepted'] as const) {
    const settlementDate = calendarDate('2026-05-06');
    expect(due(stage, { settlementDate })).toEqual(new Date('2026-05-07T07:00:00.000Z'));
    expect(due(stage, { settlementDate, recallOutcome: 'asking' })).toEqual(at);
    expect(due(stage)).toBeNull();
  }
  for (const stage of bankTransferStages.filter(isFinalStage)) expect(due(stage, { expiresAt: soon })).toBeNull();
});
