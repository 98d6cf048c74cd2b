/** The receiver's endpoints; bodies are taken raw, so that their signatures can be verified. @module */
import express, { Router } from 'express';
import * as z from 'zod';
import { parsed } from '../answer.ts';
import type { Receiver } from './receiver.ts';

const Box = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'box: must be 1 to 64 of A-Z a-z 0-9 _ -');
const Failures = z.strictObject({
  count: z.number().int().min(0).max(1_000_000),
  status: z.number().int().min(300).max(599),
  event: z.string().min(1).max(128).optional(),
});

export function receiverRoutes(receiver: Receiver): Router {
  const routes = Router();
  routes.post('/:box', express.raw({ type: () => true, limit: '64kb' }), (request, response) => {
    const body: unknown = request.body;
    const raw = Buffer.isBuffer(body) ? body.toString('utf8') : '';
    const status = receiver.take(parsed(Box, request.params.box), request.headers, raw);
    response.status(status).json(status === 200 ? { received: true } : { error: 'this failure was programmed' });
  });
  routes.put('/:box/failures', express.json({ limit: '64kb' }), (request, response) => {
    const failures = parsed(Failures, request.body);
    receiver.program(parsed(Box, request.params.box), failures);
    response.json(failures);
  });
  routes.get('/:box', (request, response) => {
    response.json({ deliveries: receiver.list(parsed(Box, request.params.box)) });
  });
  return routes;
}
