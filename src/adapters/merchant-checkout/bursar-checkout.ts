/**
 * The adapter for every shop that implements the Bursar checkout protocol (docs/checkout.md). A shop is not trusted:
 * each answer is limited in size and checked, and cannot redirect the payment to another origin. The token is sent only
 * to the shop. A 402 is passed on: what it asks for is not this protocol's matter.
 * @module
 */
import * as z from 'zod';
import type {
  MerchantCheckout,
  NoOfferReason,
  OfferOutcome,
  PayOutcome,
  UnknownPayReason,
} from '../../domains/payments/checkout/checkout.port.ts';
import { cents } from '../../kernel/money.ts';
import type { Outbound, OutboundAnswer } from '../../outbound/outbound.ts';
import { OutboundError } from '../../outbound/outbound-error.ts';
import { offersX402 } from '../x402-offer.ts';

export const checkoutMediaType = 'application/vnd.bursar.checkout+json';

const largestAmountCents = 99_999_999_999; // What nine digits of euros and two decimals can say.
const line = (longest: number) =>
  z
    .string()
    .min(1)
    .max(longest)
    .regex(/^[^\p{Cc}]*$/u);
const Offer = z.object({
  orderId: line(128),
  amountCents: z.number().int().positive().max(largestAmountCents),
  currency: z.string().regex(/^[A-Z]{3}$/),
  merchant: z.object({
    id: z.string().regex(/^[A-Za-z0-9_.:-]{1,128}$/), // What a payment token can be minted for.
    name: line(140),
    mcc: z.string().regex(/^\d{4}$/),
    country: z.string().regex(/^[A-Z]{2}$/),
  }),
  payUrl: z.url({ protocol: /^https?$/ }).max(2_048),
});
const Paid = z.object({ orderId: z.string(), status: z.enum(['paid', 'declined']) });

/** By these the shop says that it took nothing under this key and never will. */
const finalRefusals: readonly number[] = [400, 402, 403, 404, 410, 422];
const offerTimeoutMs = 5_000;
const payTimeoutMs = 8_000;
const maxBytes = 64 * 1024;

export function createBursarCheckout({ outbound }: { outbound: Outbound }): MerchantCheckout {
  return {
    async readOffer(targetUrl, signer) {
      const signature = signer && ({ signer, purpose: 'browse' } as const);
      const request = { method: 'GET', headers: { Accept: checkoutMediaType }, signature, ...readLimits } as const;
      const answer = await outbound.request(targetUrl, request).catch(unanswered);
      if (answer instanceof OutboundError) {
        return noOffer(answer.kind === 'refused_address' ? 'address_refused' : 'unreachable');
      }
      if (answer.status === 402) {
        const authenticate = answer.linesOf('www-authenticate');
        return { outcome: 'payment_required', authenticate, offersX402: offersX402(answer) };
      }
      return answer.status >= 500 ? noOffer('unreachable') : offerIn(answer, targetUrl);
    },

    async pay({ payUrl, orderId, paymentToken, idempotencyKey, signer }) {
      const signature = signer && ({ signer, purpose: 'pay' } as const);
      const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey };
      const body = JSON.stringify({ orderId, paymentToken });
      const request = { method: 'POST', headers, body, signature, ...payLimits } as const;
      const answer = await outbound.request(payUrl, request).catch(unanswered);
      return answer instanceof OutboundError ? unknown('unreachable') : outcomeIn(answer, orderId);
    },
  };
}

const readLimits = { timeoutMs: offerTimeoutMs, maxBytes, requireHttps: true, isRepeatable: true };
const payLimits = { timeoutMs: payTimeoutMs, maxBytes, requireHttps: true, isRepeatable: true };

/** No answer is an expected outcome; whatever else was thrown is a bug and stays one. */
function unanswered(error: unknown): OutboundError {
  if (error instanceof OutboundError) return error;
  throw error;
}

function offerIn(answer: OutboundAnswer, targetUrl: string): OfferOutcome {
  const { 'content-type': contentType = '' } = answer.headers;
  const isSpoken = answer.status === 200 && contentType.startsWith(checkoutMediaType);
  const result = isSpoken ? Offer.safeParse(parsedJson(answer)) : undefined;
  if (!result?.success) return noOffer('not_an_offer');
  const { amountCents, currency, payUrl, ...rest } = result.data;
  if (currency !== 'EUR') return noOffer('not_eur');
  if (!isSameOrigin(payUrl, targetUrl)) return noOffer('other_origin');
  return { outcome: 'offer', ...rest, amountCents: cents(amountCents), currency, payUrl };
}

function isSameOrigin(payUrl: string, targetUrl: string): boolean {
  const { origin, username, password } = new URL(payUrl);
  return origin === new URL(targetUrl).origin && username === '' && password === '';
}

function outcomeIn(answer: OutboundAnswer, orderId: string): PayOutcome {
  if (finalRefusals.includes(answer.status)) return { outcome: 'declined' };
  if (answer.status !== 200) return unknown('shop_error');
  const result = Paid.safeParse(parsedJson(answer));
  if (!result.success || result.data.orderId !== orderId) return unknown('broken_answer');
  return { outcome: result.data.status };
}

const noOffer = (reason: NoOfferReason): OfferOutcome => ({ outcome: 'no_offer', reason });
const unknown = (reason: UnknownPayReason): PayOutcome => ({ outcome: 'unknown', reason });

function parsedJson({ text, truncated }: OutboundAnswer): unknown {
  try {
    return truncated ? undefined : JSON.parse(text);
  } catch {
    return undefined; // Not JSON: the shape says so.
  }
}
