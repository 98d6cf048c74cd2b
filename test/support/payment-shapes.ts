/**
 * What the model of card payments is about: messages and their answers, intents, payments, and the agents that every
 * history begins with. Shapes, and which moves of a payment are legal.
 * @module
 */
import type { TransactionState } from '../../src/domains/payments/transactions/transaction.rules.ts';
import type { Outcome } from './payment-decisions.ts';
import type { ModelAgent } from './payment-holders.ts';
import type { Rhythm } from './payment-windows.ts';

export type Message = {
  readonly kind: 'authorization' | 'increment' | 'clearing' | 'reversal' | 'refund' | 'advice';
  readonly id: string;
  /** The authorization's id; null: a refund that names none. */
  readonly about: string | null;
  readonly card: number;
  /** Undefined: a reversal of all that is left. */
  readonly amountCents: number | undefined;
  readonly isFinal?: boolean;
  readonly partialSupported?: boolean;
  /** Initiated by the merchant under a standing agreement. */
  readonly isRecurring?: boolean;
  /** Of an advice: what the network had asked for. */
  readonly authorization?: Message;
};
export type Answer = {
  readonly status: 200 | 409;
  readonly decision?: Outcome;
  readonly approvedCents?: number;
  readonly rule?: string;
};
export type PaidWindow = { status: 'matched' | 'completed'; readonly paidBy: string };
export type ModelIntent = {
  /** Of the product, once it is known. */
  id: string;
  readonly agent: number;
  card: number;
  readonly amountCents: number;
  readonly isNamed: boolean;
  readonly createdAtMs: number;
  expiresAtMs: number;
  status: 'pending_approval' | 'approved' | 'denied' | 'completed' | 'cancelled' | 'expired';
  matchedBy: string | null;
  isByPerson: boolean;
  /** The declined charge that a person is asked about. */
  readonly asksAbout: string | null;
  /** The declined charge that may pass once. */
  readonly allows: string | null;
  readonly recurring: {
    readonly rhythm: Rhythm;
    readonly tolerancePercent: number;
    approvedAtMs: number | null;
    /** By number; what nothing pays for is not in it. */
    readonly paid: Map<number, PaidWindow>;
  } | null;
};
export type Declaration = Pick<ModelIntent, 'agent' | 'amountCents' | 'isNamed'> & {
  /** Null: it names none, and is for the agent's first active card. */
  readonly card: number | null;
  readonly ttlMs: number;
  readonly recurring: { readonly rhythm: Rhythm; readonly tolerancePercent: number } | null;
};
export type Payment = TransactionState & {
  readonly authorizationId: string;
  readonly card: number;
  readonly isVerification: boolean;
  /** What the authorization asked for. */
  requestedCents: number;
  isRecurring: boolean;
  /** False while only its clearings have come. */
  isAnswered: boolean;
  intent: ModelIntent | null;
  /** The intent that a declined charge was for. */
  meant: ModelIntent | null;
  declineRule: string | null;
  /** When it was declined only because no person had approved it. */
  lackedPersonAtMs: number | null;
  declinedAtMs: number | null;
  holdExpiresAt: Date | null;
  authorizedAt: Date | null;
  incrementedCents: number;
  /** By reversals, while nothing was approved; null: all of it. */
  reversedBefore: number | null;
  hasFinalClearing: boolean;
};

/** What a payment may become; null: it was not there. */
export const legalMoves: Readonly<Record<string, readonly string[]>> = {
  null: ['pending', 'failed', 'completed'],
  pending: ['completed', 'reversed'],
  // Approved by the network, or collected, nevertheless.
  failed: ['pending', 'completed', 'reversed'],
  // Given back whole; an account check that the network collects for waits for the last clearing.
  completed: ['reversed', 'pending'],
  // Collected after all.
  reversed: ['pending', 'completed'],
};

export const isLegal = (from: string, to: string, { isVerification }: { isVerification: boolean }): boolean =>
  legalMoves[from]?.includes(to) === true && (from !== 'completed' || to !== 'pending' || isVerification);

export const modelFundsCents = 20_000;
/** On one wallet: free within limits; only for intents; free up to an amount, above which a person decides. */
export const modelAgents = (): ModelAgent[] => [
  { terms: { maxTransactionCents: 4_000, dailyLimitCents: 9_000, monthlyLimitCents: 12_000 }, status: 'active' },
  {
    terms: { requireIntent: true, amountTolerancePercent: 20, dailyLimitCents: 12_000, autoApproveLimitCents: 2_000 },
    status: 'active',
  },
  { terms: { maxTransactionCents: 3_200, dailyLimitCents: 8_000, autoApproveLimitCents: 1_100 }, status: 'active' },
];
