/**
 * The messages of the card network and their answers. Wire shapes only. Unknown fields are accepted, because networks
 * add fields without notice.
 * @module
 */
import * as z from 'zod';
import { defineArea } from '../../../http/route.ts';
import { cleanText, mcc, text } from '../../../http/schemas.ts';
import { bothOrNeither, namesBothOrNeither } from './merchant-charge.rules.ts';

const reference = z.string().regex(/^[A-Za-z0-9_.:-]{1,128}$/, 'must have 1 to 128 characters of A-Z a-z 0-9 _ . : -');
const amountCents = z.int().min(0).max(99_999_999_999);
const currencyCode = z.string().regex(/^[A-Z]{3}$/, 'must be an ISO 4217 code of three capital letters');
/** Absent: EUR. A message in another currency is kept and not booked. */
const currency = currencyCode
  .optional()
  .meta({ description: 'absent: EUR; in any other currency the message is kept, not booked, and answered 409' });
/** As many digits as a number of JSON keeps exactly; four decimals are the most of any currency in ISO 4217. */
const merchantAmount = z
  .number()
  .refine(isAmount, 'must be an amount, not negative, of at most 15 digits, at most four of them decimals')
  .optional()
  .meta({
    minimum: 0,
    description:
      'what the merchant charges, asks for or gives back, in units (not cents) of `merchantCurrency`; at most 15 digits, at most four of them decimals. Kept and shown, never converted: the cents are what is billed, and may follow another rate in each message',
  });
const charged = {
  merchantAmount,
  merchantCurrency: currencyCode
    .optional()
    .meta({ description: 'ISO 4217; sent together with `merchantAmount`, or not at all' }),
};
function isAmount(amount: number): boolean {
  const digits = String(amount);
  return /^\d+(\.\d{1,4})?$/.test(digits) && digits.replace('.', '').length <= 15;
}

const at = z.iso.datetime({ offset: true });
const merchant = z.object({
  id: text(128),
  name: cleanText(140),
  mcc,
  // A network has one spelling; a message in another one is not taken for it.
  country: z.string().regex(/^[A-Z]{2}$/, 'must be an ISO 3166-1 country code of two capital letters'),
});

export const authorizationMessage = z
  .object({
    id: reference,
    cardRef: reference,
    token: text(256).optional().meta({ description: 'the payment token, where one was used' }),
    amountCents,
    currency: z.literal('EUR'),
    ...charged,
    merchant,
    kind: z.enum(['purchase', 'verification']).default('purchase'),
    partialSupported: z.boolean().default(false),
    recurring: z.boolean().default(false),
    expiresAt: at.optional(),
    simulation: reference.optional().meta({ description: 'the simulated charge that Bursar asked for' }),
    sentAt: at.optional(),
  })
  .refine(({ kind, amountCents }) => (kind === 'verification') === (amountCents === 0), {
    path: ['amountCents'],
    message: 'must be 0 for a verification and more than 0 for a purchase',
  })
  .refine(namesBothOrNeither, bothOrNeither);

export const incrementMessage = z
  .object({
    id: reference,
    authorizationId: reference,
    cardRef: reference,
    amountCents: z.int().min(1).max(99_999_999_999).meta({ description: 'by how much the hold is to grow' }),
    currency: currencyCode.optional().meta({ description: 'absent: EUR; any other currency is declined' }),
    ...charged,
    partialSupported: z.boolean().default(false),
    expiresAt: at.optional(),
    sentAt: at.optional(),
  })
  .refine(namesBothOrNeither, bothOrNeither);

export const clearingMessage = z
  .object({
    id: reference,
    authorizationId: reference,
    cardRef: reference,
    amountCents,
    currency,
    ...charged,
    final: z.boolean(),
    merchant: merchant.optional(),
    clearedAt: at.optional(),
  })
  .refine(namesBothOrNeither, bothOrNeither);

export const reversalMessage = z
  .object({
    id: reference,
    authorizationId: reference,
    cardRef: reference,
    amountCents: z.int().min(1).max(99_999_999_999).optional().meta({ description: 'absent: all that is left' }),
    currency,
    ...charged,
  })
  .refine(namesBothOrNeither, bothOrNeither);

export const refundMessage = z
  .object({
    id: reference,
    authorizationId: reference.optional().meta({ description: 'absent: the network does not say what it gives back' }),
    cardRef: reference,
    amountCents: z.int().min(1).max(99_999_999_999),
    currency,
    ...charged,
    merchant: merchant.optional(),
    refundedAt: at.optional(),
  })
  .refine(namesBothOrNeither, bothOrNeither);

