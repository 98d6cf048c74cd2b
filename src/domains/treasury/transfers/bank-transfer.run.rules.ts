/**
 * What the run of a bank transfer waits for and until when: the facts that a row has reached, and its due times. Pure:
 * the row, business time and real time are arguments.
 * @module
 */

import type { CalendarDate } from '../../../kernel/calendar-date.ts';
import { hour, later, minute, second } from '../../../kernel/instant.ts';
import type { RowState } from '../../../kernel/row-state.ts';
import { type BankTransferStage, isFinalStage, type RecallOutcome } from '../sepa/bank-transfer.rules.ts';
import { instantInBerlin } from '../sepa/banking-day.rules.ts';
import type { Scheme } from '../sepa/scheme.rules.ts';
import { businessDayFrom, businessDaysAfter } from '../sepa/target-calendar.rules.ts';

export type BankTransferFact = 'payeeChecked' | 'approved' | 'submitted' | 'settled' | 'returnWindowOver';
export type BankTransferDue = 'approval' | 'askAgain' | 'reminder' | 'recall' | 'returnWindow';

/** How long a person has to decide. */
const decisionMs = 72 * hour;
export const approvalEndsAt = (at: Date): Date => later(at, decisionMs);

export type TimedTransfer = {
  readonly stage: BankTransferStage;
  readonly scheme: Scheme;
  readonly expiresAt: Date | null;
  /** Real time. */
  readonly sentAt: Date | null;
  /** Real time. */
  readonly askedAt: Date | null;
  readonly asks: number;
  readonly settlementDate: CalendarDate | null;
  readonly reminders: number;
  readonly recallOutcome: RecallOutcome | null;
  readonly returnWindowEndsAt: Date | null;
  readonly closedAt: Date | null;
};

/** In the order of the process. A fact of a later stage implies those before it. */
const lastFact: Record<BankTransferStage, number> = {
  requested: 0,
  pending_approval: 1,
  approved: 2,
  sending: 2,
  submitted: 3,
  accepted: 3,
  settled: 4,
  returned: 5,
  recalled: 5,
  rejected: 5,
  denied: 5,
  expired: 5,
  cancelled: 5,
};
const facts: readonly BankTransferFact[] = ['payeeChecked', 'approved', 'submitted', 'settled', 'returnWindowOver'];

export const isClosed = ({ stage, closedAt }: Pick<TimedTransfer, 'stage' | 'closedAt'>): boolean =>
  isFinalStage(stage) || closedAt !== null;

export type Now = { readonly business: Date; readonly real: Date };

export function bankTransferFacts(
  row: TimedTransfer,
  now: Now,
): Pick<RowState<never, BankTransferFact, BankTransferDue>, 'final' | 'reached' | 'dueInMs'> {
  const final = isClosed(row);
  const reached = facts.slice(0, final ? facts.length : lastFact[row.stage]);
  if (final) return { final, reached, dueInMs: {} };
  const inMs = (due: Date | null, from: Date): number | undefined =>
    due === null ? undefined : due.getTime() - from.getTime();
  const times = {
    approval: inMs(approvalDue(row), now.business),
    askAgain: inMs(askDue(row), now.real),
    reminder: inMs(reminderDue(row), now.business),
    recall: row.recallOutcome === 'asking' ? 0 : undefined,
    returnWindow: inMs(row.stage === 'settled' ? row.returnWindowEndsAt : null, now.business),
  };
  const dueInMs = Object.fromEntries(Object.entries(times).filter(([, ms]) => ms !== undefined));
  return { final, reached, dueInMs };
}

const approvalDue = ({ stage, expiresAt }: TimedTransfer): Date | null =>
  stage === 'pending_approval' ? expiresAt : null;

const waitsForBank = (stage: BankTransferStage): boolean =>
  stage === 'sending' || stage === 'submitted' || stage === 'accepted';

/** The waits before each question, so that a silent bank and many open transfers cause few of them. */
const askGapsMs = [second, 2 * second, 5 * second, 15 * second, minute, 5 * minute, 30 * minute] as const;
const askRarelyMs = 6 * hour;

/**
 * In real time, because a request is under way in real time. A batch payment that the bank has is asked for with its
 * reminders alone: before its day the bank can say nothing.
 */
export function askDue({ stage, scheme, sentAt, askedAt, asks }: TimedTransfer): Date | null {
  const from = askedAt ?? sentAt;
  if (!waitsForBank(stage) || from === null) return null;
  if (stage !== 'sending' && scheme === 'batch') return null;
  return later(from, askGapsMs[asks] ?? askRarelyMs);
}

/** Business days without an answer after which the owner is reminded. */
const reminderDays = [1, 3] as const;

/** In business time: the morning after so many business days beyond the day on which it should have settled. */
export function reminderDue({ stage, settlementDate, reminders }: TimedTransfer): Date | null {
  const days = reminderDays[reminders];
  if (!waitsForBank(stage) || settlementDate === null || days === undefined) return null;
  return instantInBerlin(businessDaysAfter(businessDayFrom(settlementDate), days), '09:00');
}

/**
 * When the run has to act next, in business time; null where only a message can move the transfer. While the bank is
 * asked in real time, the run is due now: that wakes a run that was lost.
 */
export function dueAt(row: TimedTransfer, at: Date): Date | null {
  if (isClosed(row)) return null;
  switch (row.stage) {
    case 'pending_approval':
      return row.expiresAt;
    case 'settled':
      return row.recallOutcome === 'asking' ? at : row.returnWindowEndsAt;
    case 'submitted':
    case 'accepted':
      return row.recallOutcome === 'asking' ? at : reminderDue(row);
    default:
      return at;
  }
}
