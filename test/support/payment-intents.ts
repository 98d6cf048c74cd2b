/**
 * The intents of the model: what may be paid for them, what pays for them, the windows of recurring ones, requests to
 * a person about a declined charge, and what owner and agent may do with them.
 * @module
 */
import type { TransactionChange } from '../../src/domains/payments/transactions/transaction.rules.ts';
import { day, minute } from '../../src/kernel/instant.ts';
import { declarationRefusal, type PayingIntent, type Situation } from './payment-decisions.ts';
import { lastOfLine, type ModelCard, type paymentHolders } from './payment-holders.ts';
import type { Declaration, ModelIntent, Payment } from './payment-shapes.ts';
import { type ModelWindow, windowsOf } from './payment-windows.ts';

/** The longest list of intents that an agent may have open, and the longest that may wait for a person. */
const mostOpen = 100;
const mostWaiting = 20;
export const personDecidesMs = day;
/** How long a retry passes after a person's approval, or the owner's permission. */
const allowedMs = 15 * minute;

export type Ending = Pick<TransactionChange, 'completes' | 'isFullyReversed'>;
type Surroundings = {
  readonly clock: { at: Date };
  readonly cards: readonly ModelCard[];
  readonly holders: ReturnType<typeof paymentHolders>;
  readonly payments: ReadonlyMap<string, Payment>;
  readonly situationOf: (card: number, on: Date, except: Payment | undefined) => Situation;
  readonly fault: (what: string) => void;
  /** Counts what has happened. */
  readonly note: (what: string) => void;
};

