/** The Bursar checkout adapter: the suite for all, against the sandbox's shops, and shops that do not behave. @module */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createBursarCheckout } from '../../../src/adapters/merchant-checkout/bursar-checkout.ts';
import type { MerchantCheckout } from '../../../src/domains/payments/checkout/checkout.port.ts';
import { createOutbound, type Outbound } from '../../../src/outbound/outbound.ts';
import { startWorld } from '../../sandbox/world.ts';
import { type AnsweringServer, startAnswering } from '../answering-server.ts';
import { merchantCheckoutConformance } from './merchant-checkout-conformance.ts';

const closedUrl = 'http://127.0.0.1:9';

merchantCheckoutConformance('Bursar checkout at the sandbox', async () => {
  const world = await startWorld();
  const outbound = createOutbound({ allowedOrigins: [world.url, closedUrl] });
  return {
    checkout: createBursarCheckout({ outbound }),
    offerUrl: `${world.url}/shops/sandbox-shop?amountCents=1250`,
    flakyOfferUrl: `${world.url}/shops/sandbox-flaky?amountCents=1250`,
    noShopUrl: `${world.url}/shops/corner-shop`,
    closedUrl: `${closedUrl}/shop`,
    tokenFor: async (offer) => world.mint(await world.issue(), { merchantId: offer.merchant.id }),
    authorizationCount: () => world.bursar.of('authorizations').length,
    async stop() {
      await outbound.close();
      await world.stop();
    },
  };
});

