/**
 * Transfers, the runs that send them, the bank, and everything that can happen in between: requests that are lost or
 * late, messages that come twice and in any order, runs that die and go on as zombies, and two clocks.
 * @module
 */
import {
  type BankMessageKind,
  type BankTransferCommand,
  type BankTransferStage,
  type PayeeCheckResult,
  payeeCheckResults,
  requestTimeoutMs,
  type Sending,
  sendWithinMs,
} from '../../../../src/domains/treasury/sepa/bank-transfer.rules.ts';
import type { BankTransferRules } from './bank-transfer.faults.ts';

type Run = { readonly cause: string; hasSent: boolean };
type Ledger = { available: number; held: number; out: number };
type Transfer = Sending & {
  stage: BankTransferStage;
  sendingCause: string | null;
  sendUntil: Date | null;
  readonly amount: number;
  readonly ledger: Ledger;
  readonly heard: Set<string>;
  readonly runs: Run[];
  submissions: number;
};
type Payment = { state: BankMessageKind; isRecalled: boolean };
type Message = { readonly transfer: number; readonly kind: BankMessageKind; readonly cause: string };
type Request = { readonly transfer: number; readonly sentAt: number };

const released: readonly BankTransferStage[] = ['rejected', 'denied', 'expired', 'cancelled'];
const back: readonly BankTransferStage[] = ['returned', 'recalled'];

export class BankTransferHistory {
  readonly transfers: Transfer[] = [];
  readonly payments = new Map<number, Payment>();
  readonly #rules: BankTransferRules;
  readonly #requests: Request[] = [];
  readonly #messages: Message[] = [];
  #realNow = Date.UTC(2026, 10, 21);
  #businessNow = this.#realNow;
  #causes = 0;

  constructor(rules: BankTransferRules) {
    this.#rules = rules;
  }

