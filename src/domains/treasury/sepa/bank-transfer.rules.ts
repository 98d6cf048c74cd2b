/**
 * The life of a transfer to a bank account: which command and which message of the bank moves it, where its money is in
 * each stage, and when it may be sent. Pure: the row and the time are arguments.
 * @module
 */
import { second } from '../../../kernel/instant.ts';
import type { Move } from '../../../kernel/move.ts';

/**
 * `requested`: the payee is being checked. `sending`: the bank may have the payment. `submitted`: it has it;
 * `accepted`: it will execute it; `settled`: the money is with the bank of the payee.
 */
export const bankTransferStages = [
  'requested',
  'pending_approval',
  'approved',
  'sending',
  'submitted',
  'accepted',
  'settled',
  'returned',
  'recalled',
  'rejected',
  'denied',
  'expired',
  'cancelled',
] as const;
export type BankTransferStage = (typeof bankTransferStages)[number];

/** Of people and of the workflow. */
export const bankTransferCommands = [
  'acceptPayee',
  'requestApproval',
  'approve',
  'deny',
  'expire',
  'cancel',
  'refusePayee',
  'beginSending',
  'noteNotReceived',
] as const;
export type BankTransferCommand = (typeof bankTransferCommands)[number];

/**
 * What the bank says, in the order in which it becomes true. `returned`: the bank of the payee cannot credit it;
 * `recalled`: it gives the money back because we asked. Only a booked entry says these two, because its reference tells
 * a repeated message from a second return; the status of a payment ends with `settled` or `rejected`.
 */
export const bankMessageKinds = ['submitted', 'accepted', 'settled', 'rejected', 'returned', 'recalled'] as const;
export type BankMessageKind = (typeof bankMessageKinds)[number];

const leadsTo = {
  acceptPayee: 'approved',
  requestApproval: 'pending_approval',
  approve: 'approved',
  deny: 'denied',
  expire: 'expired',
  cancel: 'cancelled',
  refusePayee: 'rejected',
  beginSending: 'sending',
  noteNotReceived: 'rejected',
} as const satisfies Record<BankTransferCommand, BankTransferStage>;

const mayReceive: Record<BankTransferStage, readonly BankTransferCommand[]> = {
  requested: ['acceptPayee', 'requestApproval', 'refusePayee', 'cancel'],
  pending_approval: ['approve', 'deny', 'expire', 'cancel'],
  approved: ['beginSending', 'refusePayee', 'cancel'],
  sending: ['noteNotReceived'],
  submitted: [],
  accepted: [],
  settled: [],
  returned: [],
  recalled: [],
  rejected: [],
  denied: [],
  expired: [],
  cancelled: [],
};

/** `isRepeated`: the same cause moved this transfer by this command before. */
export function moveTransfer(
  from: BankTransferStage,
  command: BankTransferCommand,
  isRepeated: boolean,
): Move<BankTransferStage> {
  if (isRepeated) return { outcome: 'already', next: from };
  if (mayReceive[from].includes(command)) return { outcome: 'moved', next: leadsTo[command] };
  return { outcome: 'refused', why: whyNot(from, command) };
}

function whyNot(from: BankTransferStage, command: BankTransferCommand): string {
  if (command === 'cancel' && isRecallable(from)) return `cannot cancel a transfer that is ${from}: it can be recalled`;
  return `cannot ${inWords[command]} a transfer that is ${from}`;
}

const inWords = {
  acceptPayee: 'accept the payee of',
  requestApproval: 'ask a person about',
  approve: 'approve',
  deny: 'deny',
  expire: 'expire',
  cancel: 'cancel',
  refusePayee: 'refuse the payee of',
  beginSending: 'send',
  noteNotReceived: 'give up',
} as const satisfies Record<BankTransferCommand, string>;

/** How far the bank has come. A later message about an earlier step is old news. */
const progress: Partial<Record<BankTransferStage, number>> = {
  sending: 0,
  submitted: 1,
  accepted: 2,
  settled: 3,
  returned: 4,
  recalled: 4,
};

/** Stages that the bank has something to say about. */
const mayHear: Record<BankTransferStage, boolean> = {
  requested: false,
  pending_approval: false,
  approved: false,
  sending: true,
  submitted: true,
  accepted: true,
  settled: true,
  returned: true,
  recalled: true,
  rejected: true,
  denied: false,
  expired: false,
  cancelled: false,
};

/**
 * The bank's messages come twice, late and in any order. `already` is old news. `refused` is a contradiction: a payment
 * that was never sent, that the bank both settled and rejected, or that comes back a second time; an operator has to
 * look at it, and nothing moves. `isRepeated`: this transfer heard this same message before.
 */
export function hearBank(
  from: BankTransferStage,
  message: BankMessageKind,
  isRepeated: boolean,
): Move<BankTransferStage> {
  if (isRepeated) return { outcome: 'already', next: from };
  if (!mayHear[from]) return contradiction(from, message);
  if (message === 'rejected') {
    if (from === 'rejected') return { outcome: 'already', next: from };
    return place[from] === 'held' ? { outcome: 'moved', next: 'rejected' } : contradiction(from, message);
  }
  // A status report that was overtaken by the rejection; money that moved is another matter.
  if (from === 'rejected') {
    const isOvertaken = message === 'submitted' || message === 'accepted';
    return isOvertaken ? { outcome: 'already', next: from } : contradiction(from, message);
  }
  if (place[from] === 'back' && (message === 'returned' || message === 'recalled')) return contradiction(from, message);
  const isNews = (progress[message] ?? 0) > (progress[from] ?? 0);
  return isNews ? { outcome: 'moved', next: message } : { outcome: 'already', next: from };
}

