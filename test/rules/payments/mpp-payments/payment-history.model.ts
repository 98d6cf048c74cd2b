/**
 * A model of machine payments in one process: the product's rules decide, and generators play the steps around them.
 * Between two steps of a generator its process may die, stop for any time, or be overtaken by another run. Both clocks
 * are numbers. `checked` throws for whatever must never be.
 * @module
 */
import {
  type CredentialCommand,
  type CredentialStatus,
  credentialExpiry,
  isFinalCredential,
  isPastExpiry,
} from '../../../../src/domains/payments/mpp-credentials/mpp-credential.rules.ts';
import { payResult, statusShown } from '../../../../src/domains/payments/mpp-payments/mpp-payment.outcome.rules.ts';
import {
  answerDueAt,
  type ChargeOutcome,
  type ChargeSource,
  commandAfterAnswer,
  givenUpAt,
  isFinalMppPayment,
  type MerchantSays,
  type MppPaymentCommand,
  type MppPaymentStatus,
  merchantSays,
  mppPaymentFacts,
  openMppPaymentStatuses,
  sendWithinMs,
  settlementOf,
} from '../../../../src/domains/payments/mpp-payments/mpp-payment.rules.ts';
import {
  type IntentState,
  intentFacts,
  type moveIntent,
} from '../../../../src/domains/spending/intents/intent.rules.ts';
import { maxChargeCentsFor } from '../../../../src/domains/spending/policies/policy.rules.ts';
import { minute, second } from '../../../../src/kernel/instant.ts';
import { challengeFits, decideCharge, tolerancePercent } from './payment-history.facts.ts';
import { type ChargeState, type Rules, verification } from './payment-history.rules.ts';

type Intent = IntentState & { readonly id: string; readonly expectedAmountCents: number; readonly expiresAt: Date };
type Charge = { readonly id: string; readonly intent: number; cents: number; state: ChargeState };
export type Credential = {
  readonly id: string;
  readonly intent: number;
  readonly payment: Payment | null;
  readonly ceilingCents: number;
  readonly expiresAt: Date;
  status: CredentialStatus;
  isAuthorized: boolean;
  isVerified: boolean;
  charge: Charge | null;
  /** The merchant has it. */
  isOutside: boolean;
};
export type Payment = {
  readonly id: string;
  readonly intent: number;
  readonly cents: number;
  readonly challengeExpires: Date;
  readonly causes: Set<string>;
  credential: Credential | null;
  status: MppPaymentStatus;
  sendCause: string | null;
  sendUntil: Date | null;
  sentAt: Date | null;
  presentedAt: Date | null;
  chargeOutcome: ChargeOutcome | null;
  chargeSource: ChargeSource | null;
  charge: Charge | null;
  merchantStatus: number | null;
  /** It had ended without a charge. */
  hadEnded: boolean;
  /** How often the credential left. */
  left: number;
  run: Run;
  /** Its run is of an older release: it marks the row, and then another step sends. */
  readonly isMarkedFirst: boolean;
};
type Run = { readonly number: number; task: Task | null; hasMarked: boolean; maySend: boolean };
type Steps = Generator<undefined, void, number>;
type Task = { readonly steps: Steps; readonly worker: number; isOver: boolean };

const answers = [200, 200, 402, 500, 408, 0] as const;
/** Of the intent's amount: what a merchant asks for. */
const shares = [1, 1, 1, 1, 1, 1, 0.5, 0.9, 1.05, 1.3] as const;
const challengeLives = [
  20 * second,
  3 * minute,
  5 * minute,
  5 * minute,
  60 * minute,
  60 * minute,
  60 * minute,
] as const;
const mostPayments = 12;

export class PaymentHistory {
  readonly #rules: Rules;
  readonly intents: Intent[];
  readonly payments: Payment[] = [];
  readonly credentials: Credential[] = [];
  readonly charges: Charge[] = [];
  #abandoned: Task[] = [];
  /** What each worker remembers between minting and sending, by worker and credential, and until when. */
  readonly #remembered = new Map<string, Date>();
  /** How many were sent without asking the processor again. */
  sentFromMemory = 0;
  real = new Date('2026-02-01T12:00:00Z');
  business = new Date('2026-03-01T12:00:00Z');
  isFrozen: boolean = false;

