/** Goal: a window is paid for once and ends once. Method: properties over all sequences of commands. @module */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  moveWindow,
  type WindowCommand,
  type WindowState,
  windowCommands,
  windowCursor,
} from '../../../src/domains/spending/intents/windows/window.rules.ts';

const toAt = new Date('2026-12-23T00:00:00Z');
const fresh: WindowState = { status: 'open', transactionId: null, toAt };
const at = fc.constantFrom(new Date('2026-12-22T23:59:59.999Z'), toAt, new Date('2027-01-01T00:00:00Z'));
const by = fc.constantFrom('tx_1', 'tx_2', 'tx_3');
const step = fc.record({ command: fc.constantFrom(...windowCommands), by, at });

/** The row after a command, as the service writes it. */
function after(from: WindowState, command: WindowCommand, how: { by: string; at: Date }): WindowState {
  const moved = moveWindow(from, command, how);
  if (moved.outcome !== 'moved') return from;
  const isPaid = moved.next === 'matched' || moved.next === 'completed';
  return { ...from, status: moved.next, transactionId: isPaid ? how.by : null };
}

test('a completed or missed window never changes again', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), step, (steps, { command, ...how }) => {
      const row = steps.reduce((from, one) => after(from, one.command, one), fresh);
      if (row.status === 'completed' || row.status === 'missed') {
        expect(moveWindow(row, command, how).outcome).toBe('refused');
      }
    }),
  );
});

test('only one transaction pays for a window, and only that one completes or reopens it', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      let row = fresh;
      const paid = new Set<string>();
      for (const { command, ...how } of steps) {
        const next = after(row, command, how);
        if (row.status === 'matched' && next !== row) expect(how.by).toBe(row.transactionId);
        if (row.status === 'matched' && next.status === 'matched') expect(next.transactionId).toBe(row.transactionId);
        if (next.status === 'completed' && next.transactionId !== null) paid.add(next.transactionId);
        row = next;
      }
      expect(paid.size).toBeLessThanOrEqual(1);
    }),
  );
});

test('it is missed only once it is over, and a charge comes only while it is not', () => {
  fc.assert(
    fc.property(step, ({ by: who, at: when }) => {
      const isOver = when >= toAt;
      expect(moveWindow(fresh, 'miss', { by: who, at: when }).outcome).toBe(isOver ? 'moved' : 'refused');
      expect(moveWindow(fresh, 'match', { by: who, at: when }).outcome).toBe(isOver ? 'refused' : 'moved');
    }),
  );
});

test('exactly the unpaid windows are missed when the intent ends', () => {
  const states: WindowState[] = [
    fresh,
    { ...fresh, status: 'matched', transactionId: 'tx_1' },
    { ...fresh, status: 'completed', transactionId: 'tx_1' },
    { ...fresh, status: 'missed' },
  ];
  const ended = { by: null, at: new Date('2026-12-22T12:00:00Z'), isIntentOver: true };
  expect(states.map((state) => moveWindow(state, 'miss', ended).outcome)).toEqual([
    'moved',
    ...['refused', 'refused', 'refused'],
  ]);
});

test('given back in time it is open again, and too late it is missed', () => {
  const matched: WindowState = { status: 'matched', transactionId: 'tx_1', toAt };
  const reopen = (instant: string) => moveWindow(matched, 'reopen', { by: 'tx_1', at: new Date(instant) });
  expect(reopen('2026-12-22T12:00:00Z')).toEqual({ outcome: 'moved', next: 'open' });
  expect(reopen('2026-12-23T00:00:00Z')).toEqual({ outcome: 'moved', next: 'missed' });
  const afterwards = { by: 'tx_1', at: new Date('2026-12-22T12:00:00Z'), isIntentOver: true };
  expect(moveWindow(matched, 'reopen', afterwards)).toEqual({ outcome: 'moved', next: 'missed' });
});

test('what is paid for is completed, also where the clearing comes first', () => {
  const matched: WindowState = { status: 'matched', transactionId: 'tx_1', toAt };
  for (const row of [fresh, matched])
    expect(moveWindow(row, 'complete', { by: 'tx_1', at: toAt })).toEqual({ outcome: 'moved', next: 'completed' });
});

test('a refusal says why', () => {
  const matched: WindowState = { status: 'matched', transactionId: 'tx_1', toAt };
  const before = new Date(toAt.getTime() - 1);
  const whyNot = (row: WindowState, command: WindowCommand, instant: Date) =>
    moveWindow(row, command, { by: 'tx_2', at: instant });
  expect(whyNot({ ...fresh, status: 'completed' }, 'match', before)).toEqual({
    ...{ outcome: 'refused', why: 'cannot match a window that is completed' },
  });
  expect(whyNot(matched, 'complete', before)).toEqual({
    ...{ outcome: 'refused', why: 'the window is paid for by transaction tx_1' },
  });
  expect(whyNot(fresh, 'miss', before)).toEqual({ outcome: 'refused', why: 'the window is not over yet' });
  expect(whyNot(fresh, 'match', toAt)).toEqual({ outcome: 'refused', why: 'the window is over' });
});

test('the cursor of a page of windows is of no other list', () => {
  expect(windowCursor.idOf(7)).toBe('window_7');
});
