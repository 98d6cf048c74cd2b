/**
 * Writes one security line for each refused access, and an audit row where the operation needs an owner or a person.
 * Lines are limited per address and minute, and over all addresses; omitted ones are counted. Refuses nothing.
 * @module
 */
import type { IncomingMessage } from 'node:http';
import type { DomainError } from '../kernel/errors.ts';
import { minute } from '../kernel/instant.ts';
import { actorInWords } from '../platform/cause.ts';
import type { Logger } from '../platform/log.ts';
import { hintOf } from '../vault/secret-hash.ts';
import { actorOf, type Caller } from './caller.ts';
import { addressGroupOf } from './client-address.ts';
import { refusalOf } from './errors.ts';
import { headerOf, requestIdOf } from './request-id.ts';
import type { Operation } from './route.ts';

/** One refusal as the audit table keeps it. `ownerId` is undefined where no owner was identified. */
export type AuditedRefusal = {
  readonly operation: string;
  readonly code: string;
  readonly actor: string;
  readonly ownerId: string | undefined;
  readonly agentId: string | undefined;
  readonly requestId: string;
  readonly sourceAddress: string;
};

export type Refused = {
  readonly name: string;
  readonly operation: Operation;
  readonly request: IncomingMessage;
  /** Undefined where the credential was not recognised. */
  readonly caller: Caller | undefined;
  readonly client: string;
  readonly error: unknown;
};

export type RefusedAccess = {
  /** Writes the line at once; the promise ends when the audit row, if any, is written. Never throws. */
  trace(refused: Refused): Promise<void>;
  /** Writes what was left out so far, and waits for audit rows under way. */
  close(): Promise<void>;
};

type Options = {
  readonly log: Pick<Logger, 'warn' | 'error'>;
  readonly audit: (refusal: AuditedRefusal) => Promise<void>;
  readonly realNow?: () => number;
};

export const linesPerAddressAndMinute = 20;
export const linesPerMinute = 1_000;

const tracedStatuses: readonly number[] = [401, 403, 429];

export function createRefusedAccess({ log, audit, realNow = Date.now }: Options): RefusedAccess {
  const lines = createCappedLines(log, realNow);
  const underWay = new Set<Promise<void>>();
  return {
    trace: async (refused) => {
      const { status, label: code } = refusalOf(refused.error);
      if (!tracedStatuses.includes(status) && !isFailedVerification(refused.error)) return;
      const { name: operation, request, caller, client } = refused;
      const requestId = requestIdOf(request);
      const credential = credentialOf(request, caller);
      if (!lines.write(client, { operation, status, code, credential, requestId })) return;
      if (!needsOwnerOrPerson(refused, status)) return;
      const actor = caller === undefined ? 'unknown' : actorInWords(actorOf(caller));
      const ownerId = caller !== undefined && 'ownerId' in caller ? caller.ownerId : undefined;
      const agentId = caller?.kind === 'agent' ? caller.agentId : undefined;
      const writing = audit({ operation, code, actor, ownerId, agentId, requestId, sourceAddress: client })
        .catch((error: unknown) => log.error({ err: error, requestId }, 'a refused access was not audited'))
        .finally(() => underWay.delete(writing));
      underWay.add(writing);
      await writing;
    },
    close: async () => {
      lines.close();
      await Promise.all(underWay);
    },
  };
}

const isFailedVerification = (error: unknown): boolean =>
  (error as Partial<DomainError> | null)?.isFailedVerification === true;

/** An agent that asks for an owner's operation, a wrong dashboard secret, a passkey's proof that does not hold. */
function needsOwnerOrPerson({ operation, request, caller, error }: Refused, status: number): boolean {
  if (isFailedVerification(error)) return true;
  if (caller?.kind === 'agent') return !operation.auth.includes('agent');
  return status === 401 && caller === undefined && operation.auth.includes('dashboard') && hasDashboardSecret(request);
}

const hasDashboardSecret = (request: IncomingMessage): boolean => headerOf(request, 'x-dashboard-secret') !== undefined;

/** The id of a known credential, the hint of an unknown one; never the secret. Null where none was sent. */
function credentialOf(request: IncomingMessage, caller: Caller | undefined): string | null {
  if (caller?.kind === 'key') return caller.keyId;
  if (caller?.kind === 'agent') return caller.tokenId;
  if (caller?.kind === 'merchant') return caller.merchantId;
  if (hasDashboardSecret(request)) return 'dashboard secret';
  if (headerOf(request, 'x-clock-key') !== undefined) return 'clock key';
  if (headerOf(request, 'x-merchant-key') !== undefined) return 'merchant key';
  if (headerOf(request, 'x-network-signature') !== undefined) return 'network signature';
  const authorization = headerOf(request, 'authorization');
  if (authorization === undefined) return null;
  // A hint shows four characters, which is too much of a short secret, or of one that is not ours.
  const ours = /^Bearer ((?:sk|at)_\w{24,200})$/i.exec(authorization)?.[1];
  return ours === undefined ? 'an unknown credential' : hintOf(ours);
}

/**
 * At most so many lines for an address, and for all of them, in each minute of real time. Only an address that got a
 * line is remembered, so memory is bounded by the cap over all.
 */
function createCappedLines(log: Options['log'], realNow: () => number) {
  let endsAt = 0;
  let written = 0;
  let omittedOfOthers = 0;
  let timer: NodeJS.Timeout | undefined;
  const addresses = new Map<string, { client: string; lines: number; omitted: number }>();

  const end = (): void => {
    clearTimeout(timer);
    timer = undefined;
    for (const { client, omitted } of addresses.values()) {
      if (omitted > 0) log.warn({ event: 'access.refused.omitted', client, omitted }, 'refused accesses left out');
    }
    if (omittedOfOthers > 0) {
      log.warn({ event: 'access.refused.omitted', omitted: omittedOfOthers }, 'refused accesses of others left out');
    }
    addresses.clear();
    written = 0;
    omittedOfOthers = 0;
  };

  const begin = (now: number): void => {
    endsAt = now + minute;
    timer = setTimeout(end, minute);
    timer.unref();
  };

  /** True when the line was written. */
  const write = (client: string, line: object): boolean => {
    const now = realNow();
    if (timer !== undefined && now >= endsAt) end();
    if (timer === undefined) begin(now);
    const group = addressGroupOf(client);
    const known = addresses.get(group);
    if (written >= linesPerMinute || (known?.lines ?? 0) >= linesPerAddressAndMinute) {
      if (known === undefined) omittedOfOthers += 1;
      else known.omitted += 1;
      return false;
    }
    written += 1;
    if (known === undefined) addresses.set(group, { client, lines: 1, omitted: 0 });
    else known.lines += 1;
    log.warn({ event: 'access.refused', client, ...line }, 'access refused');
    return true;
  };

  return { write, close: end };
}
