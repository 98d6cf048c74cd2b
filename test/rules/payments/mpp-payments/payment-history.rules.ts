/**
 * The rules that a model of machine payments plays with: the product's, and the same with one planted fault each.
 * @module
 */
import {
  type CredentialStatus,
  moveCredential,
} from '../../../../src/domains/payments/mpp-credentials/mpp-credential.rules.ts';
import {
  type MppPaymentStatus,
  moveMppPayment,
  openMppPaymentStatuses,
  takesReceipt,
} from '../../../../src/domains/payments/mpp-payments/mpp-payment.rules.ts';
import { decideAuthorization } from '../../../../src/domains/payments/network/authorization.rules.ts';
import { type IntentState, moveIntent, whyUnpayable } from '../../../../src/domains/spending/intents/intent.rules.ts';
import type { Credential, Payment } from './payment-history.model.ts';

export type Rules = {
  readonly movePayment: typeof moveMppPayment;
  readonly moveCredential: typeof moveCredential;
  readonly decide: typeof decideAuthorization;
  /** Another payment of the intent is refused meanwhile. */
  readonly isOpen: (status: MppPaymentStatus) => boolean;
  /** No other credential of the intent is minted meanwhile. */
  readonly isInTheWay: (credential: Credential) => boolean;
  /** The workflow's own guard in an older release: the call was marked by this run. */
  readonly isOwnCall: (payment: Payment, cause: string) => boolean;
  /** The guard of the step that sends. */
  readonly maySend: (payment: Payment, cause: string, now: Date) => boolean;
  readonly marksBeforeSend: boolean;
  /** The step that sends looks at the credential that its worker remembers. */
  readonly looksAgain: boolean;
  readonly revokesOnCancel: boolean;
  readonly moveIntent: typeof moveIntent;
  readonly whyUnpayable: typeof whyUnpayable;
  readonly takesReceipt: typeof takesReceipt;
  /** With the charge known, a receipt writes nothing. */
  readonly knowsCharge: (payment: Payment) => boolean;
};

export const productRules: Rules = {
  movePayment: moveMppPayment,
  moveCredential,
  decide: decideAuthorization,
  isOpen: (status) => openMppPaymentStatuses.includes(status),
  isInTheWay: () => true,
  isOwnCall: ({ sendCause }, cause) => sendCause === cause,
  maySend: ({ status, sendCause, sentAt }, cause) =>
    status === 'minted' || (status === 'presenting' && sendCause === cause && sentAt === null),
  marksBeforeSend: true,
  looksAgain: true,
  revokesOnCancel: true,
  moveIntent,
  whyUnpayable,
  takesReceipt,
  knowsCharge: ({ chargeOutcome }) => chargeOutcome !== null,
};

/** `promised`: an operator or a merchant vouches for it, and the network has not asked. */
export type ChargeState = 'promised' | 'approved' | 'cleared' | 'reversed';

export type Verifiable = {
  readonly status: CredentialStatus;
  readonly isVerified: boolean;
  readonly isPastExpiry: boolean;
  /** Of the charge that has used it; null without one. */
  readonly charge: ChargeState | null;
  readonly isIntentPayable: boolean;
  /** Agent and card. */
  readonly isActive: boolean;
};

/**
 * What the verify of a merchant leads to. `promised`: a new transaction, which waits for the network; `confirmed`: that
 * of the authorization which came before. The product's verification is compared with it.
 */
export function verification(given: Verifiable): 'promised' | 'confirmed' | 'conflict' | 'gone' {
  const { status, charge } = given;
  if (given.isVerified || status === 'declined') return 'conflict';
  if (status === 'consumed') return charge === 'reversed' ? 'conflict' : 'confirmed';
  const isUsable = status === 'minted' && !given.isPastExpiry;
  return isUsable && given.isIntentPayable && given.isActive ? 'promised' : 'gone';
}

/** The intent without the payment that keeps it. */
const unkept = <State extends IntentState>(state: State): State => ({ ...state, openPaymentId: null });

const withToken =
  (over: object): typeof decideAuthorization =>
  (facts) =>
    decideAuthorization({ ...facts, token: facts.token === null ? null : { ...facts.token, ...over } });

export const faults: Readonly<Record<string, Partial<Rules>>> = {
  'an intent expires while its payment is open': {
    moveIntent: (from, kind, seen) => moveIntent(kind === 'expire' ? unkept(from) : from, kind, seen),
  },
  'an intent is cancelled while its payment is open': {
    moveIntent: (from, kind, seen) => moveIntent(kind === 'cancel' ? unkept(from) : from, kind, seen),
  },
  'the deadline of an intent counts while its payment is open': {
    whyUnpayable: (state, at) => whyUnpayable(unkept(state), at),
  },
  'a receipt settles a payment that has ended otherwise': {
    takesReceipt: ({ chargeOutcome }) => chargeOutcome === null,
  },
  'a receipt writes a second transaction beside the charge': {
    knowsCharge: () => false,
    takesReceipt: ({ status }) => status === 'presenting' || status === 'unknown' || status === 'accepted',
  },
  'any run sends the credential, also when another one has sent it': {
    isOwnCall: () => true,
    maySend: ({ status }) => status === 'minted' || status === 'presenting',
  },
  'the send is noted after the credential has left': { marksBeforeSend: false },
  'a remembered credential is sent without a look at its state': { looksAgain: false },
  'a cancelled intent leaves its credentials to the agent': { revokesOnCancel: false },
  'an unknown payment does not keep its intent': {
    isOpen: (status) => status !== 'unknown' && openMppPaymentStatuses.includes(status),
  },
  'an accepted payment does not keep its intent': {
    isOpen: (status) => status !== 'accepted' && openMppPaymentStatuses.includes(status),
  },
  'a declined payment lets a second credential be minted beside the first': {
    isInTheWay: ({ payment }) => payment?.status !== 'declined',
  },
  'a payment token can be used again': { decide: withToken({ isUsed: false }) },
  'a payment token can be used after its end': { decide: withToken({ isExpired: false }) },
  'a charge that comes late does not settle a declined payment': {
    movePayment: (from, command, seen) =>
      from === 'declined' && command === 'pay'
        ? { outcome: 'refused', why: 'it is declined' }
        : moveMppPayment(from, command, seen),
  },
  'silence settles nothing': {
    movePayment: (from, command, seen) =>
      command === 'giveUp' ? { outcome: 'refused', why: 'nobody knows' } : moveMppPayment(from, command, seen),
  },
  'a step that ends late refuses a payment that is being presented': {
    movePayment: (from, command, seen) =>
      moveMppPayment(from, from === 'presenting' && command === 'refuse' ? 'withhold' : command, seen),
  },
  'a lost answer counts as a refusal': {
    movePayment: (from, command, seen) => moveMppPayment(from, command === 'lose' ? 'withhold' : command, seen),
  },
};