  constructor(rules: Rules) {
    this.#rules = rules;
    this.intents = [1_000, 700, 1_999].map((expectedAmountCents, number) => ({
      id: `int_${number}`,
      expectedAmountCents,
      status: 'approved',
      matchedTransactionId: null,
      transferId: null,
      openPaymentId: null,
      isRecurring: false,
      expiresAt: new Date(this.business.getTime() + (number === 0 ? 2 : 60) * 86_400_000),
    }));
  }

  // What callers do. Each answers whether it found something to do.

  pay(which: number, price: number): boolean {
    const intent = which % this.intents.length;
    if (this.payments.filter((one) => one.intent === intent).length >= mostPayments) return false;
    if (this.#openPaymentOf(intent) !== undefined || this.#whyUnpayable(intent) !== undefined) return true;
    const cents = Math.floor(this.#intent(intent).expectedAmountCents * (shares[price % shares.length] ?? 1));
    this.#set(intent, { openPaymentId: `mpay_${this.payments.length}` });
    this.payments.push({
      ...{ id: `mpay_${this.payments.length}`, intent, cents, causes: new Set(), credential: null },
      challengeExpires: new Date(this.real.getTime() + (challengeLives[price % challengeLives.length] ?? 0)),
      ...{ status: 'requested', sendCause: null, sendUntil: null, sentAt: null, presentedAt: null },
      ...{ chargeOutcome: null, chargeSource: null, charge: null, merchantStatus: null, left: 0, hadEnded: false },
      run: newRun(0),
      isMarkedFirst: this.payments.length % 3 === 2,
    });
    return true;
  }

  /** An agent that presents credentials itself, to as many merchants as it likes. */
  mintForAgent(which: number): boolean {
    const intent = which % this.intents.length;
    if (this.credentials.length >= 3 * mostPayments) return false;
    const credential = this.#reserve(intent, null, this.#intent(intent).expectedAmountCents, undefined);
    if (credential === undefined) return true;
    this.#changeCredential(credential, 'mint');
    credential.isOutside = true;
    return true;
  }

  /** The next step of the payment's run. */
  turn(which: number, dice: number): boolean {
    const underWay = this.payments.filter((one) => one.run.task !== null || !isFinalMppPayment(one));
    const payment = underWay[which % Math.max(1, underWay.length)];
    if (payment === undefined) return false;
    const { run } = payment;
    run.task ??= this.#taskFor(payment, dice);
    if (run.task === null) return false;
    this.#advance(run.task, dice);
    if (run.task.isOver) run.task = null;
    return true;
  }

  /** The server gives the step up; its process goes on. */
  abandon(which: number): boolean {
    const payment = this.#payment(which);
    if (payment?.run.task == null) return false;
    this.#abandoned.push(payment.run.task);
    payment.run.task = null;
    return true;
  }

  /** A step that was given up goes on, late. */
  late(which: number, dice: number): boolean {
    const task = this.#abandoned[which % Math.max(1, this.#abandoned.length)];
    if (task === undefined) return false;
    this.#advance(task, dice);
    this.#abandoned = this.#abandoned.filter(({ isOver }) => !isOver);
    return true;
  }

  /** A worker dies with everything that it was doing. */
  die(worker: number): boolean {
    this.#abandoned = this.#abandoned.filter((task) => task.worker !== worker % 2);
    for (const { run } of this.payments) if (run.task?.worker === worker % 2) run.task = null;
    for (const key of [...this.#remembered.keys()]) if (key.startsWith(`${worker % 2}/`)) this.#remembered.delete(key);
    return true;
  }

  /** The run is lost or terminated, and another one follows. */
  loseRun(which: number): boolean {
    const payment = this.#payment(which);
    if (payment === undefined) return false;
    this.abandon(which);
    payment.run = newRun(payment.run.number + 1);
    return true;
  }

  /** Any merchant that has a credential charges it: now or late, once or again, as much as it likes. */
  charge(which: number, amount: number): boolean {
    const known = this.credentials.filter((one) => one.isOutside);
    const outside = amount % 3 === 0 ? known : known.slice(-3); // Mostly one that still lives.
    const credential = outside[which % Math.max(1, outside.length)];
    if (credential === undefined) return false;
    this.#authorize(credential, Math.ceil(credential.ceilingCents * ([1, 1, 0.4, 1.01, 2][amount % 5] ?? 1)));
    return true;
  }

  verify(which: number): boolean {
    const outside = this.credentials.filter((one) => one.isOutside);
    const credential = outside[which % Math.max(1, outside.length)];
    if (credential === undefined) return false;
    const { intent, payment } = credential;
    const outcome = verification({
      ...credential,
      isPastExpiry: isPastExpiry(credential, this.real),
      charge: credential.charge?.state ?? null,
      isIntentPayable: this.#whyUnpayable(intent) === undefined && !this.#isKeptFrom(credential),
      isActive: !this.isFrozen,
    });
    if (outcome === 'conflict' || outcome === 'gone') return true;
    if (outcome === 'promised') {
      this.#use(credential, this.#promise(intent, credential.ceilingCents));
    }
    credential.isVerified = true;
    const { charge } = credential;
    if (payment !== null && payment.chargeOutcome !== 'approved')
      Object.assign(payment, { chargeOutcome: 'approved', chargeSource: 'verify', charge });
    return true;
  }

  resolve(which: number, dice: number): boolean {
    const payment = this.#payment(which);
    if (payment === undefined || !['accepted', 'unknown'].includes(statusShown(payment))) return false;
    const cause = `operator-${dice % 4}`;
    if (payment.causes.has(cause)) return true;
    if (dice % 2 === 0) {
      this.#change(payment, 'giveUp', cause);
    } else {
      this.#settle(payment, 'operator');
      this.#change(payment, 'pay', cause);
    }
    return true;
  }

  clear(which: number): boolean {
    const open = this.charges.filter(({ state }) => state === 'approved');
    const charge = open[which % Math.max(1, open.length)];
    if (charge === undefined) return false;
    charge.state = 'cleared';
    if (this.#intent(charge.intent).matchedTransactionId === charge.id) this.#moveIntent(charge.intent, 'complete');
    return true;
  }

  reverse(which: number): boolean {
    const open = this.charges.filter(({ state }) => state === 'approved' || state === 'cleared');
    const charge = open[which % Math.max(1, open.length)];
    if (charge === undefined) return false;
    const wasHeld = charge.state === 'approved';
    charge.state = 'reversed';
    if (wasHeld && this.#intent(charge.intent).matchedTransactionId === charge.id) {
      this.#moveIntent(charge.intent, 'unmatch');
      this.#set(charge.intent, { matchedTransactionId: null });
    }
    return true;
  }

  /** In one transaction with the unused credentials. */
  cancel(which: number): boolean {
    const intent = which % this.intents.length;
    this.#moveIntent(intent, 'cancel');
    if (this.#intent(intent).status !== 'cancelled' || !this.#rules.revokesOnCancel) return true;
    for (const one of this.credentials) if (one.intent === intent) this.#changeCredential(one, 'revoke');
    return true;
  }

  /** The run of an intent, at its deadline. */
  expire(which: number): boolean {
    const intent = which % this.intents.length;
    const { final, dueInMs } = intentFacts(this.#intent(intent), this.business);
    if (final || (dueInMs.deadline ?? 1) > 0) return false;
    this.#moveIntent(intent, 'expire');
    return true;
  }

  /** A deadline that was read before a payment began is acted on after it. */
  expireLate(which: number): boolean {
    const intent = which % this.intents.length;
    if (this.#intent(intent).expiresAt > this.business) return false;
    this.#moveIntent(intent, 'expire');
    return true;
  }

  freeze(isFrozen: boolean): boolean {
    if (this.isFrozen === isFrozen) return false;
    this.isFrozen = isFrozen;
    return true;
  }

  moveReal(ms: number): boolean {
    this.real = new Date(this.real.getTime() + ms);
    return true;
  }

  moveBusiness(ms: number): boolean {
    this.business = new Date(this.business.getTime() + ms);
    return true;
  }

  expireCredentials(): boolean {
    const ends = this.credentials.filter((one) => !isFinalCredential(one.status) && isPastExpiry(one, this.real));
    for (const one of ends) this.#changeCredential(one, 'expire');
    return ends.length > 0;
  }

  /** Processes and merchants stop; the runs go to their ends while time passes. */
  settle(): void {
    for (let round = 0; round < 4; round++) {
      const most = 100 * this.payments.length;
      let turns = 0;
      // In turn, so that a run that waits does not hide another one.
      for (let idle = 0; idle <= this.payments.length && turns < most; turns++)
        idle = this.turn(turns, 5) ? 0 : idle + 1;
      this.checked();
      if (turns === most && most > 0) throw new Error('the runs do not come to rest');
      this.moveReal(10 * minute);
      this.moveBusiness(5 * 86_400_000);
      this.expireCredentials();
    }
    for (const { id, status, chargeOutcome } of this.payments) {
      if (!isFinalMppPayment({ status, chargeOutcome })) throw new Error(`${id} stays ${status} for ever`);
      if ((status === 'paid') !== (chargeOutcome === 'approved'))
        throw new Error(`${id} is ${status}, and its charge was ${chargeOutcome}`);
    }
  }

  /** What must hold after each step. */
  checked(): void {
    for (const [number, intent] of this.intents.entries()) this.#checkIntent(number, intent);
    for (const payment of this.payments) checkPayment(payment);
  }

  #checkIntent(number: number, intent: Intent): void {
    const live = this.charges.filter((one) => one.intent === number && one.state !== 'reversed');
    if (live.length > 1) throw new Error(`${intent.id} is paid ${live.length} times`);
    const cents = live.reduce((sum, charge) => sum + charge.cents, 0);
    if (cents > maxChargeCentsFor(intent, tolerancePercent)) throw new Error(`${intent.id} is charged ${cents} cents`);
    const open = this.#openPaymentOf(number);
    if (open !== undefined && (intent.status === 'expired' || intent.status === 'cancelled'))
      throw new Error(`${intent.id} is ${intent.status} while its payment is ${open.status}`);
    const isLive = ({ status }: Credential) => status === 'requested' || status === 'minted';
    if (intent.status === 'cancelled' && this.credentials.some((one) => one.intent === number && isLive(one)))
      throw new Error(`${intent.id} is cancelled, and a credential of it lives on`);
    const usable = this.credentials.filter(
      (one) => one.intent === number && one.status === 'minted' && one.isOutside && !isPastExpiry(one, this.real),
    );
    if (usable.length > 1) throw new Error(`${usable.length} credentials of ${intent.id} can be charged at once`);
    const waiting = this.payments.filter(
      (one) => one.intent === number && ['presenting', 'accepted', 'unknown'].includes(one.status),
    );
    const begun = this.payments.filter(
      (one) => one.intent === number && !isFinalMppPayment(one) && one.status !== 'paid',
    );
    const others = begun.filter((one) => waiting.some((unknown) => unknown !== one && beganAfter(one, unknown)));
    const unsettled = others.filter((one) => settlementOf(one) === undefined);
    if (unsettled.length > 0) throw new Error(`${intent.id} is paid again while its payment is ${waiting[0]?.status}`);
  }

  #taskFor(payment: Payment, dice: number): Task | null {
    const worker = dice % 2;
    const steps = this.#nextActivity(payment, worker);
    return steps === undefined ? null : { steps, worker, isOver: false };
  }

  /** As the workflow has it: steps by the row, the call once, and then what is due. */
  #nextActivity(payment: Payment, worker: number): Steps | undefined {
    const { status, run } = payment;
    const { dueInMs } = mppPaymentFacts(payment, { business: this.business, real: this.real });
    if (status === 'requested') return this.#request(payment);
    if (status === 'challenged') return this.#allow(payment);
    if (status === 'allowed') return this.#mint(payment, worker);
    if (payment.isMarkedFirst) {
      if (status === 'minted' || (status === 'presenting' && !run.hasMarked)) return this.#mark(payment, run);
      if (status === 'presenting' && run.maySend) return this.#send(payment, run, worker);
    } else if (dueInMs.send !== undefined) return this.#send(payment, run, worker);
    if (dueInMs.answer !== undefined && dueInMs.answer <= 0) return this.#endPresentation(payment);
    if (settlementOf(payment) !== undefined) return this.#recordCharge(payment);
    if (dueInMs.silence !== undefined && dueInMs.silence <= 0) return this.#endSilence(payment);
    return undefined;
  }

  *#request(payment: Payment): Steps {
    const dice = yield;
    this.#change(payment, dice % 20 === 0 ? 'refuse' : 'challenge', dice % 20 === 0 ? 'refuse' : 'challenge');
  }

  *#allow(payment: Payment): Steps {
    yield;
    if (payment.status !== 'challenged') return;
    const fits = !this.isFrozen && this.#fits(payment);
    this.#change(payment, fits ? 'allow' : 'refuse', fits ? 'allow' : 'refuse');
  }

  #fits(payment: Payment): boolean {
    const intent = this.#intent(payment.intent);
    return challengeFits(intent, payment.cents, payment.challengeExpires, this.real);
  }

  *#mint(payment: Payment, worker: number): Steps {
    if (payment.status !== 'allowed') return;
    const isMinted = yield* this.#mintCredential(payment);
    this.#change(payment, isMinted ? 'mint' : 'refuse', isMinted ? 'mint' : 'refuse');
    const { credential } = payment;
    if (!isMinted || credential === null) return;
    this.#remembered.set(`${worker}/${credential.id}`, new Date(this.real.getTime() + sendWithinMs));
  }

  /** Once, by the worker that minted it. */
  #takeRemembered(worker: number, { credential }: Payment): boolean {
    const key = `${worker}/${credential?.id}`;
    const until = this.#remembered.get(key);
    this.#remembered.delete(key);
    return until !== undefined && until > this.real;
  }

