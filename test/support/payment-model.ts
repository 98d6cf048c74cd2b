/**
 * The model of card payments: what Bursar must answer to each message of the network, and what is held, collected and
 * owed after it, in memory and on one wallet. Decisions are the product's pure rules; the order of messages, repeats, what
 * waits, intents and expiry are told here once more, without locks, rows and SQL. `wrong` finds what must never be.
 * @module
 */
import { adviseDecision } from '../../src/domains/payments/network/advice.rules.ts';
import {
  type Candidate,
  type Decision,
  type DecisionFacts,
  decideAuthorization,
  noPriorMessages,
  type PriorMessages,
} from '../../src/domains/payments/network/authorization.rules.ts';
import { decideIncrement } from '../../src/domains/payments/network/increment.rules.ts';
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
} from '../../src/domains/payments/transactions/transaction.rules.ts';
import { moveIntent } from '../../src/domains/spending/intents/intent.rules.ts';
import { noSpending, type Policy } from '../../src/domains/spending/policies/policy.rules.ts';
import { defaultTerms } from '../../src/domains/spending/policies/preset.rules.ts';
import { day } from '../../src/kernel/instant.ts';
import { add, cents, zero } from '../../src/kernel/money.ts';

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
  /** Of an advice: what the network had asked for. */
  readonly authorization?: Message;
};
export type Answer = {
  readonly status: 200 | 409;
  readonly decision?: Decision['outcome'];
  readonly approvedCents?: number;
  readonly rule?: string;
};
export type ModelCard = { readonly terms: Partial<Policy>; isFrozen: boolean };
export type ModelIntent = {
  readonly id: string;
  readonly card: number;
  readonly amountCents: number;
  readonly expiresAt: number;
  status: 'approved' | 'completed' | 'cancelled';
  matchedBy: string | null;
};
export type Payment = TransactionState & {
  readonly authorizationId: string;
  readonly card: number;
  readonly isVerification: boolean;
  /** What the authorization asked for. */
  requestedCents: number;
  /** False while only its clearings have come. */
  isAnswered: boolean;
  intentId: string | null;
  /** The intent that a declined charge was for. */
  meant: string | null;
  declineRule: string | null;
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
/** Two agents that draw on one wallet: one may pay freely within limits, the other only for intents. */
export const modelCards = (): ModelCard[] => [
  { terms: { maxTransactionCents: 4_000, dailyLimitCents: 9_000, monthlyLimitCents: 30_000 }, isFrozen: false },
  { terms: { requireIntent: true, amountTolerancePercent: 20, dailyLimitCents: 12_000 }, isFrozen: false },
];

export type PaymentModel = ReturnType<typeof paymentModel>;

export function paymentModel({ fundsCents, cards }: { fundsCents: number; cards: readonly ModelCard[] }) {
  const payments = new Map<string, Payment>();
  const intents: ModelIntent[] = [];
  const waiting: { message: Message; receivedAt: number }[] = [];
  const known = new Map<string, { message: Message; answer: Answer }>();
  const faults: string[] = [];
  let refundedCents = 0;
  let at = new Date(0);

  const sumOf = (field: 'heldCents' | 'clearedCents'): number =>
    [...payments.values()].reduce((sum, payment) => sum + payment[field], 0);
  /** A credit settles what is owed first, so there is never money beside a debt. */
  const balances = () => {
    const net = fundsCents + refundedCents - sumOf('clearedCents') - sumOf('heldCents');
    return { available: Math.max(0, net), held: sumOf('heldCents'), receivable: Math.max(0, -net) };
  };

  function save(payment: Payment, next: TransactionState): void {
    if (next.status !== payment.status && !isLegal(payment.status, next.status, payment))
      faults.push(`${payment.authorizationId} went from ${payment.status} to ${next.status}`);
    const { status, type, amountCents, approvedCents, heldCents } = next;
    Object.assign(payment, { status, type, amountCents, approvedCents, heldCents });
    const { clearedCents, reversedCents, refundedCents: givenBackCents, isFinal } = next;
    Object.assign(payment, { clearedCents, reversedCents, refundedCents: givenBackCents, isFinal });
  }

  const spentOf = ({ heldCents, clearedCents }: Payment): number => heldCents + clearedCents;
  function counters(card: number, on: Date, except: Payment | undefined) {
    const [dayOf, monthOf] = [
      (date: Date) => date.toISOString().slice(0, 10),
      (date: Date) => date.toISOString().slice(0, 7),
    ];
    const counted = [...payments.values()].filter(
      (payment) => payment !== except && payment.card === card && spentOf(payment) > 0 && payment.authorizedAt !== null,
    );
    const sum = (isCounted: (date: Date) => boolean): number =>
      counted
        .filter(({ authorizedAt }) => isCounted(authorizedAt as Date))
        .reduce((total, one) => total + spentOf(one), 0);
    return {
      ...noSpending,
      spentTodayCents: sum((date) => dayOf(date) === dayOf(on)),
      spentThisMonthCents: sum((date) => monthOf(date) === monthOf(on)),
    };
  }

  const candidateOf = ({ id, amountCents }: ModelIntent): Candidate => ({
    id,
    expectedAmountCents: amountCents,
    expectedMerchant: null,
    isAutoApproved: true,
    attestedAt: null,
  });
  const isOpen = (intent: ModelIntent): boolean =>
    intent.status === 'approved' && intent.matchedBy === null && intent.expiresAt > at.getTime();

  function factsFor(message: Message, over: Partial<DecisionFacts>, except: Payment | undefined): DecisionFacts {
    const { terms, isFrozen } = cards[message.card] as ModelCard;
    const amountCents = message.amountCents ?? 0;
    return {
      spending: {
        at,
        policy: {
          id: 'po_aaaaaaaa',
          version: 1,
          ...defaultTerms,
          requireIntent: false,
          name: 'rules',
          updatedAt: at,
          ...terms,
        },
        agent: { status: isFrozen ? 'frozen' : 'active' },
        card: {
          status: 'active',
          usage: 'multi',
          isProvisioning: false,
          controls: null,
          limits: { maxTransactionCents: null, dailyLimitCents: null, monthlyLimitCents: null },
        },
        request: {
          amountCents,
          merchant: { id: 'sandbox-shop', name: 'Sandbox Shop' },
          mcc: '5734',
          country: 'DE',
          kind: amountCents === 0 ? 'verification' : 'purchase',
        },
        counters: counters(message.card, except?.authorizedAt ?? at, except),
        phase: 'charge',
        risk: { outcome: 'allow', signals: [] },
      },
      candidates: intents.filter((intent) => intent.card === message.card && isOpen(intent)).map(candidateOf),
      token: null,
      availableCents: balances().available,
      partialSupported: message.partialSupported === true,
      before: noPriorMessages,
      ...over,
    };
  }

  const moved = (intent: ModelIntent, kind: 'match' | 'unmatch' | 'complete' | 'cancel'): void => {
    const { status, matchedBy: matchedTransactionId } = intent;
    const state = { status, matchedTransactionId, transferId: null, openPaymentId: null, isRecurring: false };
    const move = moveIntent(state, kind, false);
    if (move.outcome !== 'moved') faults.push(`intent ${intent.id}, ${status}, does not ${kind}`);
    else intent.status = move.next as ModelIntent['status'];
  };
  const intentOf = (id: string | null): ModelIntent | undefined => intents.find((intent) => intent.id === id);
  const match = (payment: Payment, intent: ModelIntent): void => {
    moved(intent, 'match');
    intent.matchedBy = payment.authorizationId;
    payment.intentId = intent.id;
  };

  function tellIntent(payment: Payment, ending: Pick<TransactionChange, 'completes' | 'isFullyReversed'>): void {
    const isCollected = payment.clearedCents > 0;
    const intent = intentOf(payment.intentId ?? (isCollected ? payment.meant : null));
    if (intent === undefined || intent.status !== 'approved' || !(isCollected || ending.isFullyReversed)) return;
    if (isCollected && isOpen(intent)) match(payment, intent);
    if (intent.matchedBy !== payment.authorizationId) return;
    payment.intentId = intent.id;
    if (ending.completes) moved(intent, 'complete');
    if (!ending.isFullyReversed) return;
    moved(intent, 'unmatch');
    intent.matchedBy = null;
  }

  function bookClearing(payment: Payment, amountCents: number, isFinal: boolean): void {
    const change = clear(payment, { amountCents, isFinal });
    if (isFinal) payment.hasFinalClearing = true;
    const { status, clearedCents, heldCents, isFinal: ends } = change.next;
    const isNothing =
      status === payment.status && clearedCents === payment.clearedCents && heldCents === payment.heldCents;
    if (isNothing && ends === payment.isFinal) return;
    if (status === 'pending' && !(payment.holdExpiresAt !== null && payment.holdExpiresAt > at)) {
      payment.holdExpiresAt = holdExpiry({ mcc: '5734', at });
    }
    payment.authorizedAt ??= at;
    save(payment, change.next);
    tellIntent(payment, change);
  }
  function bookGivenBack(payment: Payment, change: TransactionChange): void {
    if (change.next === payment) return; // It had ended before.
    save(payment, change.next);
    tellIntent(payment, change);
  }
  function bookReversal(payment: Payment, amountCents: number | undefined): void {
    const isNamed = payment.approvedCents === 0 && amountCents !== undefined && payment.reversedBefore !== null;
    payment.reversedBefore = isNamed ? Number(payment.reversedBefore) + amountCents : null;
    bookGivenBack(payment, reverse(payment, amountCents));
  }
  function bookRefund(payment: Payment | undefined, amountCents: number): void {
    refundedCents += amountCents;
    if (payment !== undefined) save(payment, refund(payment, amountCents));
  }
  function bookWaiting(payment: Payment): void {
    for (const { message } of takeWaiting((one) => one.about === payment.authorizationId)) {
      const { kind, amountCents, isFinal } = message;
      if (kind === 'clearing') bookClearing(payment, amountCents ?? 0, isFinal === true);
      else if (kind === 'refund') bookRefund(payment, amountCents ?? 0);
      else {
        bookReversal(payment, amountCents);
      }
    }
  }
  function takeWaiting(isWanted: (message: Message) => boolean) {
    const taken = waiting.filter(({ message }) => isWanted(message));
    for (const one of taken) waiting.splice(waiting.indexOf(one), 1);
    return taken;
  }

  const blank = (message: Pick<Message, 'card'>, authorizationId: string): Payment => ({
    ...{ status: 'pending', type: 'authorization', amountCents: 0, approvedCents: 0, heldCents: 0, clearedCents: 0 },
    ...{ reversedCents: 0, refundedCents: 0, isFinal: false, isVerification: false, isAnswered: false },
    ...{ intentId: null, meant: null, declineRule: null, holdExpiresAt: null, authorizedAt: null },
    ...{ incrementedCents: 0, reversedBefore: 0, requestedCents: 0, hasFinalClearing: false },
    authorizationId,
    card: message.card,
  });

  function before(message: Message, orphan: Payment | undefined): PriorMessages {
    if (orphan !== undefined) {
      const { reversedBefore, clearedCents, isFinal, hasFinalClearing } = orphan;
      return {
        collectedCents: cents(clearedCents),
        isFinal: isFinal || hasFinalClearing,
        reversals: { cents: reversedBefore ?? 0, isWhole: reversedBefore === null },
        isBooked: true,
      };
    }
    const early = waiting.map((one) => one.message).filter((one) => one.about === message.id);
    const reversals = early.filter(({ kind }) => kind === 'reversal');
    const clearings = early.filter(({ kind }) => kind === 'clearing');
    return {
      collectedCents: add(...clearings.map(({ amountCents }) => amountCents ?? 0)),
      isFinal: clearings.some(({ isFinal }) => isFinal === true),
      reversals: {
        cents: reversals.reduce((sum, { amountCents = 0 }) => sum + amountCents, 0),
        isWhole: reversals.some(({ amountCents }) => amountCents === undefined),
      },
      isBooked: false,
    };
  }

  type Overrule = (decision: Decision, facts: DecisionFacts) => Decision;
  function authorize(message: Message, overrule: Overrule = (decision) => decision): Answer {
    const orphan = payments.get(message.id);
    const facts = factsFor(message, { before: before(message, orphan) }, orphan);
    // A charge counts on its own day, also where a part of it was collected earlier.
    const ofToday = { ...facts, spending: { ...facts.spending, counters: counters(message.card, at, orphan) } };
    const decision = overrule(decideAuthorization(ofToday), ofToday);
    const { outcome, approvedCents, holdCents, rule, candidate } = decision;
    const isDeclined = outcome === 'declined';
    const isVerification = message.amountCents === 0;
    const payment = orphan ?? blank(message, message.id);
    payments.set(message.id, payment);
    payment.isAnswered = true;
    payment.requestedCents = message.amountCents ?? 0;
    payment.meant = candidate?.id ?? null;
    payment.declineRule = isDeclined ? rule : null;
    if (orphan === undefined) {
      Object.assign(payment, {
        status: isDeclined ? 'failed' : isVerification ? 'completed' : 'pending',
        amountCents: isDeclined ? message.amountCents : approvedCents,
        isVerification,
        authorizedAt: isDeclined ? null : at,
        holdExpiresAt: isDeclined || isVerification ? null : holdExpiry({ mcc: '5734', at }),
      });
    } else {
      if (holdCents > 0) {
        const amountCents = add(orphan.clearedCents, holdCents);
        save(payment, { ...payment, status: 'pending', amountCents });
        payment.holdExpiresAt = holdExpiry({ mcc: '5734', at });
      }
      if (!isDeclined) payment.authorizedAt = at;
    }
    Object.assign(payment, { approvedCents, heldCents: holdCents });
    const intent = isDeclined ? undefined : intentOf(candidate?.id ?? null);
    if (intent !== undefined && payment.intentId === null) match(payment, intent);
    bookWaiting(payment);
    if (orphan !== undefined) {
      tellIntent(payment, { completes: payment.isFinal && payment.heldCents === 0, isFullyReversed: false });
    }
    return { status: 200, decision: outcome, approvedCents, rule };
  }

  function increment(message: Message): Answer {
    const payment = payments.get(message.about ?? '');
    const declined = (rule: string): Answer => ({ status: 200, decision: 'declined', approvedCents: 0, rule });
    if (payment === undefined || !payment.isAnswered) return declined('no_authorization');
    const own = intentOf(payment.intentId);
    const card = factsFor(message, { candidates: own === undefined ? [] : [candidateOf(own)] }, payment);
    const decision = decideIncrement({ payment, amountCents: message.amountCents ?? 0, card });
    const { outcome, approvedCents, rule } = decision;
    if (approvedCents > 0) {
      save(payment, increase(payment, approvedCents));
      payment.incrementedCents += approvedCents;
      const expiry = holdExpiry({ mcc: '5734', at });
      if (payment.holdExpiresAt === null || payment.holdExpiresAt < expiry) payment.holdExpiresAt = expiry;
    }
    return { status: 200, decision: outcome, approvedCents, rule };
  }

  function adviceOn(message: Message): void {
    const { authorization, amountCents: advised = 0 } = message;
    const payment = payments.get(message.about ?? '');
    if (authorization === undefined) return;
    if (payment === undefined || !payment.isAnswered) {
      const answer = authorize(authorization, (decision, facts) => adviseDecision(decision, facts, advised));
      known.set(`authorization/${authorization.id}`, { message: authorization, answer });
      return;
    }
    const isUnapproved = payment.approvedCents === 0;
    const reversedCents = isUnapproved ? payment.reversedBefore : payment.reversedCents;
    const approvedCents = advised + payment.incrementedCents;
    if (reversedCents === null || (isUnapproved && reversedCents > 0 && reversedCents >= approvedCents)) return;
    const state = { ...payment, reversedCents };
    if (advise(state, { approvedCents, availableCents: 0 }) === state) return;
    if (payment.status === 'failed') {
      const intent = intentOf(payment.intentId ?? payment.meant);
      if (intent !== undefined && isOpen(intent)) match(payment, intent);
    }
    const next = advise(state as TransactionState, { approvedCents, availableCents: balances().available });
    const { status, amountCents, approvedCents: approved, heldCents } = next;
    save(payment, { ...state, status, amountCents, approvedCents: approved, heldCents });
    payment.authorizedAt ??= at;
    const expiry = holdExpiry({ mcc: '5734', at });
    if (payment.holdExpiresAt === null || payment.holdExpiresAt < expiry) payment.holdExpiresAt = expiry;
  }

  function book(message: Message): Answer {
    const { kind, about, amountCents } = message;
    const payment = about === null ? undefined : payments.get(about);
    if (payment !== undefined && payment.card !== message.card) return { status: 409 };
    if (kind === 'advice') adviceOn(message);
    else if (payment === undefined) {
      if (about === null) bookRefund(undefined, amountCents ?? 0);
      else waiting.push({ message, receivedAt: at.getTime() });
    } else if (kind === 'clearing') bookClearing(payment, amountCents ?? 0, message.isFinal === true);
    else if (kind === 'refund') bookRefund(payment, amountCents ?? 0);
    else {
      bookReversal(payment, amountCents);
    }
    return { status: 200 };
  }

  return {
    ...{ payments, intents, waiting, cards, balances },
    /** The same message gets the same answer. */
    send(message: Message, now: Date): Answer {
      at = now;
      const key = `${message.kind}/${message.id}`;
      const before = known.get(key);
      if (before !== undefined) return before.answer;
      const answer =
        message.kind === 'authorization'
          ? authorize(message)
          : message.kind === 'increment'
            ? increment(message)
            : book(message);
      known.set(key, { message, answer });
      return answer;
    },
    declare(intent: Pick<ModelIntent, 'id' | 'card' | 'amountCents' | 'expiresAt'>): void {
      intents.push({ ...intent, status: 'approved', matchedBy: null });
    },
    /** Whether the owner's cancel is taken. */
    cancel(intent: ModelIntent, now: Date): boolean {
      at = now;
      if (!isOpen(intent)) return false;
      moved(intent, 'cancel');
      return true;
    },
    /** What time alone does. */
    sweep(now: Date): void {
      at = now;
      for (const payment of payments.values()) {
        const { status, holdExpiresAt } = payment;
        if (status === 'pending' && holdExpiresAt !== null && holdExpiresAt <= at)
          bookGivenBack(payment, expire(payment));
      }
      const old = waiting.filter(({ receivedAt }) => receivedAt <= at.getTime() - day);
      for (const { message } of old) {
        if (message.kind !== 'clearing' || message.amountCents === 0 || payments.has(message.about ?? '')) continue;
        const payment = blank(message, message.about ?? '');
        payments.set(payment.authorizationId, payment);
        bookWaiting(payment);
      }
      const refunds = takeWaiting((one) => one.kind === 'refund' && old.some(({ message }) => message === one));
      for (const { message } of refunds) bookRefund(undefined, message.amountCents ?? 0);
    },
    /** What must never be, whatever came in whatever order. */
    wrong(): string[] {
      const found = [...faults];
      const ofIntent = new Map<string, number>();
      for (const payment of payments.values()) {
        const { authorizationId: id, status, heldCents, clearedCents, reversedCents, approvedCents, isFinal } = payment;
        if (Math.min(heldCents, clearedCents, reversedCents) < zero) found.push(`${id} has less than nothing`);
        if (heldCents > 0 && status !== 'pending') found.push(`${id} is ${status} and holds ${heldCents}`);
        if (heldCents > 0 && isFinal) found.push(`${id} holds after its last clearing`);
        if (heldCents > 0 && heldCents + reversedCents > approvedCents)
          found.push(`${id} holds more than was approved`);
        if (status === 'failed' && clearedCents > 0) found.push(`${id} failed and was collected`);
        // What is collected after a full reversal keeps the name of an intent that pays for another one by then.
        if (payment.intentId !== null && heldCents > 0)
          ofIntent.set(payment.intentId, (ofIntent.get(payment.intentId) ?? 0) + 1);
      }
      for (const [intentId, count] of ofIntent)
        if (count > 1) found.push(`intent ${intentId} pays for ${count} payments`);
      for (const { id, matchedBy, status } of intents) {
        const payer = payments.get(matchedBy ?? '');
        if (matchedBy !== null && payer?.intentId !== id) found.push(`intent ${id} is matched by a stranger`);
        if (status === 'completed' && payer?.clearedCents === 0) found.push(`intent ${id} is completed for nothing`);
        if (status === 'approved' && payer !== undefined && payer.status !== 'pending' && payer.status !== 'completed')
          found.push(`intent ${id} waits for a payment that is ${payer.status}`);
      }
      return found;
    },
  };
}