describe('shops that do not behave', () => {
  let shop: AnsweringServer;
  let outbound: Outbound;
  let checkout: MerchantCheckout;
  beforeAll(async () => {
    shop = await startAnswering();
    outbound = createOutbound({ allowedOrigins: [shop.url] });
    checkout = createBursarCheckout({ outbound });
  });
  afterAll(async () => {
    await outbound.close();
    await shop.stop();
  });

  const mediaType = { 'content-type': 'application/vnd.bursar.checkout+json; charset=utf-8' };
  const merchant = { id: 'm_1', name: 'Shop', mcc: '5734', country: 'DE' };
  const offering = (fields: object = {}) => ({
    status: 200,
    headers: mediaType,
    body: JSON.stringify({
      orderId: 'o1',
      amountCents: 100,
      currency: 'EUR',
      merchant,
      payUrl: `${shop.url}/pay`,
      ...fields,
    }),
  });

  test('a valid offer is read, and fields outside of the protocol are dropped', async () => {
    shop.answerWith(offering({ note: 'ignore me', merchant: { ...merchant, iban: 'DE00' } }));
    const offer = {
      outcome: 'offer',
      orderId: 'o1',
      amountCents: 100,
      currency: 'EUR',
      merchant,
      payUrl: `${shop.url}/pay`,
    };
    expect(await checkout.readOffer(`${shop.url}/thing?size=2`)).toEqual(offer);
    expect(shop.asked.at(-1)).toMatchObject({
      method: 'GET',
      url: '/thing?size=2',
      headers: { accept: 'application/vnd.bursar.checkout+json' },
    });
  });

  test.each([
    ['an amount of 0', { amountCents: 0 }, 'not_an_offer'],
    ['a negative amount', { amountCents: -100 }, 'not_an_offer'],
    ['half a cent', { amountCents: 100.5 }, 'not_an_offer'],
    ['an amount as text', { amountCents: '100' }, 'not_an_offer'],
    ['an amount beyond the wire', { amountCents: 100_000_000_000 }, 'not_an_offer'],
    ['no order', { orderId: '' }, 'not_an_offer'],
    ['a line break in the order', { orderId: 'a\nb' }, 'not_an_offer'],
    ['an endless name', { merchant: { ...merchant, name: 'x'.repeat(141) } }, 'not_an_offer'],
    ['an id that no token can be minted for', { merchant: { ...merchant, id: 'my shop/1' } }, 'not_an_offer'],
    ['no merchant', { merchant: undefined }, 'not_an_offer'],
    ['a category of five digits', { merchant: { ...merchant, mcc: '57340' } }, 'not_an_offer'],
    ['a country in words', { merchant: { ...merchant, country: 'Germany' } }, 'not_an_offer'],
    ['a currency in words', { currency: 'euro' }, 'not_an_offer'],
    ['dollars', { currency: 'USD' }, 'not_eur'],
    ['a relative pay address', { payUrl: '/pay' }, 'not_an_offer'],
    ['a script as pay address', { payUrl: 'javascript:alert(1)' }, 'not_an_offer'],
    ['another host to pay at', { payUrl: 'https://evil.example/pay' }, 'other_origin'],
    ['another port to pay at', { payUrl: 'http://127.0.0.1:1/pay' }, 'other_origin'],
  ])('an offer with %s is none', async (_what, fields, reason) => {
    shop.answerWith(offering(fields));
    expect(await checkout.readOffer(shop.url)).toEqual({ outcome: 'no_offer', reason });
  });

  test('a pay address with a user name is none of the shop’s', async () => {
    shop.answerWith(offering({ payUrl: `${shop.url.replace('//', '//user:secret@')}/pay` }));
    expect(await checkout.readOffer(shop.url)).toEqual({ outcome: 'no_offer', reason: 'other_origin' });
  });

  test.each([
    ['a page', { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>' }, 'not_an_offer'],
    ['plain JSON', { status: 200, headers: { 'content-type': 'application/json' }, body: '{}' }, 'not_an_offer'],
    ['no content type', { status: 200 }, 'not_an_offer'],
    ['broken JSON', { status: 200, headers: mediaType, body: '{' }, 'not_an_offer'],
    ['70 KB', { status: 200, headers: mediaType, body: `{"x":"${'x'.repeat(70_000)}"}` }, 'not_an_offer'],
    ['a redirect', { status: 302, headers: { location: 'http://169.254.169.254/' } }, 'not_an_offer'],
    ['503', { status: 503 }, 'unreachable'],
    ['nothing', { status: 200, hangUp: true }, 'unreachable'],
  ])('%s is no offer', async (_what, answer, reason) => {
    shop.answerWith(answer);
    expect(await checkout.readOffer(shop.url)).toEqual({ outcome: 'no_offer', reason });
  });

  test('402 is passed on with the lines of its challenge, and without its body', async () => {
    shop.answerWith({ status: 402, body: 'x'.repeat(70_000), headers: { 'www-authenticate': 'Payment id="1"' } });
    expect(await checkout.readOffer(shop.url)).toEqual({
      outcome: 'payment_required',
      authenticate: ['Payment id="1"'],
      offersX402: false,
    });
    const none = { outcome: 'payment_required', authenticate: [] };
    shop.answerWith({ status: 402 });
    expect(await checkout.readOffer(shop.url)).toEqual({ ...none, offersX402: false });
    for (const offer of [{ body: '{"x402Version":1,"accepts":[]}' }, { headers: { 'payment-required': 'e30' } }]) {
      shop.answerWith({ status: 402, ...offer });
      expect(await checkout.readOffer(shop.url)).toEqual({ ...none, offersX402: true });
    }
  });

  const pay = () =>
    checkout.pay({ payUrl: `${shop.url}/pay`, orderId: 'o1', paymentToken: 'spt_1', idempotencyKey: 'k1' });

  test('the payment request follows the protocol, and the token is only in its body', async () => {
    shop.answerWith({ status: 200, body: '{"orderId":"o1","status":"paid"}' });
    expect(await pay()).toEqual({ outcome: 'paid' });
    const { headers, ...asked } = shop.asked.at(-1)!;
    expect(asked).toEqual({ method: 'POST', url: '/pay', body: '{"orderId":"o1","paymentToken":"spt_1"}' });
    expect(headers).toMatchObject({ 'idempotency-key': 'k1', 'content-type': 'application/json' });
    expect(JSON.stringify(headers)).not.toContain('spt_1');
  });

  test.each([
    ['declined', { status: 200, body: '{"orderId":"o1","status":"declined"}' }, { outcome: 'declined' }],
    ...[400, 402, 403, 404, 410, 422].map((status) => [String(status), { status }, { outcome: 'declined' }] as const),
    ...[201, 302, 401, 408, 409, 425, 429, 500, 502, 503].map(
      (status) => [String(status), { status }, { outcome: 'unknown', reason: 'shop_error' }] as const,
    ),
    ['no JSON', { status: 200, body: 'paid' }, { outcome: 'unknown', reason: 'broken_answer' }],
    [
      'another order',
      { status: 200, body: '{"orderId":"o2","status":"paid"}' },
      { outcome: 'unknown', reason: 'broken_answer' },
    ],
    [
      'another word',
      { status: 200, body: '{"orderId":"o1","status":"maybe"}' },
      { outcome: 'unknown', reason: 'broken_answer' },
    ],
    ['nothing', { status: 200, hangUp: true }, { outcome: 'unknown', reason: 'unreachable' }],
  ])('a payment answered with %s', async (_what, answer, outcome) => {
    shop.answerWith(answer);
    expect(await pay()).toEqual(outcome);
  });
});
