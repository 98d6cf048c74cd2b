/**
 * The state transitions of an intent, and when its workflow must act. Pure: time, policy and the current row are
 * arguments.
 * @module
 */
import type { Move } from '../../../kernel/move.ts';
import type { RowState } from '../../../kernel/row-state.ts';

/** `pending_approval` waits for a person; `approved` for a payment; all others are final. */
export const intentStatuses = [
  'pending_approval',
  'approved',
  'denied',
  'completed',
  'failed',
  'expired',
  'cancelled',
] as const;
export type IntentStatus = (typeof intentStatuses)[number];

export const intentCommands = ['approve', 'deny', 'cancel', 'expire', 'match', 'unmatch', 'complete', 'fail'] as const;
export type IntentCommandKind = (typeof intentCommands)[number];

/** The part of an intent that its rules look at. */
export type IntentState = {
  readonly status: IntentStatus;
  /** Set from the approved authorization until it is fully reversed or its hold expires. */
  readonly matchedTransactionId: string | null;
  /** The transfer, or split of transfers, that is ordered for it or has paid for it; null again where no money left. */
  readonly transferId: string | null;
  /** The machine payment that was begun for it and has not ended. Its outcome may be unknown for days. */
  readonly openPaymentId: string | null;
  /** Paid for window by window: charges move its windows, and never the intent. */
  readonly isRecurring: boolean;
};

const leadsTo = {
  approve: 'approved',
  deny: 'denied',
  cancel: 'cancelled',
  expire: 'expired',
  match: 'approved',
  unmatch: 'approved',
  complete: 'completed',
  fail: 'failed',
} as const satisfies Record<IntentCommandKind, IntentStatus>;

const mayReceive: Record<IntentStatus, readonly IntentCommandKind[]> = {
  pending_approval: ['approve', 'deny', 'cancel', 'expire'],
  approved: ['cancel', 'expire', 'match', 'unmatch', 'complete', 'fail'],
  denied: [],
  completed: [],
  failed: [],
  expired: [],
  cancelled: [],
};

/** Commands that only take authority away: on a row that is there already they change nothing and succeed. */
const revokingCommands: readonly IntentCommandKind[] = ['deny', 'cancel'];

/**
 * `seen`: this very cause has moved the row before. A different cause that meets the target state is a no-op for
 * revoking commands and refused where money or a grant is involved; approve on approved answers with the first
 * approver.
 */
export function moveIntent(from: IntentState, kind: IntentCommandKind, seen: boolean): Move<IntentStatus> {
  if (seen) return { outcome: 'already', next: from.status };
  const next = leadsTo[kind];
  if (from.status === next && (revokingCommands.includes(kind) || kind === 'approve'))
    return { outcome: 'already', next };
  if (!mayReceive[from.status].includes(kind)) {
    return { outcome: 'refused', why: `cannot ${kind} an intent that is ${from.status}` };
  }
  const why = refusedAsRecurring(from, kind) ?? refusedWhileMatched(from, kind) ?? refusedWhilePaying(from, kind);
  return why === undefined ? { outcome: 'moved', next } : { outcome: 'refused', why };
}

const ofOnePayment: readonly IntentCommandKind[] = ['match', 'unmatch', 'complete', 'fail'];

const refusedAsRecurring = ({ isRecurring }: IntentState, kind: IntentCommandKind): string | undefined =>
  isRecurring && ofOnePayment.includes(kind)
    ? `cannot ${kind} a recurring intent: each of its windows is paid for separately`
    : undefined;

function refusedWhileMatched(state: IntentState, kind: IntentCommandKind): string | undefined {
  const payer = payerInWords(state);
  const isMatched = payer !== undefined;
  if (isMatched && (kind === 'expire' || kind === 'cancel')) {
    return `cannot ${kind} an intent while ${payer} is paying for it`;
  }
  if (isMatched && kind === 'match') return `the intent is already paid for by ${payer}`;
  if (!isMatched && kind === 'unmatch') return 'nothing is paying for this intent';
  return undefined;
}

type Payers = Pick<IntentState, 'matchedTransactionId' | 'transferId'>;

