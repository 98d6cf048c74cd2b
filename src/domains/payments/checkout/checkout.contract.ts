/** The checkout operations as published. Wire shapes only. @module */
import * as z from 'zod';
import { defineArea } from '../../../http/route.ts';
import { eurosOut, id, idOut } from '../../../http/schemas.ts';
import { day } from '../../../kernel/instant.ts';
import { linkWindowMs } from '../transactions/transaction.rules.ts';
import { executedStatuses } from './checkout.rules.ts';

const executedOut = z
  .strictObject({
    success: z.boolean(),
    checkoutId: idOut('checkout'),
    status: z.enum(executedStatuses).meta({
      description:
        '`accepted`: a merchant that sells by HTTP 402 delivered, and its charge has not been seen yet; `failed`: the shop took nothing.',
      examples: ['paid'],
    }),
    transactionId: z.string().nullable().meta({ description: 'null where the shop took nothing' }),
    intentId: idOut('intent'),
    amountEuros: eurosOut,
    targetUrl: z.string(),
    cardId: z.string().nullable(),
    reason: z.string().nullable().meta({ description: 'why it was declined, in words' }),
    paymentId: z
      .string()
      .nullable()
      .meta({
        description:
          'The machine payment where the target answered 402; `GET /v1/mpp/payments/{id}` has the receipt and what the merchant delivered. null at a shop.',
        examples: [null],
      }),
  })
  .meta({ id: 'CheckoutOutcome', description: 'The outcome of a checkout.' });

export const checkoutArea = defineArea({
  tag: 'Checkout',
  base: '/checkout',
  aliases: [],
  description: 'Turns an approved intent into a payment.',
  operations: {
    executeCheckout: {
      method: 'post',
      path: '/execute',
      summary: 'Pay for an approved intent at a shop',
      description:
        'The shop speaks the Bursar checkout protocol, or answers 402 with a card challenge, which is then paid as by `POST /v1/mpp/pay`, with the same rules and at most one payment of the intent under way: `success: true` also when the merchant delivered and its charge has not been seen yet (`accepted`), and within 30 s. 200 with `success: true` when the network approved it; 200 with `success: false` when it was declined; 403 `policy_denied` with the rule and its figures when a rule of the policy forbids the offer now: nothing was held, the network was not asked, and the intent stays approved; 400 `insufficient_funds` when the account has too little available money: nothing was held, and the intent stays approved; 400 `invalid_state` with nothing held when there is no offer, it exceeds what the intent allows, or it is not in EUR; 503 when the outcome is not known yet: the same Idempotency-Key finds the same checkout, and `X-Service-Payment-Id` names the machine payment, if it is one.',
      auth: ['key', 'agent'],
      scope: 'checkout.write',
      body: z.strictObject({ intentId: id('intent'), targetUrl: z.url().max(2_048) }),
      success: { status: 200, body: executedOut },
      answersFromRow: true,
      refusals: ['invalid_state', 'insufficient_funds', 'agent_isolation', 'policy_denied', 'not_found'],
      fires: [
        'mpp.payment.created',
        'mpp.payment.updated',
        'mpp.credential.minted',
        'mpp.credential.consumed',
        'transaction.created',
        'intent.completed',
        'intent_window.completed',
      ],
      networkCalls: ['authorizeCardPayment', 'clearCardPayment'],
    },
    confirmCheckout: {
      method: 'post',
      path: '/confirm',
      summary: 'The payment form was filled elsewhere: the intent is completed',
      description: `Moves no money. Links the intent to the charge that the network has sent, or to a pending transaction that an authorization may link within ${linkWindowMs / day} days, and that ends \`failed\` without one. Of a recurring intent it is the window of now. 400 while a checkout of the intent is under way, and when it was confirmed before by another request.`,
      auth: ['key', 'agent'],
      scope: 'checkout.write',
      idempotency: 'required',
      body: z.strictObject({ intentId: id('intent') }),
      success: {
        status: 200,
        body: z
          .strictObject({
            status: z.literal('completed'),
            intentId: idOut('intent'),
            transactionId: idOut('transaction'),
          })
          .meta({ id: 'ConfirmedCheckout', description: 'An intent whose payment was confirmed.' }),
      },
      refusals: ['invalid_state', 'agent_isolation', 'policy_denied', 'not_found'],
      fires: ['intent.completed', 'intent_window.completed', 'transaction.created', 'transaction.updated'],
    },
  },
});
