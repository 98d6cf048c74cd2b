/** All routes of the sandbox on one Express application, and its one translation of errors. @module */
import express, { type ErrorRequestHandler, type Express } from 'express';
import type { pino } from 'pino';
import { Refusal } from './answer.ts';
import { bankRoutes } from './bank/bank.routes.ts';
import type { Bank } from './bank/bank.ts';
import { payeeCheckRoutes } from './bank/payee-check.routes.ts';
import type { Challenges } from './merchants/challenge.ts';
import { merchantRoutes } from './merchants/merchant.routes.ts';
import type { Authorizations } from './network/authorization.ts';
import type { Increments } from './network/increments.ts';
import { networkRoutes } from './network/network.routes.ts';
import type { Outgoing } from './network/outgoing.ts';
import type { Settlement } from './network/settlement.ts';
import type { StandIn } from './network/stand-in.ts';
import { processorRoutes } from './processor/card-processor.routes.ts';
import type { SandboxCardProcessor } from './processor/card-processor.ts';
import { receiverRoutes } from './receiver/receiver.routes.ts';
import type { Receiver } from './receiver/receiver.ts';
import type { Orders } from './shops/order.ts';
import { shopRoutes } from './shops/shop.routes.ts';
import { shopSlugs } from './shops/shop-catalog.ts';
import type { Store } from './store.ts';

export type SandboxParts = {
  store: Store;
  processor: SandboxCardProcessor;
  orders: Orders;
  challenges: Challenges;
  authorizations: Authorizations;
  increments: Increments;
  settlement: Settlement;
  outgoing: Outgoing;
  standIn: StandIn;
  receiver: Receiver;
  bank: Bank;
  log: pino.Logger;
};

export function sandboxApplication(parts: SandboxParts): Express {
  const application = express().disable('x-powered-by').disable('etag');
  application.get('/', (_request, response) => {
    response.json({ name: 'Bursar sandbox', shops: shopSlugs.map((slug) => `/shops/${slug}`) });
  });
  application.get('/health', (_request, response) => {
    parts.store.one('SELECT 1 AS alive');
    response.json({ status: 'ok' });
  });
  application.use('/receiver', receiverRoutes(parts.receiver)); // Before the JSON parser: it keeps raw bodies.
  application.use(express.json({ limit: '64kb' }));
  application.use('/shops', shopRoutes(parts.orders));
  application.use('/paid', merchantRoutes(parts.challenges));
  application.use('/processor', processorRoutes(parts.processor));
  application.use('/bank', payeeCheckRoutes());
  application.use('/bank', bankRoutes(parts.bank));
  application.use('/network', networkRoutes(parts));
  application.use((request, response) => {
    response.status(404).json({ error: `nothing at ${request.method} ${request.path}` });
  });
  application.use(answeringErrors(parts.log));
  return application;
}

function answeringErrors(log: pino.Logger): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    if (response.headersSent) {
      next(error);
      return;
    }
    const status = statusOf(error);
    if (status === undefined) log.error({ err: error, method: request.method, path: request.path }, 'request failed');
    const message = status === undefined || !(error instanceof Error) ? 'the sandbox failed' : error.message;
    response.status(status ?? 500).json({ error: message });
  };
}

/** Express's own parsers put a status on their errors; without one the error is a bug. */
function statusOf(error: unknown): number | undefined {
  if (error instanceof Refusal) return error.status;
  if (!(error instanceof Error) || !('status' in error) || !('expose' in error)) return undefined;
  return error.expose === true && typeof error.status === 'number' ? error.status : undefined;
}
