/** The shops' side of the Bursar checkout protocol (docs/checkout.md), and a page for people. @module */
import { type Request, Router } from 'express';
import * as z from 'zod';
import { idempotencyKey, parsed, Refusal } from '../answer.ts';
import { positiveCents, reference } from '../wire.ts';
import type { Orders } from './order.ts';
import { findShop, type Shop, shopSlugs } from './shop-catalog.ts';
import { shopPage } from './shop-page.ts';

export const checkoutMediaType = 'application/vnd.bursar.checkout+json';

const PayBody = z.strictObject({ orderId: reference, paymentToken: z.string().min(1).max(256) });
const wholeNumber = /^\d{1,11}$/;

export function shopRoutes(orders: Orders): Router {
  const routes = Router();
  routes.get('/', (_request, response) => {
    response.json({ shops: shopSlugs });
  });

  routes.get('/:shop', (request, response) => {
    const shop = shopOf(request.params.shop);
    const amountCents = priceOf(request.query.amountCents, shop);
    response.vary('Accept');
    if (!(request.get('Accept') ?? '').includes(checkoutMediaType)) {
      response.type('html').send(shopPage(shop, amountCents));
      return;
    }
    const orderId = orders.open(shop, amountCents);
    const payUrl = `${originOf(request)}/shops/${shop.slug}/orders/${orderId}/pay`;
    const offer = { orderId, amountCents, currency: 'EUR', merchant: shop.merchant, payUrl };
    response.type(checkoutMediaType).send(JSON.stringify(offer));
  });

  routes.post('/:shop/orders/:orderId/pay', async (request, response) => {
    const shop = shopOf(request.params.shop);
    const key = idempotencyKey(request.get('Idempotency-Key'));
    const body = parsed(PayBody, request.body);
    if (body.orderId !== request.params.orderId) throw new Refusal(400, 'orderId is not the one of this address');
    const outcome = await orders.pay(shop, { ...body, key });
    if (outcome === 'stumbled') throw new Refusal(500, 'the shop stumbled: repeat with the same Idempotency-Key');
    response.json(outcome);
  });
  return routes;
}

function shopOf(slug: string): Shop {
  const shop = findShop(slug);
  if (shop === undefined) throw new Refusal(404, `no shop ${slug.slice(0, 64)}; there are ${shopSlugs.join(', ')}`);
  return shop;
}

function priceOf(price: unknown, shop: Shop): number {
  if (price === undefined) return shop.listPriceCents;
  if (typeof price === 'string' && wholeNumber.test(price)) return parsed(positiveCents, Number(price));
  throw new Refusal(400, 'amountCents must be whole cents, such as amountCents=1250');
}

/** The address the buyer used, so that the offer's payUrl has its origin. */
function originOf(request: Request): string {
  const host = request.get('Host') ?? '';
  if (!/^[A-Za-z0-9.:[\]-]{1,255}$/.test(host)) throw new Refusal(400, 'Host header is missing or malformed');
  return `${request.protocol}://${host}`;
}