export function paymentIntents({ clock, cards, holders, payments, situationOf, fault, note }: Surroundings) {
  const intents: ModelIntent[] = [];
  const isPast = ({ expiresAtMs, matchedBy }: ModelIntent): boolean =>
    matchedBy === null && expiresAtMs <= clock.at.getTime();
  /** Something may be paid for it; of a recurring one, in a window. */
  const isOpen = (intent: ModelIntent): boolean =>
    intent.status === 'approved' && intent.matchedBy === null && intent.expiresAtMs > clock.at.getTime();
  /** Nothing pays for these at their deadline. Answers whether there are any. */
  function expireIntents(): boolean {
    const due = intents.filter((one) => ['pending_approval', 'approved'].includes(one.status) && isPast(one));
    for (const intent of due) intent.status = 'expired';
    return due.length > 0;
  }
  const isWaiting = (intent: ModelIntent): boolean => intent.status === 'pending_approval' && !isPast(intent);

  const windowsIn = ({ recurring, expiresAtMs }: ModelIntent): ModelWindow[] =>
    recurring === null || recurring.approvedAtMs === null
      ? []
      : windowsOf({ rhythm: recurring.rhythm, approvedAtMs: recurring.approvedAtMs, endsAtMs: expiresAtMs });
  const windowAt = (intent: ModelIntent, atMs: number): ModelWindow | undefined =>
    windowsIn(intent).find(({ fromMs, toMs }) => fromMs <= atMs && atMs < toMs);
  /** The current or next one that nothing pays for. */
  const nextWindow = (intent: ModelIntent): ModelWindow | undefined =>
    windowsIn(intent).find(({ number, toMs }) => toMs > clock.at.getTime() && !intent.recurring?.paid.has(number));
  function mayBeCharged(intent: ModelIntent): boolean {
    if (!isOpen(intent)) return false;
    if (intent.recurring === null) return true;
    const window = windowAt(intent, clock.at.getTime());
    return window !== undefined && !intent.recurring.paid.has(window.number);
  }

  const paying = ({ id, amountCents, isNamed, isByPerson, recurring, allows }: ModelIntent): PayingIntent => ({
    ...{ id, amountCents, isNamed, isByPerson, isRecurring: recurring !== null },
    ownTolerancePercent: recurring?.tolerancePercent ?? (allows === null ? undefined : 0),
  });
  const byId = (id: string | null): ModelIntent | null => intents.find((intent) => intent.id === id) ?? null;

  function match(payment: Payment, intent: ModelIntent): void {
    payment.intent = intent;
    if (intent.recurring !== null) {
      const window = windowAt(intent, clock.at.getTime());
      if (window === undefined) fault(`intent ${intent.id} has no window to be charged in`);
      else intent.recurring.paid.set(window.number, { status: 'matched', paidBy: payment.authorizationId });
      note('window paid');
      return;
    }
    if (intent.status !== 'approved' || intent.matchedBy !== null) fault(`intent ${intent.id} is not free`);
    intent.matchedBy = payment.authorizationId;
  }

  /** What a person may have approved about a declined charge, else the intent that it was for. */
  function meantBy(payment: Payment): ModelIntent | null {
    const { authorizationId, requestedCents, approvedCents, intent, meant } = payment;
    const isApproved = (one: ModelIntent): boolean => one.status === 'approved';
    const allowing = intents.find((one) => isApproved(one) && one.allows === authorizationId);
    if (allowing !== undefined) return allowing;
    const isUnpaid = intent === null && approvedCents === 0;
    const asked = isUnpaid
      ? intents.find((one) => isApproved(one) && isAbout(one, payment, requestedCents))
      : undefined;
    return asked ?? meant;
  }
  /** A person was asked about a charge like this one. */
  const isAbout = (one: ModelIntent, { card }: Payment, amountCents: number): boolean =>
    one.asksAbout !== null && one.agent === cards[card]?.agent && one.amountCents === amountCents;

  /** The network has approved or collected it: nobody is asked any more. */
  function cancelRequests(payment: Payment): void {
    if (payment.intent !== null || payment.approvedCents !== 0) return;
    for (const one of intents) {
      if (one.status !== 'pending_approval' || !isAbout(one, payment, payment.requestedCents)) continue;
      one.status = 'cancelled';
      note('request that is over');
    }
  }

  /** The window that the charge fell in, if it is not over and nothing else pays for it. */
  function payWindow(payment: Payment, intent: ModelIntent): void {
    const { recurring } = intent;
    if (recurring === null) return;
    if (!isPaying(payment, intent)) {
      const window = windowAt(intent, (payment.authorizedAt ?? clock.at).getTime());
      if (window === undefined || window.toMs <= clock.at.getTime() || intent.status !== 'approved') return;
      if (recurring.paid.has(window.number)) return;
      recurring.paid.set(window.number, { status: 'matched', paidBy: payment.authorizationId });
      note('window paid nevertheless');
    }
    payment.intent = intent;
  }

  const isPaying = ({ authorizationId }: Payment, { recurring, status, matchedBy }: ModelIntent): boolean =>
    recurring === null
      ? status === 'approved' && matchedBy === authorizationId
      : [...recurring.paid.values()].some(({ paidBy }) => paidBy === authorizationId);
  function settleWindow({ authorizationId }: Payment, intent: ModelIntent, ending: Ending): void {
    for (const [number, window] of intent.recurring?.paid ?? []) {
      if (window.paidBy !== authorizationId || window.status !== 'matched') continue;
      if (ending.completes) window.status = 'completed';
      else if (ending.isFullyReversed) intent.recurring?.paid.delete(number);
      else continue;
      note(ending.completes ? 'window completed' : 'window free again');
    }
  }

  function tellIntent(payment: Payment, ending: Ending): void {
    const isCollected = payment.clearedCents > 0;
    if (isCollected) cancelRequests(payment);
    const intent = payment.intent ?? (isCollected ? meantBy(payment) : null);
    if (intent === null || !(isCollected || ending.isFullyReversed)) return;
    // Money that comes after the last clearing completes what it is matched with only then.
    const ended = { ...ending, completes: ending.completes || (payment.isFinal && isCollected) };
    if (intent.recurring !== null) {
      if (isCollected) payWindow(payment, intent);
      settleWindow(payment, intent, ended);
    } else tellOneTime(payment, intent, ended);
  }
  function tellOneTime(payment: Payment, intent: ModelIntent, ending: Ending): void {
    if (intent.status !== 'approved') return;
    if (payment.clearedCents > 0 && isOpen(intent)) match(payment, intent);
    if (intent.matchedBy !== payment.authorizationId) return;
    payment.intent = intent;
    if (ending.completes) intent.status = 'completed';
    if (!ending.isFullyReversed) return;
    intent.matchedBy = null;
    // A permission is for one attempt, whatever became of it.
    if (intent.allows === null) return;
    intent.status = 'cancelled';
    note('permission used up');
  }
  const hasRoom = (agent: number, isPending: boolean): boolean => {
    const ofAgent = intents.filter((intent) => intent.agent === agent);
    const isLive = (intent: ModelIntent): boolean =>
      intent.matchedBy !== null || intent.expiresAtMs > clock.at.getTime();
    const open = ofAgent.filter((one) => ['pending_approval', 'approved'].includes(one.status) && isLive(one));
    return open.length < mostOpen && (!isPending || ofAgent.filter(isWaiting).length < mostWaiting);
  };

  /** Once about the same amount, and not again within the day after a person has said no. */
  function askPerson({ authorizationId, card: charged, status, clearedCents, requestedCents }: Payment): void {
    const card = lastOfLine(cards, charged);
    const { agent, status: cardStatus } = holders.cardAt(card);
    if (status !== 'failed' || clearedCents > 0 || cardStatus === 'closed') return;
    const isAsked = intents.some(
      (one) =>
        one.card === card &&
        one.amountCents === requestedCents &&
        ((isWaiting(one) && one.isNamed) ||
          (one.status === 'denied' && one.asksAbout !== null && one.expiresAtMs > clock.at.getTime())),
    );
    if (isAsked || !hasRoom(agent, true)) return;
    add({
      ...{ agent, card, amountCents: requestedCents, isNamed: true, asksAbout: authorizationId },
      expiresAtMs: clock.at.getTime() + personDecidesMs,
      status: 'pending_approval',
    });
  }

  type Fresh = Pick<ModelIntent, 'agent' | 'card' | 'amountCents' | 'isNamed' | 'expiresAtMs' | 'status'>;
  function add(fresh: Fresh & Partial<ModelIntent>): ModelIntent {
    const intent: ModelIntent = {
      ...{ matchedBy: null, isByPerson: false, asksAbout: null, allows: null, recurring: null },
      id: `new_${intents.length}`,
      createdAtMs: clock.at.getTime(),
      ...fresh,
    };
    intents.push(intent);
    return intent;
  }

  function payNevertheless(payment: Payment): void {
    cancelRequests(payment);
    const intent = payment.intent ?? meantBy(payment);
    if (intent === null) return;
    if (intent.recurring !== null) payWindow(payment, intent);
    else if (isOpen(intent)) match(payment, intent);
  }

  /** The rules for a plan: money and intents are not asked for yet, and open intents count as spent. */
  function planRefusal(card: number, amountCents: number) {
    const situation = situationOf(card, clock.at, undefined);
    const { agent } = holders.cardAt(card);
    const open = intents.filter((intent) => intent.agent === agent && isOpen(intent));
    const sum = (isCounted: (startsAtMs: number) => boolean): number =>
      open
        .filter((intent) => {
          const window = nextWindow(intent);
          return intent.recurring === null || (window !== undefined && isCounted(window.fromMs));
        })
        .reduce((total, intent) => total + intent.amountCents, 0);
    const tomorrow = new Date(Date.UTC(clock.at.getUTCFullYear(), clock.at.getUTCMonth(), clock.at.getUTCDate() + 1));
    const nextMonth = new Date(Date.UTC(clock.at.getUTCFullYear(), clock.at.getUTCMonth() + 1, 1));
    const planned = {
      ...situation,
      spentTodayCents: situation.spentTodayCents + sum((startsAtMs) => startsAtMs < tomorrow.getTime()),
      spentThisMonthCents: situation.spentThisMonthCents + sum((startsAtMs) => startsAtMs < nextMonth.getTime()),
    };
    return declarationRefusal(planned, amountCents);
  }

  function declare({ agent, card: named, amountCents, isNamed, ttlMs, recurring }: Declaration, now: Date) {
    clock.at = now;
    if (holders.agentAt(agent).status !== 'active') return { status: 403 };
    const card = named ?? holders.firstCardOf(agent);
    if (holders.cardAt(card).status === 'closed') return { status: 400 };
    const refused = planRefusal(card, amountCents);
    const isPending = refused?.asksPerson === true;
    const status = refused === undefined ? 'approved' : isPending ? 'pending_approval' : 'denied';
    if (status !== 'denied' && !hasRoom(agent, isPending)) return { status: 400 };
    const approvedAtMs = status === 'approved' ? clock.at.getTime() : null;
    const intent = add({
      ...{ agent, card, amountCents, isNamed, status },
      expiresAtMs: clock.at.getTime() + ttlMs,
      recurring: recurring === null ? null : { ...recurring, approvedAtMs, paid: new Map() },
    });
    return { status: 201, intent };
  }

  /** The owner approves: the rules are asked again. */
  function approve(intent: ModelIntent, now: Date): number {
    clock.at = now;
    if (intent.status === 'approved') return 200;
    if (!isWaiting(intent)) return 400;
    const refused = planRefusal(intent.card, intent.amountCents);
    if (refused !== undefined && refused.asksPerson !== true) return 403;
    Object.assign(intent, { status: 'approved', isByPerson: true });
    if (intent.asksAbout !== null) intent.expiresAtMs = clock.at.getTime() + allowedMs;
    if (intent.recurring !== null) intent.recurring.approvedAtMs = clock.at.getTime();
    return 200;
  }
  function deny(intent: ModelIntent, now: Date): number {
    clock.at = now;
    if (intent.status === 'denied') return 200;
    if (!isWaiting(intent)) return 400;
    intent.status = 'denied';
    return 200;
  }
  function cancel(intent: ModelIntent, now: Date): number {
    clock.at = now;
    if (intent.status === 'cancelled') return 200;
    if (!isOpen(intent) && !isWaiting(intent)) return 400;
    intent.status = 'cancelled';
    return 200;
  }

  function wrongIn(intent: ModelIntent): string[] {
    const { id, matchedBy, status, recurring } = intent;
    const found: string[] = [];
    const payer = payments.get(matchedBy ?? '');
    if (matchedBy !== null && payer?.intent !== intent) found.push(`intent ${id} is matched by a stranger`);
    if (status === 'completed' && payer?.clearedCents === 0) found.push(`intent ${id} is completed for nothing`);
    const isOver = payer !== undefined && payer.status !== 'pending' && payer.status !== 'completed';
    if (status === 'approved' && isOver) found.push(`intent ${id} waits for a payment that is ${payer?.status}`);
    if (intent.allows !== null && status === 'approved' && !intent.isByPerson)
      found.push(`${id} was allowed by nobody`);
    const payers = [...(recurring?.paid.values() ?? [])].map(({ paidBy }) => paidBy);
    if (new Set(payers).size < payers.length) found.push(`a payment pays for two windows of intent ${id}`);
    if (payers.some((one) => payments.get(one)?.intent !== intent))
      found.push(`a window of ${id} is paid by a stranger`);
    return found;
  }

  /** Open intents become the new card's, also what is being paid for; holds stay with the old one. */
  function reassign(from: number, to: number): void {
    for (const intent of intents) {
      if (intent.card !== from || !['pending_approval', 'approved'].includes(intent.status)) continue;
      intent.card = to;
      note('intent of a rotated card');
    }
  }

  return {
    ...{ intents, allowedMs, isOpen, isWaiting, mayBeCharged, windowsIn, expireIntents, paying, isPaying, byId, match },
    ...{ tellIntent, payNevertheless, askPerson, hasRoom, add, declare, approve, deny, cancel, reassign, wrongIn },
  };
}
