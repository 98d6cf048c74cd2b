/** What every merchant checkout adapter must do at a shop that keeps to its protocol. @module */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { CheckoutOffer, MerchantCheckout } from '../../../src/domains/payments/checkout/checkout.port.ts';

export type MerchantCheckoutHarness = {
  checkout: MerchantCheckout;
  offerUrl: string;
  /** At this shop the first payment of an order answers an error after the money was authorised. */
  flakyOfferUrl: string;
  /** An address without a shop, and one without a server. */
  noShopUrl: string;
  closedUrl: string;
  tokenFor(offer: CheckoutOffer): Promise<string>;
  authorizationCount(): number;
  stop(): Promise<void>;
};

export function merchantCheckoutConformance(name: string, makeHarness: () => Promise<MerchantCheckoutHarness>): void {
  describe(`merchant checkout: ${name}`, () => {
    let harness: MerchantCheckoutHarness;
    beforeAll(async () => {
      harness = await makeHarness();
    });
    afterAll(() => harness.stop());

    const offerAt = async (url: string): Promise<CheckoutOffer> => {
      const offer = await harness.checkout.readOffer(url);
      if (offer.outcome !== 'offer') throw new Error(`no offer: ${JSON.stringify(offer)}`);
      return offer;
    };
    const payment = (offer: CheckoutOffer, paymentToken: string, idempotencyKey: string) => ({
      payUrl: offer.payUrl,
      orderId: offer.orderId,
      paymentToken,
      idempotencyKey,
    });

    test('reads an offer in euros with a merchant and a pay address of the same origin', async () => {
      const offer = await offerAt(harness.offerUrl);
      expect(offer).toMatchObject({ currency: 'EUR', merchant: { mcc: expect.stringMatching(/^\d{4}$/) } });
      expect(offer.amountCents).toBeGreaterThan(0);
      expect(new URL(offer.payUrl).origin).toBe(new URL(harness.offerUrl).origin);
    });

    test('pays once, also when the call is repeated', async () => {
      const offer = await offerAt(harness.offerUrl);
      const before = harness.authorizationCount();
      const order = payment(offer, await harness.tokenFor(offer), 'pay-once');
      const outcomes = await Promise.all([1, 2, 3].map(() => harness.checkout.pay(order)));
      expect([...outcomes, await harness.checkout.pay(order)]).toEqual(Array(4).fill({ outcome: 'paid' }));
      expect(harness.authorizationCount() - before).toBe(1);
    });

    test('an error after the authorization is `unknown`; the same key returns the outcome', async () => {
      const offer = await offerAt(harness.flakyOfferUrl);
      const before = harness.authorizationCount();
      const order = payment(offer, await harness.tokenFor(offer), 'pay-flaky');
      expect(await harness.checkout.pay(order)).toEqual({ outcome: 'unknown', reason: 'shop_error' });
      expect(await harness.checkout.pay(order)).toEqual({ outcome: 'paid' });
      expect(harness.authorizationCount() - before).toBe(1);
    });

    test('a token that does not pay is `declined`', async () => {
      const offer = await offerAt(harness.offerUrl);
      const before = harness.authorizationCount();
      expect(await harness.checkout.pay(payment(offer, 'spt_invented', 'pay-not'))).toEqual({ outcome: 'declined' });
      expect(harness.authorizationCount()).toBe(before);
    });

    test('an address without a shop, one without a server and one that may not be called have different outcomes', async () => {
      const { checkout, noShopUrl, closedUrl } = harness;
      expect(await checkout.readOffer(noShopUrl)).toEqual({ outcome: 'no_offer', reason: 'not_an_offer' });
      expect(await checkout.readOffer(closedUrl)).toEqual({ outcome: 'no_offer', reason: 'unreachable' });
      const refused = { outcome: 'no_offer', reason: 'address_refused' };
      for (const url of [
        'http://127.0.0.1:1/',
        'https://10.0.0.1/',
        'http://shop.example.com/',
        'file:///etc/passwd',
      ]) {
        expect(await checkout.readOffer(url)).toEqual(refused);
      }
    });

    test('a payment without an answer is `unknown`', async () => {
      const order = { payUrl: harness.closedUrl, orderId: 'o', paymentToken: 't', idempotencyKey: 'k' };
      expect(await harness.checkout.pay(order)).toEqual({ outcome: 'unknown', reason: 'unreachable' });
    });
  });
}