const contradiction = (from: BankTransferStage, message: BankMessageKind): Move<BankTransferStage> => ({
  outcome: 'refused',
  why: `the bank says ${message} of a transfer that is ${from}`,
});

/** Nothing more is done about it. Money can still come back after `settled`. */
export const isFinalStage = (stage: BankTransferStage): boolean =>
  place[stage] === 'back' || place[stage] === 'released';

/** `held`: set aside in the ledger. `out`: with the payee. `released`: it never left. `back`: it left and came back. */
type Place = 'held' | 'out' | 'released' | 'back';

const place: Record<BankTransferStage, Place> = {
  requested: 'held',
  pending_approval: 'held',
  approved: 'held',
  sending: 'held',
  submitted: 'held',
  accepted: 'held',
  settled: 'out',
  returned: 'back',
  recalled: 'back',
  rejected: 'released',
  denied: 'released',
  expired: 'released',
  cancelled: 'released',
};

/** `release`: held to available. `pay`: held to the bank. `takeBack`: the bank to available. */
export type TransferPosting = 'release' | 'pay' | 'takeBack';

const postings: Partial<Record<`${Place}-${Place}`, readonly TransferPosting[]>> = {
  'held-released': ['release'],
  'held-out': ['pay'],
  // The return overtook the debit. The bank's book has both, and so has ours.
  'held-back': ['pay', 'takeBack'],
  'out-back': ['takeBack'],
};

/** The journals that a move writes, in their order. */
export const postingsOf = (from: BankTransferStage, next: BankTransferStage): readonly TransferPosting[] =>
  postings[`${place[from]}-${place[next]}`] ?? [];

/** As callers see the transfer. `failed` has a reason; a transfer that ran out of time to be approved was not approved. */
export const bankTransferStatuses = [
  'pending_approval',
  'pending',
  'submitted',
  'completed',
  'returned',
  'failed',
  'cancelled',
  'denied',
] as const;
export type BankTransferStatus = (typeof bankTransferStatuses)[number];

const shown: Record<BankTransferStage, BankTransferStatus> = {
  requested: 'pending',
  pending_approval: 'pending_approval',
  approved: 'pending',
  sending: 'submitted',
  submitted: 'submitted',
  accepted: 'submitted',
  settled: 'completed',
  returned: 'returned',
  recalled: 'returned',
  rejected: 'failed',
  denied: 'denied',
  expired: 'failed',
  cancelled: 'cancelled',
};
export const bankTransferStatus = (stage: BankTransferStage): BankTransferStatus => shown[stage];

export const payeeCheckResults = ['match', 'close_match', 'no_match', 'not_possible'] as const;
export type PayeeCheckResult = (typeof payeeCheckResults)[number];

/** What happens without a match: the rule of the agent's policy. Where there is none, a person decides. */
export type WithoutMatch = 'ask' | 'refuse' | 'send';
const commandWithoutMatch = { ask: 'requestApproval', refuse: 'refusePayee', send: 'acceptPayee' } as const;

/** A match sends the transfer. */
export const afterPayeeCheck = (result: PayeeCheckResult, withoutMatch: WithoutMatch = 'ask'): BankTransferCommand =>
  result === 'match' ? 'acceptPayee' : commandWithoutMatch[withoutMatch];

/** From the mark to the end of sending, in real time: business time can be moved, a request on its way cannot. */
export const sendWithinMs = 10 * second;
/** A request that was begun in time is at the bank, or lost, after this. */
export const requestTimeoutMs = 10 * second;

/**
 * `asking`: the bank is to be asked to get the money back. `requested`: it will try. `ended`: the transfer ended before
 * the bank answered.
 */
export const recallOutcomes = ['asking', 'requested', 'refused', 'ended'] as const;
export type RecallOutcome = (typeof recallOutcomes)[number];

/** With the stage. A transfer that has ended asks the bank for nothing any more. */
export function recallAfter(stage: BankTransferStage, outcome: RecallOutcome | null): RecallOutcome | null {
  if (outcome !== 'asking' || !isFinalStage(stage)) return outcome;
  return stage === 'recalled' ? 'requested' : 'ended';
}

export type Sending = {
  readonly stage: BankTransferStage;
  /** The run that marked the transfer. */
  readonly sendingCause: string | null;
  readonly sendUntil: Date | null;
};

/** Only the run that marked it, and only in time: every other run has to ask the bank. */
export function maySend({ stage, sendingCause, sendUntil }: Sending, cause: string, realNow: Date): boolean {
  return stage === 'sending' && sendingCause === cause && sendUntil !== null && realNow < sendUntil;
}

/** Before this the bank's "not known" means that the payment may be on its way. */
export const isNotKnownFinal = ({ sendUntil }: Pick<Sending, 'sendUntil'>, realNow: Date): boolean =>
  sendUntil !== null && realNow.getTime() >= sendUntil.getTime() + requestTimeoutMs;

/** What the bank may have can be asked back, until it is rejected or the money is back. */
export const isRecallable = (stage: BankTransferStage): boolean =>
  mayHear[stage] && (place[stage] === 'held' || place[stage] === 'out');
