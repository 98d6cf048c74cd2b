/**
 * One checkout: reads the shop's offer, pays it, and asks the shop again until the outcome is known, which the card
 * network's authorization writes. A target that answers 402 ends the checkout: a machine payment pays it, in a run of
 * its own. At most one open checkout of an intent exists.
 * @module
 */
import type { CheckoutActivities } from '../../activities/payments/checkout.activities.ts';
import { type CheckoutView, payCheckout } from '../../src/domains/payments/checkout/checkout.messages.ts';
import {
  type CheckoutDue,
  type CheckoutFact,
  isFinalCheckout,
} from '../../src/domains/payments/checkout/checkout.rules.ts';
import { inWords } from '../../src/kernel/money.ts';
import { type FollowedRun, followRow, type RunInput } from '../lib/follow-row.ts';
import { databaseSteps, outboundSteps } from '../lib/steps.ts';

const { readCheckout } = databaseSteps<CheckoutActivities>()({ readCheckout: 'Reading the checkout' });
const { readOffer, mintAndPay } = outboundSteps<CheckoutActivities>()({
  readOffer: 'Reading the offer of the shop',
  mintAndPay: 'Paying at the shop, under the same key each time',
});

const checkoutRun: FollowedRun<CheckoutView, CheckoutFact, CheckoutDue> = {
  refresh: readCheckout,
  stage: ({ status }) => status,
  describe: ({ amountCents, agentId, intentId }) =>
    `${amountCents === null ? 'Checkout' : `${inWords(amountCents)} EUR`} for agent ${agentId}, intent ${intentId}`,
  waitingFor: {
    offerRead: 'Reading the offer of the shop.',
    paymentSent: 'Paying at the shop.',
    outcomeKnown: ({ nextAttemptAt }) =>
      `The outcome is not known yet. The shop is asked again at ${nextAttemptAt} of business time.`,
  },
  outcome: ({ status, code, mppPaymentId }) =>
    status === 'handed_over'
      ? `the target answered 402, and machine payment ${mppPaymentId} pays it`
      : code === null || status === 'paid'
        ? status
        : `${status} (${code})`,
  ask: {
    message: payCheckout,
    isAnswered: ({ status }) => isFinalCheckout(status),
    withinMs: 8_000, // Less than the API waits for the answer.
    description: 'Waits at most 8 s for the outcome, and answers with the state of the checkout.',
  },
};

export const checkout = (input: RunInput): Promise<CheckoutView> =>
  followRow(checkoutRun, input, async ({ step, wait }) => {
    await step('offerRead', readOffer);
    await step('paymentSent', mintAndPay);
    await wait('outcomeKnown', { askShopAgain: mintAndPay });
  });