  /** Reserved, minted at the processor, committed: three steps, each safe to repeat. */
  *#mintCredential(payment: Payment): Generator<undefined, boolean, number> {
    yield;
    payment.credential ??= this.#reserve(payment.intent, payment, payment.cents, payment.challengeExpires) ?? null;
    const { credential } = payment;
    if (credential === null) return false;
    yield; // The processor is asked, under the same key each time.
    if (isPastExpiry(credential, this.real)) this.#changeCredential(credential, 'expire');
    else if (credential.status === 'requested') {
      const isPayable = this.#whyUnpayable(payment.intent) === undefined && !this.isFrozen;
      this.#changeCredential(credential, isPayable ? 'mint' : 'refuse');
    }
    yield;
    return credential.status === 'minted';
  }

  *#mark(payment: Payment, run: Run): Steps {
    yield;
    const cause = causeOf(payment, run);
    const sendUntil = new Date(this.real.getTime() + sendWithinMs);
    const hasMoved = this.#change(payment, 'present', 'present');
    if (hasMoved) Object.assign(payment, { sendCause: cause, sendUntil, presentedAt: this.business });
    yield; // Committed, and the answer may get lost: then the run asks again under the same cause.
    run.hasMarked = true;
    run.maySend = this.#rules.isOwnCall(payment, cause);
  }

  *#send(payment: Payment, run: Run, worker: number): Steps {
    const cause = causeOf(payment, run);
    run.maySend = false; // One attempt, whatever becomes of it.
    yield;
    if (!this.#rules.maySend(payment, cause, this.real)) return;
    const isRemembered = this.#takeRemembered(worker, payment);
    if (isRemembered) yield; // Its worker may stop here for any time.
    const isMinted = isRemembered || (payment.challengeExpires > this.real && (yield* this.#mintCredential(payment)));
    const { credential } = payment;
    const isAlive = credential?.status === 'minted' && !isPastExpiry(credential, this.real);
    if (!isMinted || credential === null || (this.#rules.looksAgain && !isAlive)) {
      if (!this.#rules.maySend(payment, cause, this.real)) return;
      this.#change(payment, payment.status === 'minted' ? 'refuse' : 'withhold', 'refuse');
      return;
    }
    if (!this.#claim(payment, cause)) return;
    if (!isAlive) throw new Error(`${payment.id} sends ${credential.id}, which is ${credential.status} or has expired`);
    if (isRemembered) this.sentFromMemory++;
    const dice = yield;
    if (this.real >= (payment.sendUntil ?? this.real)) {
      this.#change(payment, 'withhold', 'refuse'); // Its process stood still: nothing has left, and nothing leaves.
      return;
    }
    if (dice % 16 === 0) {
      yield;
      this.#change(payment, 'withhold', 'no_answer'); // Unreachable: nothing has left.
      return;
    }
    payment.left++;
    credential.isOutside = true;
    const answer = yield;
    const status = answers[answer % answers.length] ?? 0;
    const hasReceipt = Math.floor(answer / answers.length) % 2 === 0;
    payment.sentAt ??= this.real;
    if (status !== 0) payment.merchantStatus ??= status;
    const says = status === 0 ? 'nothing' : merchantSays(status, hasReceipt);
    if (dice % 3 === 0) yield; // The answer is written late.
    this.#conclude(payment, says, status === 0 ? 'no_answer' : 'answer');
  }

  /** Only the step that has moved the row sends. */
  #claim(payment: Payment, cause: string): boolean {
    if (!this.#rules.maySend(payment, cause, this.real)) return false;
    if (payment.status === 'minted') {
      const sendUntil = new Date(this.real.getTime() + sendWithinMs);
      if (!this.#change(payment, 'present', 'present')) return false;
      Object.assign(payment, { sendCause: cause, sendUntil, presentedAt: this.business });
    } else if (this.real >= (payment.sendUntil ?? this.real)) return false;
    if (this.#rules.marksBeforeSend) payment.sentAt = this.real;
    return true;
  }

  #conclude(payment: Payment, says: MerchantSays, cause: string): void {
    if (says === 'receipted' && !this.#rules.knowsCharge(payment)) {
      if (!this.#rules.takesReceipt(payment)) return;
      this.#settle(payment, 'receipt');
    }
    this.#change(payment, commandAfterAnswer(payment.chargeOutcome, says), cause);
  }

  /** Without a word of the network: its charge is linked to the transaction when it comes. */
  #settle(payment: Payment, chargeSource: ChargeSource): void {
    const charge = this.#promise(payment.intent, payment.cents);
    if (payment.credential?.status === 'minted') this.#use(payment.credential, charge);
    Object.assign(payment, { chargeOutcome: 'approved', chargeSource, charge });
  }

  #use(credential: Credential, charge: Charge): void {
    this.#changeCredential(credential, 'consume');
    credential.charge = charge;
  }

  *#endPresentation(payment: Payment): Steps {
    yield;
    const dueAt = answerDueAt(payment);
    if (payment.status !== 'presenting' || dueAt === null || dueAt > this.real.getTime()) return;
    if (payment.sentAt !== null) this.#conclude(payment, 'nothing', 'no_answer');
    else this.#change(payment, 'withhold', 'no_answer');
  }

  *#recordCharge(payment: Payment): Steps {
    yield;
    const command = settlementOf(payment);
    if (command !== undefined) this.#change(payment, command, `charge:${command}`);
  }

  *#endSilence(payment: Payment): Steps {
    yield;
    const isDue = payment.presentedAt !== null && givenUpAt(payment.presentedAt) <= this.business;
    if (isDue && settlementOf(payment) === undefined) this.#change(payment, 'giveUp', 'silence');
  }

  /** One transaction of Bursar, with its answer to the network. A token is good for one authorization. */
  #authorize(credential: Credential, cents: number): void {
    const { intent, payment } = credential;
    const promised = credential.charge ?? payment?.charge;
    const isUsed = credential.isAuthorized;
    const isVouchedFor = credential.status === 'consumed' || payment?.chargeOutcome === 'approved';
    const isExpired = !isVouchedFor && isPastExpiry(credential, this.real);
    const isRevoked = credential.status === 'revoked' && payment?.chargeOutcome !== 'approved';
    const isPayable = this.#whyUnpayable(intent) === undefined && !this.#isKeptFrom(credential);
    const decision = decideCharge(this.#rules.decide, {
      intent: isPayable ? this.#intent(intent) : undefined,
      promised: promised?.state === 'promised' ? { ...this.#intent(intent), transactionId: promised.id } : undefined,
      token: {
        intentId: this.#intent(intent).id,
        isUsed,
        isExpired,
        isRevoked,
        merchantId: 'm',
        ceilingCents: credential.ceilingCents,
      },
      ...{ cents, at: this.business, isFrozen: this.isFrozen },
    });
    const isApproved = decision.outcome !== 'declined';
    const isAsAgreed = !isUsed && !isExpired && !isRevoked && cents <= credential.ceilingCents && !this.isFrozen;
    if (!isApproved && isAsAgreed && payment !== null && this.#openPaymentOf(intent) === payment)
      throw new Error(`${payment.id} is ${payment.status}, and its charge was declined: ${decision.rule}`);
    const charge = isApproved ? this.#book(credential, decision.candidate?.transactionId, cents) : null;
    if (isUsed || isExpired || isRevoked) {
      if (charge !== null) throw new Error(`${credential.id} was charged ${isUsed ? 'twice' : 'after its end'}`);
      return; // Nothing is written to its record.
    }
    credential.isAuthorized = true;
    this.#changeCredential(credential, isApproved ? 'consume' : 'decline');
    credential.charge ??= charge;
    if (payment === null || payment.chargeOutcome === 'approved') return;
    Object.assign(payment, { chargeOutcome: isApproved ? 'approved' : 'declined', chargeSource: 'network', charge });
  }

  #book(credential: Credential, linked: string | undefined, cents: number): Charge {
    const known = this.charges.find(({ id }) => id === linked);
    if (known !== undefined) {
      Object.assign(known, { state: 'approved', cents });
      return known;
    }
    const charge: Charge = { id: `tx_${this.charges.length}`, intent: credential.intent, cents, state: 'approved' };
    this.charges.push(charge);
    this.#moveIntent(credential.intent, 'match');
    this.#set(credential.intent, { matchedTransactionId: charge.id });
    return charge;
  }

  #promise(intent: number, cents: number): Charge {
    const charge: Charge = { id: `tx_${this.charges.length}`, intent, cents, state: 'promised' };
    const isPayable = this.#whyUnpayable(intent) === undefined;
    this.charges.push(charge);
    if (isPayable) this.#moveIntent(intent, 'complete');
    return charge;
  }

  #reserve(intent: number, payment: Payment | null, cents: number, expires: Date | undefined): Credential | undefined {
    const open = this.#openPaymentOf(intent);
    if (open !== undefined && open !== payment) return undefined;
    const lives = this.credentials.filter((one) => one.intent === intent && !isFinalCredential(one.status));
    if (lives.some((one) => !isPastExpiry(one, this.real) && this.#rules.isInTheWay(one))) return undefined;
    for (const one of lives) if (isPastExpiry(one, this.real)) this.#changeCredential(one, 'expire');
    if (this.#whyUnpayable(intent) !== undefined || this.isFrozen) return undefined;
    const expiresAt = credentialExpiry(expires?.toISOString(), this.real);
    if (!challengeFits(this.#intent(intent), cents, expiresAt, this.real)) return undefined;
    const credential: Credential = {
      ...{ id: `mppc_${this.credentials.length}`, intent, payment, ceilingCents: cents, expiresAt },
      ...{ status: 'requested', isAuthorized: false, isVerified: false, charge: null, isOutside: false },
    };
    this.credentials.push(credential);
    return credential;
  }

  #change(payment: Payment, command: MppPaymentCommand, cause: string): boolean {
    const move = this.#rules.movePayment(payment.status, command, payment.causes.has(cause));
    if (move.outcome !== 'moved') return false;
    payment.status = move.next;
    payment.causes.add(cause);
    const isOver = !openMppPaymentStatuses.includes(payment.status);
    if (isOver && payment.chargeOutcome === null) payment.hadEnded = true;
    if (isOver && this.#intent(payment.intent).openPaymentId === payment.id)
      this.#set(payment.intent, { transferId: null, openPaymentId: null });
    return true;
  }

  #changeCredential(credential: Credential, command: CredentialCommand): void {
    const move = this.#rules.moveCredential(credential.status, command, false);
    if (move.outcome === 'moved') credential.status = move.next;
  }

  #moveIntent(intent: number, command: Parameters<typeof moveIntent>[1]): void {
    const move = this.#rules.moveIntent(this.#intent(intent), command, false);
    if (move.outcome === 'moved') this.#set(intent, { status: move.next });
  }

  #set(intent: number, change: Partial<Intent>): void {
    this.intents[intent] = { ...this.#intent(intent), ...change };
  }

  /** Another payment keeps the intent. */
  #isKeptFrom({ intent, payment }: Credential): boolean {
    const { openPaymentId } = this.#intent(intent);
    return openPaymentId !== null && openPaymentId !== payment?.id;
  }

  #advance(task: Task, dice: number): void {
    task.isOver = task.steps.next(dice).done === true;
  }

  #intent = (number: number): Intent => this.intents[number] as Intent;
  #payment = (which: number): Payment | undefined => this.payments[which % Math.max(1, this.payments.length)];
  #whyUnpayable = (intent: number): string | undefined =>
    this.#rules.whyUnpayable({ ...this.#intent(intent), allowsOnceOf: null }, this.business);
  #openPaymentOf = (intent: number): Payment | undefined =>
    this.payments.find((one) => one.intent === intent && this.#rules.isOpen(one.status));
}

