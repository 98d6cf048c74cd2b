/**
 * Turns a request's credentials into a caller that the operation admits, or refuses with 401 or 403. Credentials
 * are looked up by the function that the composition root passes; nothing is read from the database here.
 * @module
 */
import type { IncomingHttpHeaders } from 'node:http';
import { DomainError } from '../kernel/errors.ts';
import { isId } from '../kernel/ids.ts';
import type { Caller } from './caller.ts';
import type { Operation } from './route.ts';
import { grants } from './scopes.ts';

export type Credentials = {
  /** The caller behind a bearer token of this deployment's mode; undefined when unknown, expired or revoked. */
  bearer(token: string): Promise<Extract<Caller, { kind: 'key' | 'agent' }> | undefined>;
  /** The merchant behind a merchant key; undefined when unknown or suspended. */
  merchant(key: string): Promise<Extract<Caller, { kind: 'merchant' }> | undefined>;
  /** True when the secret is the dashboard's. Throws `rate_limited` for a wrong one after too many from a client. */
  dashboard(secret: string, client: string): boolean;
  /** The same for the key that reads the sandbox's clock. */
  clock(key: string, client: string): boolean;
};

type Request = { headers: IncomingHttpHeaders; client: string };

/** Who is calling, whether the operation is open to them or not. */
export async function identify(operation: Operation, request: Request, credentials: Credentials): Promise<Caller> {
  const kinds: readonly string[] = operation.auth;
  if (kinds.includes('public')) return { kind: 'public' };
  if (kinds.includes('network')) return { kind: 'network' }; // The handler checks the signature over the raw body.
  const secret = request.headers['x-dashboard-secret'];
  if (kinds.includes('dashboard') && typeof secret === 'string') return dashboardCaller(secret, request, credentials);
  const clockKey = request.headers['x-clock-key'];
  if (kinds.includes('clock') && typeof clockKey === 'string') {
    if (credentials.clock(clockKey, request.client)) return { kind: 'clock' };
    throw new DomainError('unauthenticated', 'wrong clock key');
  }
  if (kinds.includes('merchant')) return merchantCaller(request.headers['x-merchant-key'], credentials);
  return bearerCaller(request.headers.authorization, credentials);
}

export function assertMayCall(operation: Operation, caller: Caller): void {
  const kinds: readonly string[] = operation.auth;
  if (!kinds.includes(caller.kind)) {
    if (caller.kind === 'agent')
      throw new DomainError('forbidden', 'an agent token may not do this; use the owner’s API key');
    throw new DomainError('unauthenticated', `this needs ${inWords(kinds)}`);
  }
  if (caller.kind === 'agent' && operation.scope !== undefined && !grants(caller.scopes, operation.scope)) {
    throw new DomainError('insufficient_scope', `this token lacks the scope ${operation.scope}`);
  }
}

async function merchantCaller(header: string | string[] | undefined, credentials: Credentials): Promise<Caller> {
  const key = typeof header === 'string' ? /^mer_sk_\w{8,200}$/.exec(header)?.[0] : undefined;
  if (key === undefined) throw new DomainError('unauthenticated', 'send the header X-Merchant-Key: mer_sk_…');
  const caller = await credentials.merchant(key);
  if (caller === undefined) throw new DomainError('unauthenticated', 'this merchant key is unknown or suspended');
  return caller;
}

async function bearerCaller(header: string | undefined, credentials: Credentials) {
  const token = /^Bearer ([\w-]{8,200})$/i.exec(header ?? '')?.[1];
  if (token === undefined) throw new DomainError('unauthenticated', 'send the header Authorization: Bearer <token>');
  const caller = await credentials.bearer(token);
  if (caller === undefined) {
    throw new DomainError('unauthenticated', 'this bearer token is unknown, expired, revoked, or of the other mode');
  }
  return caller;
}

function dashboardCaller(secret: string, { headers, client }: Request, credentials: Credentials): Caller {
  if (!credentials.dashboard(secret, client)) throw new DomainError('unauthenticated', 'wrong dashboard secret');
  const ownerId = headers['x-owner-id'];
  if (ownerId === undefined) return { kind: 'dashboard', ownerId: undefined };
  if (typeof ownerId !== 'string' || !isId('owner', ownerId)) {
    throw new DomainError('invalid_request', 'X-Owner-Id must be an owner id');
  }
  return { kind: 'dashboard', ownerId };
}

const inWords = (kinds: readonly string[]): string =>
  kinds.includes('dashboard') ? 'the header X-Dashboard-Secret' : `a credential of kind ${kinds.join(' or ')}`;
