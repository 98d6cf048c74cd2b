/** What a split is, for every combination of its lines. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type BankTransferStage,
  bankTransferStages,
  bankTransferStatus,
} from '../../../src/domains/treasury/sepa/bank-transfer.rules.ts';
import {
  approvalEnds,
  arrived,
  isApproved,
  isMovedBy,
  isSettled,
  isWithoutEffect,
  type LineState,
  linesThatWait,
  returnWindowsEnd,
  splitCommands,
  splitDecisions,
  splitFacts,
  splitOpenness,
  splitStage,
  splitStatus,
  splitStatuses,
  whyNot,
} from '../../../src/domains/treasury/transfers/transfer-split.rules.ts';
import { cents } from '../../../src/kernel/money.ts';

/** Null: between wallets. */
const line = (stage: BankTransferStage | null, amountCents = 1_000): LineState => ({
  stage,
  status: stage === null ? 'completed' : bankTransferStatus(stage),
  amountCents: cents(amountCents),
  ...{ expiresAt: null, closedAt: null, returnWindowEndsAt: null },
});
const someLine = fc
  .tuple(fc.constantFrom(null, ...bankTransferStages), fc.integer({ min: 1, max: 100_000 }))
  .map(([stage, amountCents]) => line(stage, amountCents));
const someLines = fc.array(someLine, { minLength: 2, maxLength: 50 });
const stageOf = (...stages: readonly (BankTransferStage | null)[]) => splitStage(stages.map((stage) => line(stage)));

describe('the state of a split', () => {
  test.each([
    [['requested', 'pending_approval'], 'checking'],
    [[null, 'pending_approval', 'settled'], 'pending_approval'],
    [[null, 'approved'], 'pending'],
    [['settled', 'accepted'], 'pending'],
    [[null, 'settled'], 'completed'],
    [['settled', 'rejected'], 'partially_completed'],
    [[null, 'cancelled'], 'partially_completed'],
    [['settled', 'returned'], 'partially_completed'],
    [['returned', 'recalled'], 'returned'],
    [['returned', 'rejected'], 'failed'],
    [['denied', 'denied'], 'denied'],
    [['cancelled', 'cancelled'], 'cancelled'],
    [['denied', 'expired'], 'failed'],
  ] as const)('of lines that are %j is %s', (stages, stage) => {
    expect(stageOf(...stages)).toBe(stage);
  });

  test('is completed exactly when the money of every line is there, and names every part of it that is not', () => {
    fc.assert(
      fc.property(someLines, (lines) => {
        const status = splitStatus(splitStage(lines));
        const total = lines.reduce((sum, { amountCents }) => sum + amountCents, 0);
        const there = arrived(lines);
        expect(there.lines === lines.length).toBe(status === 'completed');
        if (status === 'completed') expect(there.amountCents).toBe(total);
        if (status === 'partially_completed') {
          expect(there.amountCents).toBeGreaterThan(0);
          expect(there.amountCents).toBeLessThan(total);
        }
        if (['returned', 'failed', 'cancelled', 'denied'].includes(status)) expect(there.amountCents).toBe(0);
      }),
    );
  });

  test('does not depend on the order of the lines', () => {
    fc.assert(
      fc.property(someLines, (lines) => {
        expect(splitStage(lines.toReversed())).toBe(splitStage(lines));
      }),
    );
  });

  test('is final only when no line can change any more, and then has every fact', () => {
    fc.assert(
      fc.property(someLines, (lines) => {
        const { final, reached } = splitFacts(lines);
        if (final) expect(reached).toEqual(['payeesChecked', 'decided', 'settled', 'returnWindowsOver']);
        else expect(reached).not.toContain('returnWindowsOver');
      }),
    );
  });
});

test('the facts of a split are those of its lines', () => {
  const facts = (...stages: readonly (BankTransferStage | null)[]) => splitFacts(stages.map((stage) => line(stage)));
  expect(facts('requested', 'settled')).toEqual({ final: false, reached: [], dueInMs: {} });
  expect(facts('pending_approval', null)).toEqual({ final: false, reached: ['payeesChecked'], dueInMs: {} });
  expect(facts('approved', null)).toEqual({ final: false, reached: ['payeesChecked', 'decided'], dueInMs: {} });
  expect(facts('settled', null).reached).toEqual(['payeesChecked', 'decided', 'settled']);
  expect(facts(null, null)).toEqual({
    ...{ final: true, reached: ['payeesChecked', 'decided', 'settled', 'returnWindowsOver'], dueInMs: {} },
  });
});

test('while payees are checked a split is pending, and only an ending settles it', () => {
  expect(splitStatus('checking')).toBe('pending');
  for (const status of splitStatuses) {
    expect(splitStatus(status)).toBe(status);
    expect(isSettled(status)).toBe(status !== 'pending' && status !== 'pending_approval');
    expect(isWithoutEffect(status)).toBe(['cancelled', 'failed', 'denied', 'returned'].includes(status));
    expect(isApproved('approved', status)).toBe(!isWithoutEffect(status));
    expect([isApproved('denied', status), isApproved(null, status)]).toEqual([false, false]);
  }
});