function checkPayment(payment: Payment): void {
  const { id, left, status, sentAt, credential, chargeOutcome, charge } = payment;
  if (payment.hadEnded && payment.chargeSource === 'receipt')
    throw new Error(`${id} had ended, and a receipt settled it`);
  if (left > 1) throw new Error(`the credential of ${id} left ${left} times`);
  const isCharged = credential?.charge != null && credential.charge.state !== 'reversed';
  if (isCharged && chargeOutcome !== 'approved') throw new Error(`the owner does not see that ${id} is charged`);
  if (chargeOutcome === 'approved' && charge === null) throw new Error(`${id} is charged without a transaction`);
  if (left > 0 && sentAt === null) throw new Error(`${id} was sent, and its row does not say so`);
  if (left > 0 && status === 'refused' && chargeOutcome === null)
    throw new Error(`the credential of ${id} is outside, and the caller learns that nothing was sent`);
  const told = payResult({ ...payment, outcomeCode: null, outcomeReason: null });
  if (isCharged && told.kind === 'refused') throw new Error(`${id} is charged, and the caller is told otherwise`);
}

const newRun = (number: number): Run => ({ number, task: null, hasMarked: false, maySend: false });
const causeOf = ({ id }: Payment, { number }: Run): string => `${id}/${number}`;
const numberOf = ({ id }: Payment): number => Number(id.slice('mpay_'.length));
const beganAfter = (one: Payment, other: Payment): boolean => numberOf(one) > numberOf(other);
