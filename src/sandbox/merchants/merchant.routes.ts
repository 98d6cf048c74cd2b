/** The merchants' side of HTTP 402 (docs/machine-payments.md): a challenge without a credential, the goods with one. @module */
import { type Request, type Response, Router } from 'express';
import { add } from '../../kernel/money.ts';
import { parsed, Refusal } from '../answer.ts';
import { positiveCents } from '../wire.ts';
import type { Challenges } from './challenge.ts';
import { findPaidMerchant, type PaidMerchant, paidMerchantSlugs } from './merchant-catalog.ts';

const wholeNumber = /^\d{1,11}$/;

export function merchantRoutes(challenges: Challenges): Router {
  const routes = Router();
  routes.get('/', (_request, response) => {
    response.json({ merchants: paidMerchantSlugs });
  });

  routes.get('/:merchant', async (request, response) => {
    const merchant = merchantOf(request.params.merchant);
    const amountCents = priceOf(request.query.amountCents, merchant);
    const demand = (code: string, cents = amountCents) =>
      demandPayment(challenges, { merchant, code, cents }, request, response);
    const credential = request.get('Authorization');
    if (credential === undefined) return demand('payment-required');
    if (merchant.behaviour === 'raises') return demand('payment-insufficient', add(amountCents, amountCents));
    response.set('Cache-Control', 'private');
    if (merchant.behaviour !== 'gives-away') {
      const presented = await challenges.present(merchant, credential);
      if (presented.outcome === 'unpaid') return demand(presented.code);
      if (merchant.behaviour === 'stumbles') throw new Refusal(500, 'the merchant stumbled after it charged the card');
      if (merchant.behaviour === 'delivers') response.set('Payment-Receipt', presented.receipt);
    }
    response.json({ report: 'paid content', merchant: merchant.slug, ...signaturesOn(request) });
  });
  return routes;
}

/** What a merchant would verify (docs/signed-requests.md), told to the payer; nothing of a request that is not signed. */
function signaturesOn(request: Request) {
  const [signatureInput, signature, signatureAgent] = ['Signature-Input', 'Signature', 'Signature-Agent'].map((name) =>
    request.get(name),
  );
  return signature === undefined ? {} : { signed: { signatureInput, signature, signatureAgent } };
}

type Demand = { readonly merchant: PaidMerchant; readonly code: string; readonly cents: number };

async function demandPayment(
  challenges: Challenges,
  { merchant, code, cents }: Demand,
  request: Request,
  response: Response,
): Promise<void> {
  const challenge = await challenges.issue(merchant, cents, request.get('Host') ?? 'localhost');
  response.status(402).set({ 'WWW-Authenticate': challenge, 'Cache-Control': 'no-store' });
  response.type('application/problem+json').send(
    JSON.stringify({
      type: `https://paymentauth.org/problems/${code}`,
      title: 'Payment Required',
      status: 402,
      detail: `Payment is required (${merchant.merchant.name}).`,
    }),
  );
}

function merchantOf(slug: string): PaidMerchant {
  const merchant = findPaidMerchant(slug);
  if (merchant !== undefined) return merchant;
  throw new Refusal(404, `no merchant ${slug.slice(0, 64)}; there are ${paidMerchantSlugs.join(', ')}`);
}

function priceOf(price: unknown, merchant: PaidMerchant): number {
  if (price === undefined) return merchant.listPriceCents;
  if (typeof price === 'string' && wholeNumber.test(price)) return parsed(positiveCents, Number(price));
  throw new Refusal(400, 'amountCents must be whole cents, such as amountCents=499');
}