test('all lines that wait can be approved until the first of them ends, and money can come back until the last window', () => {
  const on = (day: number) => new Date(Date.UTC(2026, 10, day));
  const waiting = (day: number) => ({ ...line('pending_approval'), expiresAt: on(day) });
  const lines = [waiting(3), { ...line('approved'), expiresAt: on(1) }, waiting(2), waiting(4)];
  expect(approvalEnds(lines)).toEqual(on(2));
  expect(linesThatWait(lines)).toBe(3);
  expect(approvalEnds([line('approved'), line('pending_approval')])).toBeNull();
  const paid = (day: number, closedAt: Date | null = null) => ({
    ...{ ...line('settled'), returnWindowEndsAt: on(day), closedAt },
  });
  expect(returnWindowsEnd([paid(2), paid(4), paid(3), paid(5, on(1))])).toEqual(on(4));
  expect(returnWindowsEnd([line(null), line('settled')])).toBeNull();
});

describe('a decision about a split', () => {
  test('moves the lines that wait, and cancelling those that the bank cannot have', () => {
    const moved = (command: (typeof splitCommands)[number]) =>
      bankTransferStages.filter((stage) => isMovedBy[command]({ stage }));
    expect(moved('approve')).toEqual(['pending_approval']);
    expect(moved('deny')).toEqual(['pending_approval']);
    expect(new Set(moved('cancel'))).toEqual(new Set(['requested', 'pending_approval', 'approved']));
  });

  test('that is refused says why', () => {
    expect(whyNot('pending', 'cancel')).toBe(
      'cannot cancel a split of which no line is left: what the bank has is recalled line by line',
    );
    expect(whyNot('checking', 'approve')).toBe('cannot approve a split whose payees are still being checked');
    expect(whyNot('completed', 'deny')).toBe('cannot deny a split that is completed: no line of it waits');
  });

  test('to cancel is open, repeated or refused by its lines', () => {
    const cancel = (...stages: readonly (BankTransferStage | null)[]) =>
      splitOpenness({ decision: null, lines: stages.map((stage) => line(stage)) }, 'cancel');
    expect(cancel('approved', 'settled')).toBe('open');
    expect(cancel('cancelled', 'settled')).toBe('already');
    expect(cancel(null, 'settled')).toBe('refused');
  });

  test('to deny what was approved, and is under way or there, is refused', () => {
    const approved = { decision: 'approved' as const, lines: [line('approved'), line('settled')] };
    expect([splitOpenness(approved, 'approve'), splitOpenness(approved, 'deny')]).toEqual(['already', 'refused']);
  });

  test('is open while a line waits', () => {
    const waiting = { decision: null, lines: [line('pending_approval'), line('settled')] };
    expect([splitOpenness(waiting, 'approve'), splitOpenness(waiting, 'deny')]).toEqual(['open', 'open']);
    const denied = { decision: 'denied' as const, lines: waiting.lines };
    expect([splitOpenness(denied, 'approve'), splitOpenness(denied, 'deny')]).toEqual(['open', 'already']);
  });

  test('finds lines that wait whenever it is open, and is refused or repeated where nothing is left to decide', () => {
    const someSplit = fc.record({ decision: fc.constantFrom(null, ...splitDecisions), lines: someLines });
    fc.assert(
      fc.property(someSplit, fc.constantFrom(...splitCommands), (split, command) => {
        const outcome = splitOpenness(split, command);
        const stages = split.lines.map(({ stage }) => stage);
        const isUnsent = (stage: BankTransferStage | null) =>
          stage === 'requested' || stage === 'pending_approval' || stage === 'approved';
        if (command === 'cancel') expect(outcome === 'open').toBe(stages.some(isUnsent));
        else if (outcome === 'open') {
          expect(stages).toContain('pending_approval');
          expect(stages).not.toContain('requested');
        }
      }),
    );
  });

  test('stays as it was decided first', () => {
    const ended = [line('settled'), line('denied')];
    expect(splitOpenness({ decision: 'denied', lines: ended }, 'deny')).toBe('already');
    expect(splitOpenness({ decision: 'denied', lines: ended }, 'approve')).toBe('refused');
  });

  test('is approved no more when nothing came of the approval', () => {
    const approve = (...stages: readonly BankTransferStage[]) =>
      splitOpenness({ decision: 'approved', lines: stages.map((stage) => line(stage)) }, 'approve');
    expect([approve('approved', 'settled'), approve('settled', 'cancelled')]).toEqual(['already', 'already']);
    const endings = [
      approve('cancelled', 'cancelled'),
      approve('rejected', 'expired'),
      approve('returned', 'returned'),
    ];
    expect(endings).toEqual(['refused', 'refused', 'refused']);
  });

  test('to deny what was denied line by line is a repeat', () => {
    expect(splitOpenness({ decision: null, lines: [line('denied'), line('denied')] }, 'deny')).toBe('already');
    expect(splitOpenness({ decision: null, lines: [line('denied'), line('settled')] }, 'deny')).toBe('refused');
  });
});
