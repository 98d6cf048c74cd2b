/**
 * Ends a checkout whose target answered 402, and begins the machine payment that pays it: in one transaction, so that
 * at no time both are open, or none is. A 402 without a challenge that Bursar can pay refuses the checkout. Spends
 * nothing; the payment requests the target itself, and its own steps evaluate the challenge.
 * @module
 */
import type { Tx } from '../../db/tx.ts';
import type { CheckoutRow } from '../../domains/payments/checkout/checkout.entity.ts';
import type { PaymentRequired } from '../../domains/payments/checkout/checkout.port.ts';
import { noOfferInWords } from '../../domains/payments/checkout/checkout.rules.ts';
import { changeCheckout, lockCheckout } from '../../domains/payments/checkout/checkout.service.ts';
import { parseAuthenticate } from '../../domains/payments/mpp/authenticate-header.rules.ts';
import { chooseChallenge } from '../../domains/payments/mpp/challenge.wire.ts';
import { noChallengeInWords } from '../../domains/payments/mpp-payments/mpp-payment.outcome.rules.ts';
import { openMppPaymentOf } from '../../domains/payments/mpp-payments/mpp-payment.queries.ts';
import { openMppPayment } from '../../domains/payments/mpp-payments/mpp-payment.service.ts';
import { lockSpending } from '../../domains/payments/transactions/payment-lock.service.ts';
import type { IntentRow } from '../../domains/spending/intents/intent.entity.ts';
import { lockIntent } from '../../domains/spending/intents/intent.lock.service.ts';
import { newId } from '../../kernel/ids.ts';
import { whyAtLimit } from '../../platform/assert-limit.ts';
import type { Cause } from '../../platform/cause.ts';
import { whyUnpayableNow } from './intent-now.ts';

type HandOver = { readonly row: CheckoutRow; readonly offer: PaymentRequired };

type Refusal = { readonly outcomeCode: string; readonly outcomeReason: string };

export async function handOverCheckout(tx: Tx, { row, offer }: HandOver, cause: Cause): Promise<CheckoutRow> {
  await lockSpending(tx, row.agentId);
  // As every other call that begins a payment of the intent does.
  const intent = await lockIntent(tx, row.intentId);
  const checkout = await lockCheckout(tx, row.id);
  if (checkout.status !== 'open') return checkout; // The step was taken before.
  const refusal = unpayableChallenge(offer) ?? (await unpayableIntent(tx, intent, cause));
  if (refusal !== undefined) return changeCheckout(tx, checkout, 'refuse', refusal, cause);
  const ids = { id: newId('mppPayment'), credentialId: newId('mppCredential') };
  const payment = await openMppPayment(tx, { ...ids, intent, url: checkout.targetUrl }, cause);
  return changeCheckout(tx, checkout, 'handOver', { mppPaymentId: payment.id }, cause);
}

function unpayableChallenge({ authenticate, offersX402 }: PaymentRequired): Refusal | undefined {
  const choice = chooseChallenge(parseAuthenticate(authenticate), Date.now());
  if (choice.ok) return undefined;
  if (choice.offered.length === 0 && !offersX402)
    return { outcomeCode: 'not_an_offer', outcomeReason: noOfferInWords.not_an_offer };
  const { code, why } = noChallengeInWords({ ...choice, offersX402 });
  return { outcomeCode: code, outcomeReason: why };
}

async function unpayableIntent(tx: Tx, intent: IntentRow, cause: Cause): Promise<Refusal | undefined> {
  const why = await whyUnpayableNow(tx, intent, cause.at);
  if (why !== undefined) return { outcomeCode: 'intent', outcomeReason: why };
  const open = await openMppPaymentOf(tx, intent.id);
  if (open !== null) {
    return {
      outcomeCode: 'intent',
      outcomeReason: `payment ${open.id} of this intent is ${open.status}; nothing was held`,
    };
  }
  const counted = { ownerId: intent.ownerId, subject: intent.id, at: cause.at };
  const full = await whyAtLimit(tx, 'mpp_payments', counted, { isLocked: true }); // By the intent's row.
  return full === undefined ? undefined : { outcomeCode: 'payment_limit', outcomeReason: `${full}; nothing was held` };
}
