/** The processor's endpoints: shapes in, shapes out. @module */
import { Router } from 'express';
import * as z from 'zod';
import { idempotencyKey, parsed } from '../answer.ts';
import { instant, positiveCents, reference } from '../wire.ts';
import type { SandboxCardProcessor } from './card-processor.ts';

const CardOrder = z.strictObject({ cardId: reference, usage: z.enum(['single', 'multi']) });
const StateChange = z.strictObject({ state: z.enum(['active', 'frozen', 'closed']) });
const TokenOrder = z.strictObject({
  cardRef: reference,
  merchantId: reference,
  ceilingCents: positiveCents,
  expiresAt: instant,
});

export function processorRoutes(processor: SandboxCardProcessor): Router {
  const routes = Router();
  routes.post('/cards', (request, response) => {
    const card = processor.issue(idempotencyKey(request.get('Idempotency-Key')), parsed(CardOrder, request.body));
    response.status(201).json({
      cardRef: card.card_ref,
      last4: card.last4,
      brand: 'visa',
      expiryMonth: card.expiry_month,
      expiryYear: card.expiry_year,
    });
  });
  routes.put('/cards/:cardRef/state', (request, response) => {
    const card = processor.setState(request.params.cardRef, parsed(StateChange, request.body).state);
    response.json({ cardRef: card.card_ref, state: card.state });
  });
  routes.post('/tokens', (request, response) => {
    const minted = processor.mint(idempotencyKey(request.get('Idempotency-Key')), parsed(TokenOrder, request.body));
    response.status(201).json({ paymentToken: minted.token, expiresAt: minted.expires_at });
  });
  return routes;
}
