/**
 * The model of card payments: what Bursar must answer to each message of the network and to each command of an owner
 * or an agent, and what is held, collected and owed after it, in memory and on one wallet, without locks, rows and
 * SQL. Decisions are its own; the arithmetic of one transaction is the product's. `wrong` finds what must never be.
 * @module
 */
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
import { day } from '../../src/kernel/instant.ts';
import {
  type Ask,
  type Decided,
  decideCharge,
  decideIncrease,
  type Earlier,
  type IncrementAsk,
  isLiftable,
  nothingEarlier,
  outstandingCents,
  type PayingIntent,
  type Situation,
} from './payment-decisions.ts';
import { chargeDifference, incrementDifference } from './payment-differences.ts';
import { firstCards, type ModelAgent, type ModelCard, paymentHolders } from './payment-holders.ts';
import { type Ending, paymentIntents, personDecidesMs } from './payment-intents.ts';
import { type Answer, isLegal, type Message, type ModelIntent, type Payment } from './payment-shapes.ts';

const allowableMs = 7 * day;

export type PaymentModel = ReturnType<typeof paymentModel>;

export function paymentModel({ fundsCents, agents }: { fundsCents: number; agents: readonly ModelAgent[] }) {
  const cards: ModelCard[] = firstCards(agents);
  const holders = paymentHolders(agents, cards);
  const payments = new Map<string, Payment>();
  const waiting: { message: Message; receivedAt: number }[] = [];
  const known = new Map<string, { message: Message; answer: Answer }>();
  const faults: string[] = [];
  /** Raised although their intent pays for another payment by then. */
  let refundedCents = 0;
  const clock = { at: new Date(0) };
  const noted: Record<string, number> = {};
  const note = (what: string): void => {
    noted[what] = (noted[what] ?? 0) + 1;
  };

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
  const dayOf = (date: Date): string => date.toISOString().slice(0, 10);
  const monthOf = (date: Date): string => date.toISOString().slice(0, 7);

  /** Of the card and its agent, as of that day, without the payment that is decided on. */
  function situationOf(card: number, on: Date, except: Payment | undefined): Situation {
    const { agent, status, usage, earlier } = holders.cardAt(card);
    const { terms, status: agentStatus } = holders.agentAt(agent);
    const spent = [...payments.values()].filter((payment) => payment !== except && spentOf(payment) > 0);
    const ofAgent = spent.filter((payment) => cards[payment.card]?.agent === agent);
    const sum = (isCounted: (date: Date) => boolean): number =>
      ofAgent
        .filter(({ authorizedAt }) => authorizedAt !== null && isCounted(authorizedAt))
        .reduce((total, payment) => total + spentOf(payment), 0);
    const line = [...earlier, card];
    return {
      ...{ terms, agent: agentStatus, card: status },
      isUsedUp: usage === 'single' && spent.some((payment) => line.includes(payment.card)),
      spentTodayCents: sum((date) => dayOf(date) === dayOf(on)),
      spentThisMonthCents: sum((date) => monthOf(date) === monthOf(on)),
      availableCents: balances().available,
    };
  }

  const fault = (what: string): void => void faults.push(what);
  const own = paymentIntents({ clock, cards, holders, payments, situationOf, fault, note });
  const { intents, isOpen, isWaiting, mayBeCharged, paying, match, tellIntent, payNevertheless, askPerson } = own;

  type Overrule = (decided: Decided, ask: Ask) => Decided;
  function decide(ask: Ask, overrule: Overrule = (decided) => decided): Decided {
    const decided = decideCharge(ask);
    const difference = chargeDifference(ask, decided, clock.at);
    if (difference !== undefined) faults.push(difference);
    return overrule(decided, ask);
  }
  const askOf = (message: Message, earlier: Earlier, except: Payment | undefined): Ask => {
    const chargeable = intents.filter((intent) => intent.card === message.card && mayBeCharged(intent));
    return {
      amountCents: message.amountCents ?? 0,
      isVerification: message.amountCents === 0,
      takesParts: message.partialSupported === true,
      isRecurring: message.isRecurring === true,
      // A charge counts on its own day, also where a part of it was collected earlier.
      situation: situationOf(message.card, clock.at, except),
      intents: chargeable.filter(({ allows }) => allows === null).map(paying),
      allowing: chargeable.filter(({ allows }) => allows !== null).map(paying),
      earlier,
    };
  };

  function tellOthers(payment: Payment, ending: Ending): void {
    tellIntent(payment, ending);
    if (ending.completes && holders.cardWasUsed(payment.card)) note('card for one payment closed');
  }

  function bookClearing(payment: Payment, amountCents: number, isFinal: boolean): void {
    const change = clear(payment, { amountCents, isFinal });
    if (isFinal) payment.hasFinalClearing = true;
    const { status, clearedCents, heldCents, isFinal: ends } = change.next;
    const isNothing =
      status === payment.status && clearedCents === payment.clearedCents && heldCents === payment.heldCents;
    if (isNothing && ends === payment.isFinal) return;
    if (status === 'pending' && !(payment.holdExpiresAt !== null && payment.holdExpiresAt > clock.at)) {
      payment.holdExpiresAt = holdExpiry({ mcc: '5734', at: clock.at });
    }
    payment.authorizedAt ??= clock.at;
    save(payment, change.next);
    tellOthers(payment, change);
  }
  function bookGivenBack(payment: Payment, change: TransactionChange): void {
    if (change.next === payment) return; // It had ended before.
    save(payment, change.next);
    tellOthers(payment, change);
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
    ...{ intent: null, meant: null, declineRule: null, holdExpiresAt: null, authorizedAt: null },
    ...{ lackedPersonAtMs: null, declinedAtMs: null },
    ...{ incrementedCents: 0, reversedBefore: 0, requestedCents: 0, isRecurring: false },
    hasFinalClearing: false,
    authorizationId,
    card: message.card,
  });

  function earlierThan(message: Message, orphan: Payment | undefined): Earlier {
    if (orphan !== undefined) {
      const { reversedBefore, clearedCents, isFinal, hasFinalClearing } = orphan;
      return {
        collectedCents: clearedCents,
        isFinal: isFinal || hasFinalClearing,
        reversedCents: reversedBefore ?? 0,
        isReversedWhole: reversedBefore === null,
        isBooked: true,
      };
    }
    const early = waiting.map((one) => one.message).filter((one) => one.about === message.id);
    const reversals = early.filter(({ kind }) => kind === 'reversal');
    const clearings = early.filter(({ kind }) => kind === 'clearing');
    const sum = (some: readonly Message[]): number => some.reduce((total, one) => total + (one.amountCents ?? 0), 0);
    return {
      collectedCents: sum(clearings),
      isFinal: clearings.some(({ isFinal }) => isFinal === true),
      reversedCents: sum(reversals),
      isReversedWhole: reversals.some(({ amountCents }) => amountCents === undefined),
      isBooked: false,
    };
  }

  function authorize(message: Message, overrule?: Overrule): Answer {
    const orphan = payments.get(message.id);
    const decided = decide(askOf(message, earlierThan(message, orphan), orphan), overrule);
    const { outcome, approvedCents, holdCents, rule, intentId, needsPerson } = decided;
    const isDeclined = outcome === 'declined';
    const isVerification = message.amountCents === 0;
    const payment = orphan ?? blank(message, message.id);
    payments.set(message.id, payment);
    payment.isAnswered = true;
    payment.requestedCents = message.amountCents ?? 0;
    payment.isRecurring = message.isRecurring === true;
    payment.meant = own.byId(intentId);
    payment.declineRule = isDeclined ? rule : null;
    payment.declinedAtMs = isDeclined ? clock.at.getTime() : null;
    payment.lackedPersonAtMs = needsPerson ? clock.at.getTime() : null;
    if (orphan === undefined) {
      Object.assign(payment, {
        status: isDeclined ? 'failed' : isVerification ? 'completed' : 'pending',
        amountCents: isDeclined ? message.amountCents : approvedCents,
        isVerification,
        authorizedAt: isDeclined ? null : clock.at,
        holdExpiresAt: isDeclined || isVerification ? null : holdExpiry({ mcc: '5734', at: clock.at }),
      });
    } else {
      if (holdCents > 0) {
        const amountCents = orphan.clearedCents + holdCents;
        save(payment, { ...payment, status: 'pending', amountCents });
        payment.holdExpiresAt = holdExpiry({ mcc: '5734', at: clock.at });
      }
      if (!isDeclined) payment.authorizedAt = clock.at;
    }
    Object.assign(payment, { approvedCents, heldCents: holdCents });
    if (!isDeclined && payment.meant !== null && payment.intent === null) match(payment, payment.meant);
    bookWaiting(payment);
    if (orphan !== undefined) {
      tellIntent(payment, { completes: payment.isFinal && payment.heldCents === 0, isFullyReversed: false });
    }
    if (needsPerson) askPerson(payment);
    return { status: 200, decision: outcome, approvedCents, rule };
  }

  function increment(message: Message): Answer {
    const payment = payments.get(message.about ?? '');
    const declined = (rule: string): Answer => ({ status: 200, decision: 'declined', approvedCents: 0, rule });
    if (payment !== undefined && payment.card !== message.card) return declined('other_card');
    if (payment === undefined || !payment.isAnswered) return declined('no_authorization');
    const { heldCents, clearedCents, approvedCents, reversedCents, intent } = payment;
    const ask: IncrementAsk = {
      endedBy: whyEnded(payment),
      soFarCents: Math.max(0, heldCents + clearedCents, approvedCents - reversedCents),
      amountCents: message.amountCents ?? 0,
      takesParts: message.partialSupported === true,
      situation: situationOf(message.card, payment.authorizedAt ?? clock.at, payment),
      intent: intent === null ? undefined : paying(intent),
      isPaying: intent !== null && own.isPaying(payment, intent),
    };
    const decided = decideIncrease(ask);
    const difference = incrementDifference(ask, { ...payment, intentId: intent?.id ?? null }, decided, clock.at);
    if (difference !== undefined) faults.push(difference);
    const grantedCents = decided.approvedCents;
    if (grantedCents > 0) {
      save(payment, increase(payment, grantedCents));
      payment.incrementedCents += grantedCents;
      const expiry = holdExpiry({ mcc: '5734', at: clock.at });
      if (payment.holdExpiresAt === null || payment.holdExpiresAt < expiry) payment.holdExpiresAt = expiry;
    }
    const { outcome, rule } = decided;
    return { status: 200, decision: outcome, approvedCents: grantedCents, rule };
  }
  function whyEnded(payment: Payment): string | undefined {
    const { isVerification, status, approvedCents, isFinal, holdExpiresAt } = payment;
    if (isVerification) return 'authorization_ended';
    if (status === 'failed' || approvedCents === 0) return 'authorization_declined';
    const isOver = holdExpiresAt !== null && holdExpiresAt <= clock.at;
    return status !== 'pending' || isFinal || isOver ? 'authorization_ended' : undefined;
  }

  /** What the network approved in Bursar's place, whatever the rules say; held as far as there is money. */
  const advised =
    (approvedCents: number): Overrule =>
    (decided, { amountCents, earlier, situation }) => ({
      ...decided,
      outcome: approvedCents < amountCents ? 'partial' : 'approved',
      rule: decided.outcome !== 'declined' && decided.approvedCents === approvedCents ? decided.rule : 'stand_in',
      approvedCents,
      holdCents: Math.min(outstandingCents(approvedCents, earlier), situation.availableCents),
      needsPerson: false,
    });

  function adviceOn(message: Message): void {
    const { authorization, amountCents: advisedCents = 0 } = message;
    const payment = payments.get(message.about ?? '');
    if (authorization === undefined) return;
    if (payment === undefined || !payment.isAnswered) {
      const answer = authorize(authorization, advised(advisedCents));
      known.set(`authorization/${authorization.id}`, { message: authorization, answer });
      return;
    }
    const isUnapproved = payment.approvedCents === 0;
    const reversedCents = isUnapproved ? payment.reversedBefore : payment.reversedCents;
    const approvedCents = advisedCents + payment.incrementedCents;
    if (reversedCents === null || (isUnapproved && reversedCents > 0 && reversedCents >= approvedCents)) return;
    const state = { ...payment, reversedCents };
    if (advise(state, { approvedCents, availableCents: 0 }) === state) return;
    if (payment.status === 'failed') payNevertheless(payment);
    const next = advise(state as TransactionState, { approvedCents, availableCents: balances().available });
    const { status, amountCents, approvedCents: approved, heldCents } = next;
    save(payment, { ...state, status, amountCents, approvedCents: approved, heldCents });
    payment.authorizedAt ??= clock.at;
    const expiry = holdExpiry({ mcc: '5734', at: clock.at });
    if (payment.holdExpiresAt === null || payment.holdExpiresAt < expiry) payment.holdExpiresAt = expiry;
  }
  function book(message: Message): Answer {
    const { kind, about, amountCents } = message;
    const payment = about === null ? undefined : payments.get(about);
    if (payment !== undefined && payment.card !== message.card) return { status: 409 };
    if (kind === 'advice') adviceOn(message);
    else if (payment === undefined) {
      if (about === null) bookRefund(undefined, amountCents ?? 0);
      else waiting.push({ message, receivedAt: clock.at.getTime() });
    } else if (kind === 'clearing') bookClearing(payment, amountCents ?? 0, message.isFinal === true);
    else if (kind === 'refund') bookRefund(payment, amountCents ?? 0);
    else {
      bookReversal(payment, amountCents);
    }
    return { status: 200 };
  }

  /** Takes the place of what is open for the charge; refused where the charge would be declined nevertheless. */
  function allowOnce(payment: Payment, now: Date): { status: number; intent?: ModelIntent } {
    clock.at = now;
    const { authorizationId, card, requestedCents: amountCents, declineRule, declinedAtMs, meant } = payment;
    const before = intents.find(({ allows }) => allows === authorizationId);
    if (before !== undefined) return { status: 200, intent: before };
    if (payment.status !== 'failed' || declineRule === null || declinedAtMs === null) return { status: 400 };
    if (clock.at.getTime() - declinedAtMs > allowableMs || payment.isVerification) return { status: 400 };
    if (!isLiftable(declineRule)) return { status: 403 };
    const { agent } = holders.cardAt(card);
    const isForIt = (one: ModelIntent): boolean =>
      one === meant || (one.asksAbout !== null && one.amountCents === amountCents);
    const open = intents.filter((one) => one.agent === agent && one.card === card && (isOpen(one) || isWaiting(one)));
    const taken = open.filter((one) => one.allows === null && one.recurring === null && isForIt(one));
    if (taken.some((one) => one.status === 'approved' && one !== meant)) return { status: 400 };
    const again: Message = { kind: 'authorization', id: '', about: null, card, amountCents };
    const ask = askOf({ ...again, isRecurring: payment.isRecurring }, nothingEarlier, undefined);
    const permission: PayingIntent = {
      ...{
        id: 'permission',
        amountCents,
        isNamed: false,
        isByPerson: true,
        isRecurring: false,
        ownTolerancePercent: 0,
      },
    };
    const left = ask.intents.filter(({ id }) => !taken.some((one) => one.id === id));
    const decided = decide({ ...ask, intents: left, allowing: [...ask.allowing, permission] });
    if (decided.outcome === 'declined') return { status: 403 };
    const statuses = taken.map(({ status }) => status);
    for (const one of taken) one.status = 'cancelled';
    if (!own.hasRoom(agent, false)) {
      for (const [index, one] of taken.entries()) one.status = statuses[index] as ModelIntent['status'];
      return { status: 400 };
    }
    const intent = own.add({
      ...{ agent, card, amountCents, isNamed: true, status: 'approved', isByPerson: true, allows: authorizationId },
      expiresAtMs: clock.at.getTime() + own.allowedMs,
    });
    return { status: 201, intent };
  }

  function rotateCard(card: number): number {
    const status = holders.rotateCard(card);
    if (status === 200) own.reassign(card, cards.length - 1);
    return status;
  }

  /** The process that declined it may have died before it asked, so a repeat asks. */
  function askAgain({ answer, message }: { readonly answer: Answer; readonly message: Message }): void {
    const payment = payments.get(message.id);
    if (message.kind !== 'authorization' || answer.decision !== 'declined' || payment === undefined) return;
    const { lackedPersonAtMs, authorizationId } = payment;
    if (lackedPersonAtMs === null || lackedPersonAtMs <= clock.at.getTime() - personDecidesMs) return;
    if (!intents.some(({ asksAbout }) => asksAbout === authorizationId)) askPerson(payment);
  }

  return {
    ...{ payments, intents, waiting, agents, cards, balances },
    ...{ allowOnce, ...holders, rotateCard, noted },
    ...{ declare: own.declare, approve: own.approve, deny: own.deny, cancel: own.cancel },
    expireIntents: own.expireIntents,
    /** The same message gets the same answer. */
    send(message: Message, now: Date): Answer {
      clock.at = now;
      const key = `${message.kind}/${message.id}`;
      const before = known.get(key);
      if (before !== undefined) {
        askAgain(before);
        return before.answer;
      }
      const answer =
        message.kind === 'authorization'
          ? authorize(message)
          : message.kind === 'increment'
            ? increment(message)
            : book(message);
      known.set(key, { message, answer });
      return answer;
    },
    /** What time alone does. */
    sweep(now: Date): void {
      clock.at = now;
      const aged = [...payments.values()].filter(
        ({ status, holdExpiresAt }) => status === 'pending' && holdExpiresAt !== null && holdExpiresAt <= clock.at,
      );
      // First what frees its intent: another one of these may have been collected for it.
      for (const payment of aged.filter(({ clearedCents }) => clearedCents === 0))
        bookGivenBack(payment, expire(payment));
      for (const payment of aged.filter(({ clearedCents }) => clearedCents > 0))
        bookGivenBack(payment, expire(payment));
      const old = waiting.filter(({ receivedAt }) => receivedAt <= clock.at.getTime() - day);
      for (const { message } of old) {
        if (message.kind !== 'clearing' || message.amountCents === 0 || payments.has(message.about ?? '')) continue;
        const payment = blank(message, message.about ?? '');
        payments.set(payment.authorizationId, payment);
        bookWaiting(payment);
      }
      const refunds = takeWaiting((one) => one.kind === 'refund' && old.some(({ message }) => message === one));
      for (const { message } of refunds) bookRefund(undefined, message.amountCents ?? 0);
      own.expireIntents();
    },
    /** What must never be, whatever came in whatever order. */
    wrong(): string[] {
      const found = [...faults];
      const ofIntent = new Map<string, number>();
      for (const payment of payments.values()) {
        const { authorizationId: id, status, heldCents, clearedCents, reversedCents, approvedCents, isFinal } = payment;
        if (Math.min(heldCents, clearedCents, reversedCents) < 0) found.push(`${id} has less than nothing`);
        if (heldCents > 0 && status !== 'pending') found.push(`${id} is ${status} and holds ${heldCents}`);
        if (heldCents > 0 && isFinal) found.push(`${id} holds after its last clearing`);
        if (heldCents > 0 && heldCents + reversedCents > approvedCents)
          found.push(`${id} holds more than was approved`);
        if (status === 'failed' && clearedCents > 0) found.push(`${id} failed and was collected`);
        // What is collected after a full reversal keeps the name of an intent that pays for another one by then.
        if (payment.intent !== null && payment.intent.recurring === null && heldCents > 0)
          ofIntent.set(payment.intent.id, (ofIntent.get(payment.intent.id) ?? 0) + 1);
      }
      for (const [intentId, count] of ofIntent)
        if (count > 1) found.push(`intent ${intentId} pays for ${count} payments`);
      for (const intent of intents) found.push(...own.wrongIn(intent));
      for (const [index, card] of cards.entries()) {
        if (card.status === 'active' && holders.agentAt(card.agent).status !== 'active')
          found.push(`card ${index} is active, and its agent is not`);
        if (card.replacedBy !== null && card.status !== 'closed') found.push(`card ${index} is replaced and open`);
      }
      return found;
    },
  };
}
