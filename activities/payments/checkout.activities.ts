/**
 * Checkout steps the worker runs, safe to repeat: read the shop's offer and evaluate it by the charge rules, then mint
 * a token and pay with it in one step, so that the token never leaves it. A target that answers 402 is passed to a
 * machine payment. The row decides how it went.
 * @module
 */
import { createHash } from 'node:crypto';
import type { Database } from '../../src/db/database.ts';
import type { Tx } from '../../src/db/tx.ts';
import type { CardProcessor } from '../../src/domains/cards/cards/card.port.ts';
import { cardRefOf } from '../../src/domains/cards/cards/card.queries.ts';
import type { CheckoutRow } from '../../src/domains/payments/checkout/checkout.entity.ts';
import type { CheckoutOffer, MerchantCheckout, PayOutcome } from '../../src/domains/payments/checkout/checkout.port.ts';
import { checkoutState, findCheckout } from '../../src/domains/payments/checkout/checkout.queries.ts';
import {
  evaluateOffer,
  isFinalCheckout,
  isGivenUp,
  noOfferInWords,
  payGapMs,
  tokenLivesMs,
} from '../../src/domains/payments/checkout/checkout.rules.ts';
import { changeCheckout, lockCheckout } from '../../src/domains/payments/checkout/checkout.service.ts';
import type { IntentRow } from '../../src/domains/spending/intents/intent.entity.ts';
import { findIntent } from '../../src/domains/spending/intents/intent.queries.ts';
import { DomainError, notFound } from '../../src/kernel/errors.ts';
import { cents } from '../../src/kernel/money.ts';
import type { Cause } from '../../src/platform/cause.ts';
import type { Clock } from '../../src/platform/clock.ts';
import type { EvaluateCharge } from '../../src/usecases/payments/evaluate-charge.ts';
import { handOverCheckout } from '../../src/usecases/payments/hand-over-checkout.ts';
import { matchableNow, whyUnpayableNow } from '../../src/usecases/payments/intent-now.ts';
import type { SignerOfAgent } from '../../src/usecases/payments/request-signer.ts';
import { refusing } from '../lib/refusals.ts';

type Deps = {
  readonly database: Database;
  readonly clock: Clock;
  readonly merchantCheckout: MerchantCheckout;
  /** The charge rules, asked about the offer before any money may move. */
  readonly evaluate: EvaluateCharge;
  readonly cardProcessor: Pick<CardProcessor, 'mintPaymentToken'>;
  /** Signs what the shop receives, where the agent's owner wants it. */
  readonly signerOf: SignerOfAgent;
};

/** Each activity answers with the row as it is after it. */
type CheckoutState = ReturnType<typeof checkoutState>;

export const checkoutActivities = (deps: Deps) => ({
  readCheckout: refusing(
    async (checkoutId: string): Promise<CheckoutState> => stateOfRow(deps, await known(deps, checkoutId)),
  ),

  readOffer: refusing(async (checkoutId: string): Promise<CheckoutState> => {
    const row = await known(deps, checkoutId);
    if (row.status !== 'open') return stateOfRow(deps, row);
    const offer = await deps.merchantCheckout.readOffer(row.targetUrl, await deps.signerOf(row.agentId));
    const cause = await causeOf(deps, row, 'offer');
    if (offer.outcome === 'payment_required') {
      return stateOfRow(deps, await deps.database.write((tx) => handOverCheckout(tx, { row, offer }, cause)));
    }
    const evaluated = await deps.database.write(async (tx) => {
      const locked = await lockCheckout(tx, checkoutId);
      if (locked.status !== 'open') return locked;
      if (offer.outcome === 'no_offer') {
        const refused = { outcomeCode: offer.reason, outcomeReason: noOfferInWords[offer.reason] };
        return changeCheckout(tx, locked, 'refuse', refused, cause);
      }
      const { orderId, amountCents, merchant, payUrl } = offer;
      const intent = await findIntent(tx, locked.intentId);
      const why = await whyUnpayableNow(tx, intent, cause.at);
      if (intent === null || why !== undefined) {
        const refused = { amountCents, outcomeCode: 'intent', outcomeReason: why ?? 'the intent is gone' };
        return changeCheckout(tx, locked, 'refuse', refused, cause);
      }
      const decision = evaluateOffer(offer, await offerFacts(tx, deps, { intent, offer, at: cause.at }));
      if (!decision.ok) {
        const refused = { amountCents, outcomeCode: decision.code, outcomeReason: decision.reason };
        return changeCheckout(tx, locked, 'refuse', refused, cause);
      }
      const { ceilingCents } = decision;
      return changeCheckout(
        tx,
        locked,
        'offer',
        { orderId, amountCents, merchant, payUrl, ceilingCents: cents(ceilingCents) },
        cause,
      );
    });
    return stateOfRow(deps, evaluated);
  }),

  mintAndPay: refusing(async (checkoutId: string): Promise<CheckoutState> => {
    const paying = await beginPaying(deps, checkoutId);
    if (paying.status !== 'paying') return stateOfRow(deps, paying);
    const minted = await mint(deps, paying);
    if (minted.token === undefined) return stateOfRow(deps, minted.row);
    const outcome = await deps.merchantCheckout.pay({
      payUrl: text(minted.row.payUrl),
      orderId: text(minted.row.orderId),
      paymentToken: minted.token,
      idempotencyKey: checkoutId,
      signer: await deps.signerOf(minted.row.agentId),
    });
    return stateOfRow(deps, await conclude(deps, checkoutId, outcome));
  }),
});

export type CheckoutActivities = ReturnType<typeof checkoutActivities>;

