/**
 * The state transitions of a machine payment, and the facts and due times that its workflow waits for. Pure: rows and
 * time are arguments. `charge` is what settles a payment; the merchant's answer is only what the merchant says.
 * @module
 */
import { day, minute, second } from '../../../kernel/instant.ts';
import type { Move } from '../../../kernel/move.ts';
import type { RowState } from '../../../kernel/row-state.ts';
import { presentationTimeoutMs } from './paid-resource.port.ts';

/**
 * `requested`: the resource is requested; `challenged`: the merchant asks for a payment; `allowed`: amount, payee and
 * rules are checked; `minted`: a credential exists; `presenting`: it may be under way to the merchant; `accepted`: the
 * merchant delivered, and the charge is not seen yet; `unknown`: the merchant gave no answer that says whether it
 * charged. All others are final.
 */
export const mppPaymentStatuses = [
  'requested',
  'challenged',
  'allowed',
  'minted',
  'presenting',
  'accepted',
  'unknown',
  'paid',
  'declined',
  'refused',
  'not_paid',
] as const;
export type MppPaymentStatus = (typeof mppPaymentStatuses)[number];

const leadsTo = {
  challenge: 'challenged',
  allow: 'allowed',
  mint: 'minted',
  present: 'presenting',
  accept: 'accepted',
  lose: 'unknown',
  pay: 'paid',
  decline: 'declined',
  refuse: 'refused',
  withhold: 'refused',
  giveUp: 'not_paid',
} as const satisfies Record<string, MppPaymentStatus>;
export type MppPaymentCommand = keyof typeof leadsTo;
export const mppPaymentCommands = Object.keys(leadsTo) as readonly MppPaymentCommand[];

/**
 * A charge that the network approves late settles every payment whose credential may have left Bursar. Only the step
 * that may send knows that it has not: it withholds. An earlier step that ends late refuses nothing any more.
 */
const mayReceive: Record<MppPaymentStatus, readonly MppPaymentCommand[]> = {
  requested: ['challenge', 'refuse'],
  challenged: ['allow', 'refuse'],
  allowed: ['mint', 'refuse'],
  minted: ['present', 'refuse', 'pay'],
  presenting: ['accept', 'lose', 'pay', 'decline', 'withhold'],
  accepted: ['pay', 'decline', 'giveUp'],
  unknown: ['accept', 'pay', 'decline', 'giveUp'],
  paid: [],
  declined: ['pay'],
  refused: ['pay'],
  not_paid: ['pay'],
};

/** `seen`: the cause has moved the row before. */
export function moveMppPayment(
  from: MppPaymentStatus,
  command: MppPaymentCommand,
  seen: boolean,
): Move<MppPaymentStatus> {
  const next = leadsTo[command];
  if (seen) return { outcome: 'already', next: from };
  if (mayReceive[from].includes(command)) return { outcome: 'moved', next };
  return { outcome: 'refused', why: `cannot ${inWords[command]} a payment that is ${from}` };
}

const inWords: Readonly<Record<MppPaymentCommand, string>> = {
  challenge: 'read the challenge of',
  allow: 'allow',
  mint: 'mint a credential for',
  present: 'present the credential of',
  accept: 'accept',
  lose: 'lose the outcome of',
  pay: 'settle as paid',
  decline: 'decline',
  refuse: 'refuse',
  withhold: 'withhold the credential of',
  giveUp: 'settle as not paid',
};

const finalStatuses: readonly MppPaymentStatus[] = ['paid', 'declined', 'refused', 'not_paid'];
const isFinalStatus = (status: MppPaymentStatus): boolean => finalStatuses.includes(status);

/** Of these an intent has at most one payment. */
export const openMppPaymentStatuses: readonly MppPaymentStatus[] = mppPaymentStatuses.filter(
  (status) => !isFinalStatus(status),
);

export const chargeOutcomes = ['approved', 'declined'] as const;
export type ChargeOutcome = (typeof chargeOutcomes)[number];
/** Who said so: the card network, the merchant that verified the credential or gave a receipt, or an operator. */
export type ChargeSource = 'network' | 'verify' | 'receipt' | 'operator';

export type Settling = { readonly status: MppPaymentStatus; readonly chargeOutcome: ChargeOutcome | null };

/**
 * The command that follows from the charge, without another word of the merchant; undefined while there is none. A
 * payment that is being presented waits for the merchant's answer first.
 */
export function settlementOf({ status, chargeOutcome }: Settling): 'pay' | 'decline' | undefined {
  if (chargeOutcome === null || status === 'presenting') return undefined;
  const command = chargeOutcome === 'approved' ? 'pay' : 'decline';
  return mayReceive[status].includes(command) ? command : undefined;
}

/** Nothing can follow. A late approval opens a declined or refused payment again. */
export const isFinalMppPayment = (payment: Settling): boolean =>
  isFinalStatus(payment.status) && settlementOf(payment) === undefined;

/** What the merchant's answer to the credential says. `receipted`: it delivered, and gave a receipt of this payment. */
export type MerchantSays = 'receipted' | 'delivered' | 'refused' | 'nothing';

