/** Sample calls of checkout, for the suites that cover all operations. @module */
import { randomUUID } from 'node:crypto';
import { checkoutArea } from '../../../src/domains/payments/checkout/checkout.contract.ts';
import { samplesOf } from '../../support/samples.ts';
import { freshIntent } from '../spending/intents.samples.ts';
import { orderAtMerchant } from './mpp-payments.samples.ts';

export const samples = samplesOf(checkoutArea, {
  ids: {},
  calls: (one) => ({
    executeCheckout: async () => ({
      body: {
        intentId: await freshIntent(one, 5),
        targetUrl: `${one.world.sandboxUrl}/shops/sandbox-shop?amountCents=500`,
      },
    }),
    confirmCheckout: async () => ({
      body: { intentId: await freshIntent(one, 5) },
      headers: { 'Idempotency-Key': randomUUID() },
    }),
  }),
  variants: {
    executeCheckout: {
      'at a target that answers 402': (one) => async () => {
        const { url: targetUrl, intentId } = await orderAtMerchant(one);
        return { body: { intentId, targetUrl } };
      },
    },
  },
  // Another process may find the row and pay before the API answers.
  mayOutliveTemporal: ['executeCheckout'],
});
