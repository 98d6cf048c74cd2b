/**
 * Requests per minute and client address, per process, on real time. IPv6 clients count by their /64; a forwarded
 * address is believed only from a listed proxy.
 * @module
 */
import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { DomainError } from '../kernel/errors.ts';

export type RateLimit = (
  request: IncomingMessage,
) => Promise<{ headers: Record<string, string>; refused?: DomainError }>;

export function createRateLimit(options: { perMinute: number; trustedProxies: readonly string[] }): RateLimit {
  const limiter = new RateLimiterMemory({ points: options.perMinute, duration: 60 });
  const trusted = options.trustedProxies.map((text) =>
    text.includes('/') ? ipaddr.parseCIDR(text) : ([ipaddr.parse(text), undefined] as const),
  );
  return async (request) => {
    const state = await spend(limiter, clientOf(request, trusted));
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

type Trusted = readonly (readonly [ipaddr.IPv4 | ipaddr.IPv6, number | undefined])[];

function clientOf(request: IncomingMessage, trusted: Trusted): string {
  const socket = parse(request.socket.remoteAddress ?? '');
  const forwarded = request.headers['x-forwarded-for'];
  if (socket === undefined || forwarded === undefined || !isTrusted(socket, trusted)) return keyOf(socket);
  // The nearest hop that is not ours is the client; what stands left of it is hearsay.
  const hops = String(forwarded)
    .split(',')
    .map((hop) => parse(hop.trim()))
    .reverse();
  return keyOf(hops.find((hop) => hop === undefined || !isTrusted(hop, trusted)) ?? socket);
}

function parse(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  return ipaddr.isValid(text) ? ipaddr.process(text) : undefined;
}

function isTrusted(address: ipaddr.IPv4 | ipaddr.IPv6, trusted: Trusted): boolean {
  return trusted.some(([network, bits]) =>
    network.kind() !== address.kind()
      ? false
      : bits === undefined
        ? network.toString() === address.toString()
        : address.match(network, bits),
  );
}

function keyOf(address: ipaddr.IPv4 | ipaddr.IPv6 | undefined): string {
  if (address === undefined) return 'unknown';
  return address.kind() === 'ipv4' ? address.toString() : address.toNormalizedString().split(':').slice(0, 4).join(':');
}
