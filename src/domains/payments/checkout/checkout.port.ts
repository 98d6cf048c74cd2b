/**
 * A shop as Bursar uses it: an offer, and the outcome of paying it. No behaviour of a shop makes these calls throw;
 * `unknown` means that money may have moved and the outcome has to be queried.
 * @module
 */
import type { Cents } from '../../../kernel/money.ts';
import type { RequestSigner } from '../../../outbound/request-signer.ts';

export type Merchant = {
  readonly id: string;
  readonly name: string;
  /** Merchant category code, four digits. */
  readonly mcc: string;
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
};

export type CheckoutOffer = {
  readonly outcome: 'offer';
  readonly orderId: string;
  readonly amountCents: Cents;
  readonly currency: 'EUR';
  readonly merchant: Merchant;
  /** Of the same origin as the address that made the offer. */
  readonly payUrl: string;
};

const noOfferReasons = ['address_refused', 'unreachable', 'not_an_offer', 'not_eur', 'other_origin'] as const;
export type NoOfferReason = (typeof noOfferReasons)[number];
/** The target sells by HTTP 402 instead. */
export type PaymentRequired = {
  readonly outcome: 'payment_required';
  /** The lines of `WWW-Authenticate`, as received. */
  readonly authenticate: readonly string[];
  /** The target offers a payment by x402, a cryptocurrency. */
  readonly offersX402: boolean;
};
export type OfferOutcome =
  | CheckoutOffer
  | PaymentRequired
  | { readonly outcome: 'no_offer'; readonly reason: NoOfferReason };

const unknownPayReasons = ['unreachable', 'shop_error', 'broken_answer'] as const;
export type UnknownPayReason = (typeof unknownPayReasons)[number];
export type PayOutcome =
  | { readonly outcome: 'paid' }
  | { readonly outcome: 'declined' }
  | { readonly outcome: 'unknown'; readonly reason: UnknownPayReason };

export type MerchantCheckout = {
  /** The signer is that of the agent; without one, requests are not signed. */
  readOffer(targetUrl: string, signer?: RequestSigner): Promise<OfferOutcome>;
  /** Repeating with the same key never pays twice and finds the outcome of the first time. */
  pay(payment: {
    readonly payUrl: string;
    readonly orderId: string;
    readonly paymentToken: string;
    readonly idempotencyKey: string;
    readonly signer?: RequestSigner | undefined;
  }): Promise<PayOutcome>;
};
