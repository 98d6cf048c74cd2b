/** The state transitions of a recurring intent's window. Pure: the row and the time are arguments. @module */
import type { Move } from '../../../../kernel/move.ts';
import { numberedCursor } from '../../../../kernel/page.ts';

/** `open` has been paid for and is free again; `matched` waits for its clearing; the others are final. */
export const windowStatuses = ['open', 'matched', 'completed', 'missed'] as const;
export type WindowStatus = (typeof windowStatuses)[number];

export const windowCommands = ['match', 'complete', 'reopen', 'miss'] as const;
export type WindowCommand = (typeof windowCommands)[number];

/** A page of windows ends with the number of one. */
export const windowCursor = numberedCursor('window', 9);

export type WindowState = {
  readonly status: WindowStatus;
  readonly transactionId: string | null;
  readonly toAt: Date;
};

const mayReceive: Record<WindowStatus, readonly WindowCommand[]> = {
  open: ['match', 'complete', 'miss'],
  matched: ['complete', 'reopen'],
  completed: [],
  missed: [],
};

/**
 * `by`: the transaction, for whatever concerns one. Only the transaction that a window was matched to completes
 * or reopens it; what is free once it is over, or its intent is, is missed.
 */
export function moveWindow(
  from: WindowState,
  command: WindowCommand,
  { by, at, isIntentOver = false }: { by: string | null; at: Date; isIntentOver?: boolean },
): Move<WindowStatus> {
  if (!mayReceive[from.status].includes(command)) {
    return { outcome: 'refused', why: `cannot ${command} a window that is ${from.status}` };
  }
  if (from.status === 'matched' && from.transactionId !== by) {
    return { outcome: 'refused', why: `the window is paid for by transaction ${from.transactionId}` };
  }
  const isOver = from.toAt <= at;
  const isMissed = isOver || isIntentOver;
  if (command === 'miss') {
    return isMissed ? { outcome: 'moved', next: 'missed' } : { outcome: 'refused', why: 'the window is not over yet' };
  }
  if (command === 'match') {
    return isOver ? { outcome: 'refused', why: 'the window is over' } : { outcome: 'moved', next: 'matched' };
  }
  if (command === 'complete') return { outcome: 'moved', next: 'completed' };
  return { outcome: 'moved', next: isMissed ? 'missed' : 'open' };
}