/** 408, 425 and 429 are about the moment, and the merchant may have charged before it gave them. */
const undecided: readonly number[] = [408, 425, 429];

export function merchantSays(httpStatus: number, hasReceipt: boolean): MerchantSays {
  if (httpStatus >= 200 && httpStatus < 300) return hasReceipt ? 'receipted' : 'delivered';
  return httpStatus >= 400 && httpStatus < 500 && !undecided.includes(httpStatus) ? 'refused' : 'nothing';
}

/** What follows when the merchant has answered, or when its time to answer is up (`nothing`). The charge decides. */
export function commandAfterAnswer(
  chargeOutcome: ChargeOutcome | null,
  says: MerchantSays,
): 'pay' | 'decline' | 'accept' | 'lose' {
  if (chargeOutcome !== null) return chargeOutcome === 'approved' ? 'pay' : 'decline';
  return ({ receipted: 'pay', delivered: 'accept', refused: 'decline', nothing: 'lose' } as const)[says];
}

/**
 * Whether a receipt settles the payment: as long as it waits for its charge. Once it has ended otherwise, its intent may
 * be paid by another one, and only the network's word counts.
 */
export const takesReceipt = ({ status, chargeOutcome }: Settling): boolean =>
  chargeOutcome === null && (status === 'presenting' || status === 'accepted' || status === 'unknown');

/** Real time. A credential that was not sent by then is not sent any more. */
export const sendWithinMs = 20 * second;
/** A credential lives no longer, so that no charge can follow later. */
export const credentialLivesMs = 5 * minute;
/** Business time. Clearings without an authorization may take so long. */
export const silenceMs = 7 * day;

/** When a payment of which nothing is heard counts as not paid; business time. */
export const givenUpAt = (presentedAt: Date): Date => new Date(presentedAt.getTime() + credentialLivesMs + silenceMs);

/** How long a merchant's answer is kept, in real time. */
export const bodyLivesMs = day;

/** The credential may have been charged, and no one has said so: business time counts until it counts as not paid. */
export const waitsForCharge = (status: MppPaymentStatus): boolean => status === 'accepted' || status === 'unknown';

/** What the workflow of a payment waits for, in its order. */
export type MppPaymentFact = 'minted' | 'answered' | 'settled';
/**
 * `send`: the credential may be sent, which the step that sends it commits first; `answer`: the merchant's time is up;
 * `charge`: the charge is known and not recorded; `silence`: no one has answered.
 */
export type MppPaymentDue = 'send' | 'answer' | 'charge' | 'silence';

export type MppPaymentProgress = Settling & {
  /** Real time. */
  readonly sendUntil: Date | null;
  /** Real time; null while the credential has not left Bursar. */
  readonly sentAt: Date | null;
  /** Business time. */
  readonly presentedAt: Date | null;
};

export type TwoClocks = { readonly business: Date; readonly real: Date };

const order: readonly MppPaymentStatus[] = ['requested', 'challenged', 'allowed', 'minted', 'presenting'];
export const isPast = (status: MppPaymentStatus, one: MppPaymentStatus): boolean =>
  !order.includes(status) || order.indexOf(status) > order.indexOf(one);

/** When the merchant's time to answer is up, in real time. */
export const answerDueAt = ({ sentAt, sendUntil }: Pick<MppPaymentProgress, 'sentAt' | 'sendUntil'>): number | null => {
  const from = sentAt ?? sendUntil;
  return from === null ? null : from.getTime() + presentationTimeoutMs + second;
};

export function mppPaymentFacts(
  payment: MppPaymentProgress,
  now: TwoClocks,
): Pick<RowState<never, MppPaymentFact, MppPaymentDue>, 'final' | 'reached' | 'dueInMs'> {
  const { status, presentedAt } = payment;
  const final = isFinalMppPayment(payment);
  const facts: Readonly<Record<MppPaymentFact, boolean>> = {
    minted: isPast(status, 'allowed'),
    answered: isPast(status, 'presenting'),
    settled: final,
  };
  const answerDue = status === 'presenting' ? answerDueAt(payment) : null;
  const isCharged = settlementOf(payment) !== undefined;
  const isSilent = presentedAt !== null && waitsForCharge(status) && !isCharged;
  return {
    final,
    reached: (Object.keys(facts) as MppPaymentFact[]).filter((fact) => facts[fact]),
    dueInMs: {
      ...(status === 'minted' ? { send: 0 } : {}),
      ...(answerDue === null ? {} : { answer: answerDue - now.real.getTime() }),
      ...(isCharged ? { charge: 0 } : {}),
      ...(isSilent ? { silence: givenUpAt(presentedAt).getTime() - now.business.getTime() } : {}),
    },
  };
}

/** When the workflow has to act next, on the business clock, for the relay; null when it waits for others only. */
export function mppPaymentDueAt(payment: MppPaymentProgress, now: TwoClocks): Date | null {
  const waits = Object.values(mppPaymentFacts(payment, now).dueInMs);
  if (waits.length === 0) return isFinalMppPayment(payment) ? null : now.business;
  return new Date(now.business.getTime() + Math.max(0, Math.min(...waits)));
}