  create(dice: number): boolean {
    if (this.transfers.length >= 6) return false;
    const amount = 1 + dice;
    this.transfers.push({
      stage: 'requested',
      sendingCause: null,
      sendUntil: null,
      amount,
      ledger: { available: 0, held: amount, out: 0 },
      heard: new Set(),
      runs: [this.#newRun()],
      submissions: 0,
    });
    return true;
  }

  checkPayee(which: number, dice: number): boolean {
    const result = payeeCheckResults[dice % payeeCheckResults.length] as PayeeCheckResult;
    return this.#command(which, this.#rules.afterPayeeCheck(result));
  }

  decide(which: number, dice: number): boolean {
    const commands: readonly BankTransferCommand[] = ['approve', 'approve', 'deny', 'expire'];
    return this.#command(which, commands[dice % commands.length] as BankTransferCommand);
  }

  cancel(which: number): boolean {
    return this.#command(which, 'cancel');
  }

  /** The run commits that the payment may be sent, and by whom. */
  beginSending(which: number): boolean {
    const transfer = this.#transfer(which);
    const run = transfer?.runs.at(-1);
    if (transfer === undefined || run === undefined || !this.#command(which, 'beginSending')) return false;
    transfer.sendingCause = run.cause;
    transfer.sendUntil = new Date(this.#realNow + sendWithinMs);
    return true;
  }

  /** Any run of the transfer, also one that was thought dead. A run has one attempt. */
  send(which: number, dice: number): boolean {
    const transfer = this.#transfer(which);
    const run = transfer?.runs[dice % transfer.runs.length];
    if (transfer === undefined || run === undefined || run.hasSent) return false;
    if (!this.#rules.maySend(transfer, run.cause, new Date(this.#realNow))) return false;
    run.hasSent = true;
    transfer.submissions++;
    this.#requests.push({ transfer: which % this.transfers.length, sentAt: this.#realNow });
    return true;
  }

  /** A request arrives at the bank, or is lost on the way. */
  arrive(which: number, dice: number): boolean {
    const [request] = this.#requests.splice(which % Math.max(1, this.#requests.length), 1);
    if (request === undefined) return false;
    const isLost = dice % 4 === 0;
    if (!isLost) this.#take(request.transfer);
    return true;
  }

  /** The run asks for the state of a payment whose outcome it does not know. */
  ask(which: number): boolean {
    const transfer = this.#transfer(which);
    if (transfer === undefined || transfer.stage !== 'sending') return false;
    const payment = this.payments.get(which % this.transfers.length);
    if (payment !== undefined) {
      // Money that came back is a separate entry: the status of the payment stays what it was.
      const status = payment.state === 'returned' || payment.state === 'recalled' ? 'settled' : payment.state;
      return this.#hear(which, status, `ask-${which}-${status}`);
    }
    if (!this.#rules.isNotKnownFinal(transfer, new Date(this.#realNow), new Date(this.#businessNow))) return false;
    return this.#command(which, 'noteNotReceived');
  }

  bankWorks(which: number, dice: number): boolean {
    const [transfer, payment] = [...this.payments][which % Math.max(1, this.payments.size)] ?? [];
    if (transfer === undefined || payment === undefined) return false;
    const next = this.#nextOf(payment, dice);
    if (next === undefined) return false;
    payment.state = next;
    this.#messages.push({ transfer, kind: next, cause: this.#newCause() });
    return true;
  }

  /** A message arrives; most of them will arrive again. */
  deliver(which: number, dice: number): boolean {
    const at = which % Math.max(1, this.#messages.length);
    const message = this.#messages[at];
    if (message === undefined) return false;
    if (dice % 4 === 0) this.#messages.splice(at, 1);
    this.#hear(message.transfer, message.kind, message.cause);
    return true;
  }

  /** A message about a payment that the bank does not have moves nothing. */
  deliverWrong(which: number, dice: number): boolean {
    const transfer = this.#transfer(which);
    if (transfer === undefined || !['requested', 'pending_approval', 'approved'].includes(transfer.stage)) return false;
    const kinds: readonly BankMessageKind[] = ['accepted', 'settled', 'rejected', 'returned', 'recalled'];
    const heard = this.#rules.hearBank(transfer.stage, kinds[dice % kinds.length] ?? 'settled', false);
    if (heard.outcome !== 'refused') throw new Error(`a ${transfer.stage} transfer believed the bank`);
    return true;
  }

  recall(which: number): boolean {
    const transfer = this.#transfer(which);
    const payment = this.payments.get(which % Math.max(1, this.transfers.length));
    if (transfer === undefined || payment === undefined || !this.#rules.isRecallable(transfer.stage)) return false;
    payment.isRecalled = true;
    return true;
  }

  /** The process dies; its run goes on elsewhere with another cause, and the old one may still be awake. */
  die(which: number): boolean {
    const transfer = this.#transfer(which);
    if (transfer === undefined || transfer.runs.length > 4) return false;
    transfer.runs.push(this.#newRun());
    return true;
  }

  /** What was on its way for too long is gone. */
  moveReal(ms: number): boolean {
    this.#realNow += ms;
    this.#businessNow += ms;
    for (const request of [...this.#requests]) {
      if (request.sentAt + requestTimeoutMs >= this.#realNow) continue;
      this.#requests.splice(this.#requests.indexOf(request), 1);
      if (request.sentAt % 2_000 === 0) this.#take(request.transfer); // It had arrived just in time.
    }
    return true;
  }

  moveBusiness(ms: number): boolean {
    this.#businessNow += ms;
    return true;
  }

  checked(): void {
    for (const [which, transfer] of this.transfers.entries()) {
      const { stage, amount, ledger, submissions } = transfer;
      const bank = this.payments.get(which)?.state;
      const money = JSON.stringify(ledger);
      const fail = (what: string): never => {
        throw new Error(`${what}: transfer ${which} is ${stage} with ${money}, at the bank ${bank}`);
      };
      if (ledger.available + ledger.held + ledger.out !== amount) fail('money was lost or made');
      if (Math.min(ledger.available, ledger.held, ledger.out) < 0) fail('an account is below zero');
      if (submissions > 1) fail('submitted twice');
      if (released.includes(stage) && ledger.available !== amount) fail('not released');
      if (released.includes(stage) && bank !== undefined && bank !== 'rejected') fail('released, and the bank has it');
      if (stage === 'settled' && ledger.out !== amount) fail('not paid');
      if (back.includes(stage) && ledger.available !== amount) fail('not given back');
      if (ledger.out > 0 && bank !== 'settled' && bank !== 'returned' && bank !== 'recalled') fail('paid by us alone');
    }
  }

  /** Everything that is on its way arrives; then both books agree. */
  settle(): void {
    this.moveReal(60_001);
    for (let rounds = 0; rounds < 4; rounds++) {
      for (const which of this.transfers.keys()) this.ask(which);
      for (const { transfer, kind, cause } of this.#messages) this.#hear(transfer, kind, cause);
    }
    this.checked();
    for (const [which, { stage, ledger, amount }] of this.transfers.entries()) {
      const bank = this.payments.get(which)?.state;
      if (bank !== undefined && bank !== stage) throw new Error(`we say ${stage}, the bank ${bank}`);
      if ((bank === 'settled') !== (ledger.out === amount)) throw new Error(`the books differ: ${stage}, ${bank}`);
      if (stage === 'sending') throw new Error('the outcome stays unknown');
    }
  }

  #nextOf({ state, isRecalled }: Payment, dice: number): BankMessageKind | undefined {
    if (state === 'submitted') return dice % 3 === 0 ? 'rejected' : 'accepted';
    if (state === 'accepted') return dice % 5 === 0 ? 'rejected' : 'settled';
    if (state === 'settled' && isRecalled && dice % 2 === 0) return 'recalled';
    return state === 'settled' && dice % 16 === 1 ? 'returned' : undefined;
  }

  #take(transfer: number): void {
    if (this.payments.has(transfer)) throw new Error('the bank got a payment twice');
    this.payments.set(transfer, { state: 'submitted', isRecalled: false });
    this.#messages.push({ transfer, kind: 'submitted', cause: this.#newCause() });
  }

  #transfer(which: number): Transfer | undefined {
    return this.transfers[which % Math.max(1, this.transfers.length)];
  }

  #command(which: number, command: BankTransferCommand): boolean {
    const transfer = this.#transfer(which);
    if (transfer === undefined) return false;
    const moved = this.#rules.moveTransfer(transfer.stage, command, false);
    return moved.outcome === 'moved' && this.#moveTo(transfer, moved.next);
  }

  /** An honest bank never contradicts itself, so nothing that it says is refused. */
  #hear(which: number, kind: BankMessageKind, cause: string): boolean {
    const transfer = this.#transfer(which);
    if (transfer === undefined) return false;
    const moved = this.#rules.hearBank(transfer.stage, kind, transfer.heard.has(cause));
    transfer.heard.add(cause);
    if (moved.outcome === 'refused') throw new Error(`an honest bank was refused: ${moved.why}`);
    return moved.outcome === 'moved' && this.#moveTo(transfer, moved.next);
  }

  #moveTo(transfer: Transfer, next: BankTransferStage): boolean {
    const { ledger, amount } = transfer;
    for (const posting of this.#rules.postingsOf(transfer.stage, next)) {
      const [from, to] = (
        { release: ['held', 'available'], pay: ['held', 'out'], takeBack: ['out', 'available'] } as const
      )[posting];
      ledger[from] -= amount;
      ledger[to] += amount;
    }
    transfer.stage = next;
    return true;
  }

  #newRun(): Run {
    return { cause: this.#newCause(), hasSent: false };
  }

  #newCause(): string {
    this.#causes++;
    return `cause-${this.#causes}`;
  }
}