export const adviceMessage = z
  .object({
    id: reference,
    authorization: authorizationMessage,
    approvedCents: z.int().min(1).max(99_999_999_999).meta({ description: 'what the network approved' }),
    sentAt: at.optional(),
  })
  .refine(({ authorization }) => authorization.kind === 'purchase', {
    path: ['authorization', 'kind'],
    message: 'must be purchase: nothing is held for a verification',
  });

export type AuthorizationMessage = z.output<typeof authorizationMessage>;
export type IncrementMessage = z.output<typeof incrementMessage>;
export type ClearingMessage = z.output<typeof clearingMessage>;
export type ReversalMessage = z.output<typeof reversalMessage>;
export type AdviceMessage = z.output<typeof adviceMessage>;
export type RefundMessage = z.output<typeof refundMessage>;

export const authorizationAnswer = z
  .strictObject({
    decision: z.enum(['approved', 'partial', 'declined']),
    approvedCents: z.int(),
    transactionId: z.string().nullable().meta({
      description: 'null for a card that is not known, and for an increment without its authorization',
    }),
    rule: z.string().optional().meta({ description: 'the rule that decided' }),
    reason: z.string().optional().meta({ description: 'in words, with figures' }),
  })
  .meta({
    id: 'AuthorizationAnswer',
    description: 'The decision about an authorization, or about an increment of it.',
  });
export const bookingAnswer = z
  .strictObject({
    transactionId: z.string().nullable().meta({
      description: 'null while the authorization has not been seen, and for a card that is not known',
    }),
  })
  .meta({ id: 'BookingAnswer', description: 'The transaction that a message was booked on.' });

export type AuthorizationAnswer = z.output<typeof authorizationAnswer>;
export type BookingAnswer = z.output<typeof bookingAnswer>;

const signed = { auth: ['network'], unlimited: true, bodyLimitBytes: 64 * 1024, refusals: [] } as const;