const stateOfRow = async ({ clock }: Pick<Deps, 'clock'>, row: CheckoutRow): Promise<CheckoutState> =>
  checkoutState(row, await clock.now());

/** Written before any outside call: a reader of the row knows that money may move. */
async function beginPaying(deps: Deps, checkoutId: string): Promise<CheckoutRow> {
  const cause = await causeOf(deps, await known(deps, checkoutId), 'pay');
  return deps.database.write(async (tx) => {
    const row = await lockCheckout(tx, checkoutId);
    if (row.status === 'offered') {
      const why = await whyUnpayableNow(tx, await findIntent(tx, row.intentId), cause.at);
      if (why !== undefined)
        return changeCheckout(tx, row, 'refuse', { outcomeCode: 'intent', outcomeReason: why }, cause);
    }
    if (row.payingSince != null && isGivenUp({ payingSince: row.payingSince, now: cause.at })) {
      const outcomeReason = 'neither the shop nor the network has reported a payment; it counts as not paid';
      return changeCheckout(tx, row, 'fail', { outcomeCode: 'not_paid', outcomeReason }, cause);
    }
    const payAttempts = row.payAttempts + 1;
    const nextAttemptAt = new Date(cause.at.getTime() + payGapMs(payAttempts));
    const payingSince = row.payingSince ?? cause.at;
    return changeCheckout(tx, row, 'pay', { payAttempts, nextAttemptAt, payingSince }, cause);
  });
}

type Minted = { readonly row: CheckoutRow; readonly token: string | undefined };

/** The same key gives the same token; its hash is kept before it is used, so that the authorization is recognised. */
async function mint({ database, clock, cardProcessor }: Deps, row: CheckoutRow): Promise<Minted> {
  const minted = await cardProcessor.mintPaymentToken({
    cardRef: await cardRefOf(database.read(), row.cardId),
    merchantId: text(row.merchant?.id),
    ceilingCents: row.ceilingCents ?? 0,
    expiresAt: new Date(Date.now() + tokenLivesMs),
    idempotencyKey: row.id,
  });
  const cause = await causeOf({ clock }, row, `mint:${row.payAttempts}`);
  return database.write(async (tx) => {
    const locked = await lockCheckout(tx, row.id);
    if (minted.outcome === 'refused') {
      // A token is out already, so money may have moved: the shop or the network will tell, or the silence.
      const changed = { outcomeCode: 'card_refused' };
      if (locked.tokenHash != null)
        return { row: await changeCheckout(tx, locked, 'pay', changed, cause), token: undefined };
      const refused = {
        outcomeCode: 'card_refused',
        outcomeReason: `the card processor mints no payment token: ${refusalInWords[minted.reason]}; nothing was held`,
      };
      return { row: await changeCheckout(tx, locked, 'refuse', refused, cause), token: undefined };
    }
    const tokenHash = createHash('sha256').update(minted.paymentToken).digest('hex');
    const changed = await changeCheckout(tx, locked, 'pay', { tokenHash }, cause);
    return { row: changed, token: isFinalCheckout(changed.status) ? undefined : minted.paymentToken };
  });
}

const refusalInWords = {
  unknown_card: 'it does not know the card',
  closed: 'the card is closed there',
  not_accepted: 'it does not take this order',
} as const;

/** The authorization wrote the row if it came; otherwise what the shop said is noted, and believed when said twice. */
async function conclude(deps: Deps, checkoutId: string, outcome: PayOutcome): Promise<CheckoutRow> {
  const cause = await causeOf(deps, await known(deps, checkoutId), 'outcome');
  return deps.database.write(async (tx) => {
    const row = await lockCheckout(tx, checkoutId);
    if (isFinalCheckout(row.status)) return row;
    const saysNothingTaken = outcome.outcome === 'declined';
    if (saysNothingTaken && row.outcomeCode === 'shop_declined') {
      const outcomeReason = 'the shop took no payment, and the network asked for none; nothing was held';
      return changeCheckout(tx, row, 'fail', { outcomeCode: 'shop_declined', outcomeReason }, cause);
    }
    const outcomeCode = saysNothingTaken
      ? 'shop_declined'
      : outcome.outcome === 'paid'
        ? 'paid_unseen'
        : outcome.reason;
    return changeCheckout(tx, row, 'pay', { outcomeCode }, cause);
  });
}

type Offered = { readonly intent: IntentRow; readonly offer: CheckoutOffer; readonly at: Date };

async function offerFacts(tx: Tx, { evaluate }: Deps, { intent, offer, at }: Offered) {
  const { amountCents, merchant } = offer;
  const request = {
    amountCents,
    merchant: { id: merchant.id, name: merchant.name },
    mcc: merchant.mcc,
    country: merchant.country,
    kind: 'purchase' as const,
  };
  return {
    intent: await matchableNow(tx, intent, at),
    ...(await evaluate(tx, { intentId: intent.id, cardId: intent.cardId, request }, at)),
  };
}

async function known({ database }: Pick<Deps, 'database'>, checkoutId: string): Promise<CheckoutRow> {
  const row = await findCheckout(database.read(), checkoutId);
  if (row === null) throw notFound('checkout', checkoutId);
  return row;
}

async function causeOf(
  { clock }: Pick<Deps, 'clock'>,
  { id, requestId, runId, actor, payAttempts }: CheckoutRow,
  step: string,
): Promise<Cause> {
  return {
    causeId: `checkout:${id}:${step}:${payAttempts}`,
    requestId,
    runId: runId ?? undefined,
    actor,
    at: await clock.now(),
  };
}

function text(value: string | null | undefined): string {
  if (value == null) throw new DomainError('invalid_state', 'the checkout has no offer');
  return value;
}
