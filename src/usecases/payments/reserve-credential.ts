/**
 * Reserves an MPP credential for an intent: evaluates the challenge under the intent's lock and writes the row, in the
 * caller's transaction. Mints nothing. At most one live credential and no open checkout of an intent exist beside it.
 * @module
 */
import type { Tx } from '../../db/tx.ts';
import { isFinalCheckout } from '../../domains/payments/checkout/checkout.rules.ts';
import type { Challenge, ChargeRequest } from '../../domains/payments/mpp/challenge.wire.ts';
import { type Refused, refused } from '../../domains/payments/mpp-credentials/challenge-evaluation.rules.ts';
import type { MppCredentialRow } from '../../domains/payments/mpp-credentials/mpp-credential.entity.ts';
import {
  findMppCredential,
  lockLiveCredentialOf,
  lockMppCredential,
} from '../../domains/payments/mpp-credentials/mpp-credential.queries.ts';
import { isPastExpiry } from '../../domains/payments/mpp-credentials/mpp-credential.rules.ts';
import {
  expireMppCredential,
  reserveMppCredential,
} from '../../domains/payments/mpp-credentials/mpp-credential.service.ts';
import { lockIntentForPayment } from '../../domains/payments/transactions/payment-lock.service.ts';
import type { IntentRow } from '../../domains/spending/intents/intent.entity.ts';
import { notFound } from '../../kernel/errors.ts';
import { type Cause, inRunOf } from '../../platform/cause.ts';
import { whyInactiveOf } from '../spending/assert-active.ts';
import type { EvaluateChallenge } from './evaluate-challenge.ts';
import { type Surroundings, surroundingsOf } from './payment-surroundings.ts';
import type { ReadForMinting } from './read-for-minting.ts';

export type CredentialOrder = {
  readonly credentialId: MppCredentialRow['id'];
  readonly intentId: string;
  readonly cardId: string;
  /** The payment that mints; null where the caller presents the credential. */
  readonly paymentId: string | null;
  readonly challenge: Challenge;
  readonly charge: ChargeRequest;
  /** Of the address that sent the challenge; null where only the challenge is known. */
  readonly origin: string | null;
};

export type Reservation =
  | {
      readonly ok: true;
      readonly row: Readonly<MppCredentialRow>;
      /** Of the intent that was evaluated; undefined where the credential was reserved before. */
      readonly intentVersion: number | undefined;
      /** For the evaluation; undefined where the credential was reserved before. */
      readonly read: ReadForMinting | undefined;
      /** Of the payment that was written with it; null where it has gone further, undefined where it was not written. */
      readonly paymentVersion?: number | null | undefined;
    }
  | Refused;

/** A repeat finds the row of the first time. `payment`: what is written of the payment with a credential that is new. */
export const reserveCredential =
  ({ evaluateChallenge }: { readonly evaluateChallenge: EvaluateChallenge }) =>
  async (tx: Tx, order: CredentialOrder, caller: Cause, payment?: object): Promise<Reservation> => {
    const { credentialId, intentId, paymentId, charge } = order;
    const intent = await lockIntentForPayment(tx, intentId);
    if (intent === null) throw notFound('intent', intentId);
    const surroundings = await surroundingsOf(tx, intentId, credentialId);
    const known = surroundings.isMade ? await findMppCredential(tx, credentialId) : null;
    if (known !== null) return { ok: true, row: known, intentVersion: undefined, read: undefined };
    // The caller of a payment was told so when it began; here its workflow may come late.
    const inactive = paymentId === null ? undefined : whyInactiveOf(intent, surroundings.holder);
    if (inactive !== undefined) return { ok: false, code: 'inactive', reason: inactive };
    const cause = causeOfStep(inRunOf(caller, intent), credentialId, 'reserve');
    const underWay = await otherPayment(tx, intent, { ...surroundings, cause, paymentId });
    if (underWay !== undefined) return refused('intent', underWay);
    const evaluation = await evaluateChallenge(tx, { ...order, intent }, cause.at);
    if (!evaluation.ok) return evaluation;
    const { payee, ceilingCents, read } = evaluation;
    const { challenge, origin } = order;
    const wanted = {
      ...{ id: credentialId, intent, paymentId, challenge, origin, payee, ceilingCents },
      amountCents: charge.amountCents,
    };
    const reserved = await reserveMppCredential(tx, wanted, cause, { now: new Date(), payment });
    return { ok: true, ...reserved, intentVersion: intent.version, read };
  };

type Beside = Pick<Surroundings, 'payment' | 'credentialId' | 'checkout'> & {
  readonly cause: Cause;
  readonly paymentId: string | null;
};

/** Why another payment of the intent may still be made. A credential past its expiry is marked. */
async function otherPayment(
  tx: Tx,
  intent: Readonly<IntentRow>,
  { payment, credentialId, checkout, cause, paymentId }: Beside,
): Promise<string | undefined> {
  if (payment !== null && payment.id !== paymentId) return `payment ${payment.id} of this intent is ${payment.status}`;
  const now = new Date();
  // The intent is locked, so where there is none now, none is made.
  const live = credentialId === null ? null : await lockLiveCredentialOf(tx, intent.id);
  if (live !== null && !isPastExpiry(live, now))
    return `credential ${live.id} of this intent is valid until ${live.expiresAt.toISOString()}`;
  if (live !== null) {
    const expired = await lockMppCredential(tx, live.id);
    await expireMppCredential(tx, expired, causeOfStep(cause, live.id, 'expire'), now);
  }
  if (checkout !== null && !isFinalCheckout(checkout.status))
    return `checkout ${checkout.id} of this intent is under way`;
  return undefined;
}

/** Each step of a credential happens once, no matter who causes it. */
export const causeOfStep = (cause: Cause, credentialId: string, step: string): Cause => ({
  ...cause,
  causeId: `mpp-credential:${credentialId}:${step}`,
});
