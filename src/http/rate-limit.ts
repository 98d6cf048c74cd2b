/** Requests per minute and client address, per process, on real time. @module */
import type { IncomingMessage } from 'node:http';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { DomainError } from '../kernel/errors.ts';
import { addressGroupOf, type ClientAddress } from './client-address.ts';

export type RateLimit = (
  request: IncomingMessage,
) => Promise<{ headers: Record<string, string>; refused?: DomainError }>;

export function createRateLimit(options: { perMinute: number; clientOf: ClientAddress }): RateLimit {
  const limiter = new RateLimiterMemory({ points: options.perMinute, duration: 60 });
  return async (request) => {
    const state = await spend(limiter, addressGroupOf(options.clientOf(request)));
    const resetSeconds = Math.max(1, Math.ceil(state.msBeforeNext / 1000));
    const headers = {
      'X-RateLimit-Limit': String(options.perMinute),
      'X-RateLimit-Remaining': String(Math.max(0, state.remainingPoints)),
      'X-RateLimit-Reset': String(resetSeconds),
    };
    if (state.allowed) return { headers };
    const message = `more than ${options.perMinute} requests in a minute from this address; wait ${resetSeconds} s`;
    return { headers, refused: new DomainError('rate_limited', message, { retryAfterSeconds: resetSeconds }) };
  };
}

async function spend(limiter: RateLimiterMemory, client: string) {
  try {
    const { msBeforeNext, remainingPoints } = await limiter.consume(client);
    return { allowed: true, msBeforeNext, remainingPoints };
  } catch (refused) {
    if (!(refused instanceof RateLimiterRes)) throw refused;
    return { allowed: false, msBeforeNext: refused.msBeforeNext, remainingPoints: 0 };
  }
}