function payerInWords({ matchedTransactionId, transferId }: Payers): string | undefined {
  if (matchedTransactionId !== null) return `transaction ${matchedTransactionId}`;
  return transferId === null ? undefined : `transfer ${transferId}`;
}

/** The merchant may charge for it, or has charged already. */
const refusedWhilePaying = ({ openPaymentId }: IntentState, kind: IntentCommandKind): string | undefined =>
  openPaymentId !== null && (kind === 'expire' || kind === 'cancel')
    ? `cannot ${kind} an intent while payment ${openPaymentId} for it is open`
    : undefined;

export const isFinalIntent = (status: IntentStatus): boolean => mayReceive[status].length === 0;

/** What the workflow of an intent waits for: a person's decision or the policy's, then the payment. */
export type IntentFact = 'decided' | 'paid';
/** `windowEnd`: the end of the current or next window of a recurring intent. */
export type IntentDue = 'deadline' | 'windowEnd';

export type IntentDeadline = { readonly expiresAt: Date };
/** The declined transaction that it lets pass once, as a charge of the network; null for a payment that is planned. */
export type IntentUse = { readonly allowsOnceOf: string | null };
type Deadlines = IntentDeadline & { readonly windowToAt?: Date | null | undefined };

/** A transaction, a transfer or an open machine payment is paying for it: no deadline counts meanwhile. */
export const isBeingPaid = ({
  matchedTransactionId,
  transferId,
  openPaymentId,
}: Payers & Pick<IntentState, 'openPaymentId'>): boolean =>
  matchedTransactionId !== null || transferId !== null || openPaymentId !== null;

/** The facts that an intent has reached, and its due times: none while something is paying for it. */
export function intentFacts(
  state: IntentState & Deadlines,
  now: Date,
): Pick<RowState<never, IntentFact, IntentDue>, 'final' | 'reached' | 'dueInMs'> {
  const final = isFinalIntent(state.status);
  const isDecided = state.status !== 'pending_approval';
  const reached: readonly IntentFact[] = final ? ['decided', 'paid'] : isDecided ? ['decided'] : [];
  if (final || isBeingPaid(state)) return { final, reached, dueInMs: {} };
  const inMs = (at: Date): number => at.getTime() - now.getTime();
  const windowEnds = state.status === 'approved' ? (state.windowToAt ?? null) : null;
  const deadline = { deadline: inMs(state.expiresAt) };
  return { final, reached, dueInMs: windowEnds === null ? deadline : { ...deadline, windowEnd: inMs(windowEnds) } };
}

/** Everything with an expiry is refused at use, whatever its stored state. */
const isPastDeadline = (state: IntentState & IntentDeadline, now: Date): boolean =>
  !isBeingPaid(state) && state.expiresAt.getTime() <= now.getTime();

export const whyPastDeadline = (state: IntentState & IntentDeadline, now: Date): string | undefined =>
  isPastDeadline(state, now) ? `the intent expired at ${state.expiresAt.toISOString()}` : undefined;

/** No payment can name it: the decision on the network's charge looks for it. */
export const onlyAllows = (transactionId: string): string =>
  `the intent only lets the charge of transaction ${transactionId} pass once, when its merchant asks again`;

/**
 * Why nothing may be paid for it now, in words; undefined where something may. Windows are not looked at, and an open
 * payment of it is not either: it is refused where another one begins.
 */
export function whyUnpayable(state: IntentState & IntentDeadline & IntentUse, now: Date): string | undefined {
  const { status, allowsOnceOf } = state;
  if (allowsOnceOf !== null) return onlyAllows(allowsOnceOf);
  if (status !== 'approved') return `the intent is ${status}; only an approved one can be paid for`;
  const payer = payerInWords(state);
  if (payer !== undefined) return `${payer} is paying for this intent already`;
  return whyPastDeadline(state, now);
}

/** The published status, also before the workflow has marked the expiry. */
export const statusAsOf = (state: IntentState & IntentDeadline, now: Date): IntentStatus =>
  !isFinalIntent(state.status) && isPastDeadline(state, now) ? 'expired' : state.status;