export const networkArea = defineArea({
  tag: 'Network',
  base: '/network',
  aliases: [],
  description:
    'What the card network sends. Signed: `X-Network-Signature: t=<unix seconds>,v1=<hex HMAC-SHA256(key, "<t>.<METHOD> <request target as sent, query included>.<raw body>")>`, so that a message signed for one endpoint is valid at no other; `t` may be 5 minutes off. The same `id` gives the same answer; ids are unique per kind of message.',
  operations: {
    authorizeCardPayment: {
      ...signed,
      method: 'post',
      path: '/authorizations',
      summary: 'May this card pay? Decides, and holds the money',
      description:
        'A decline is 200 as well, with rule and reason. A charge that only wants a person is declined, and asked about by an intent that waits. What the network collected before it asked stays booked, and the rules decide on the amount: refused, the answer is `partial` with the collected amount where `partialSupported`, else `declined`. 503, with `Retry-After`: nothing is held; the same message may be sent again. A network that has no answer in time decides by itself. What it approves it reports by an advice. What it declines it has to reverse, by the id of the authorization and without an amount: Bursar may have approved it meanwhile, and would hold the money until the hold expires. An authorization that comes after that reversal is declined by the rule `reversed_before`, and nothing is held.',
      body: authorizationMessage,
      success: { status: 200, body: authorizationAnswer },
      fires: [
        ...(['transaction.created', 'transaction.authorization', 'transaction.declined'] as const),
        ...(['intent.matched', 'intent.mismatched', 'intent.failed', 'intent.completed'] as const),
        ...(['risk.review_required', 'intent.created', 'mpp.credential.consumed'] as const),
        // What clearings and reversals that came before it change, as it books them.
        ...(['transaction.settlement', 'transaction.settled', 'transaction.completed'] as const),
        ...(['transaction.updated', 'risk.alert_created', 'intent_window.completed', 'transaction.refunded'] as const),
        ...(['mpp.transaction.completed', 'card.closed', 'card.frozen'] as const),
      ],
    },
    incrementCardPayment: {
      ...signed,
      method: 'post',
      path: '/increments',
      summary: 'May more be held for this payment? Decides, and raises the hold',
      description:
        'A hotel or a car hire asks for more than it was approved. The rules decide on the whole new amount, with counters that leave this payment out and count it in the day of its authorization; money is asked for the difference. The payment keeps its intent, whose tolerance bounds the whole amount. A decline is 200 as well, with rule and reason, and leaves the hold as it was: by a rule, `other_card`, `other_currency`, `no_authorization` (the network has not asked for it), `authorization_declined`, or `authorization_ended` (reversed, collected, or its hold too old). No person is asked. `approvedCents` is what the hold grew by. Cooldown and the number of payments do not apply: it is no new payment.',
      body: incrementMessage,
      success: { status: 200, body: authorizationAnswer },
      fires: ['transaction.updated'],
    },
    clearCardPayment: {
      ...signed,
      method: 'post',
      path: '/clearings',
      refusals: ['conflict'],
      summary: 'The network collects; `final` gives the rest of the hold back',
      description:
        'Never refused: taken from the hold, then from available money, and the rest is owed. What comes before its authorization waits for it: a day at most where money was collected, a clearing of 0 until the authorization comes. 409: a `cardRef` that is not the authorization’s, or a `currency` that is not EUR; kept, and not booked until an operator assigns it. A final clearing of 0 gives the hold back. What is collected from a card that is not known goes to the operator’s suspense account.',
      body: clearingMessage,
      success: { status: 200, body: bookingAnswer },
      fires: [
        ...(['transaction.settlement', 'transaction.settled', 'transaction.completed', 'risk.alert_created'] as const),
        ...(['intent.matched', 'intent.completed', 'intent.cancelled', 'intent_window.completed'] as const),
        ...(['mpp.transaction.completed', 'card.closed', 'card.frozen'] as const),
      ],
    },
    reverseCardPayment: {
      ...signed,
      method: 'post',
      path: '/reversals',
      refusals: ['conflict'],
      summary: 'The network gives back a part of the hold, or all of it',
      description:
        'Never refused; money that is no longer held is not given back again. A reversal that comes before its authorization waits for it: without an amount, or where those that came add up to the whole amount, it declines the authorization (`reversed_before`); of a part, it gives that part back once the authorization is decided. A network that declined an authorization because no answer came in time sends one without an amount: what was held is given back, and the intent is open again. 409: a `cardRef` that is not the authorization’s, or a `currency` that is not EUR; the message is stored and not booked until an operator assigns it.',
      body: reversalMessage,
      success: { status: 200, body: bookingAnswer },
      fires: [
        ...(['transaction.updated', 'transaction.completed', 'mpp.transaction.completed'] as const),
        ...(['card.closed', 'card.frozen', 'risk.alert_created'] as const),
        ...(['intent.completed', 'intent.cancelled', 'intent_window.completed', 'intent_window.missed'] as const),
      ],
    },
    refundCardPayment: {
      ...signed,
      method: 'post',
      path: '/refunds',
      refusals: ['conflict'],
      summary: 'The network gives back what it had collected',
      description:
        'Never refused: credited at once, to the owner’s default wallet where agent or wallet are closed, after what is owed. A separate transaction (`type: refund`) that names the original in `originalTransactionId`. A refund that comes before its authorization waits for it, a day at most. Spending limits get nothing back. An original that is given back whole becomes `reversed`; more than was collected raises an alert, once no clearing can come any more. 409: a `cardRef` that is not the authorization’s, or a `currency` that is not EUR; the message is stored and not booked until an operator assigns it. What is given back to a card that is not known goes to the operator’s suspense account.',
      body: refundMessage,
      success: { status: 200, body: bookingAnswer },
      fires: ['transaction.created', 'transaction.refunded', 'transaction.updated', 'risk.alert_created'],
    },
    adviseCardPayment: {
      ...signed,
      method: 'post',
      path: '/advices',
      refusals: ['conflict'],
      summary: 'The network has approved in Bursar’s place, because no answer came in time',
      description:
        'Never refused, also above every limit: held as far as there is money, with `risk.alert_created`; the rest is owed when it is collected. `authorization` is what the network sent, or would have sent: where it has not come, the advice stands for it, and the same authorization is answered `approved` from then on. One that was declined, or approved for less, is held now, and pays for the intent that it was for; a person who is asked about it is asked no more. 400: a verification, for which nothing is held. 409: a `cardRef` that is not the authorization’s; the message is stored and never booked, and waits until an operator dismisses it.',
      body: adviceMessage,
      success: { status: 200, body: bookingAnswer },
      fires: [
        ...(['transaction.created', 'transaction.authorization', 'transaction.updated'] as const),
        ...(['risk.alert_created', 'intent.matched', 'intent.mismatched', 'intent.completed'] as const),
        'intent.cancelled', // The request to a person about the charge.
        // What messages that came before it change, as it books them.
        ...(['transaction.settlement', 'transaction.settled', 'transaction.completed'] as const),
        ...(['transaction.refunded', 'intent_window.completed', 'mpp.credential.consumed'] as const),
        ...(['mpp.transaction.completed', 'card.closed', 'card.frozen'] as const),
      ],
    },
  },
});
