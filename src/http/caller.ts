/** The authenticated caller, and the one check that separates owners and agents. @module */
import { DomainError, notFound } from '../kernel/errors.ts';
import type { Id, IdKind } from '../kernel/ids.ts';
import type { Actor, Cause } from '../platform/cause.ts';
import type { AtomicKey } from './atomic-key.ts';
import type { BodyLimit } from './body.ts';

export type Caller =
  | { readonly kind: 'key'; readonly ownerId: Id<'owner'>; readonly keyId: Id<'key'> }
  | {
      readonly kind: 'agent';
      readonly ownerId: Id<'owner'>;
      readonly agentId: Id<'agent'>;
      readonly tokenId: Id<'token'>;
      readonly scopes: readonly string[];
    }
  | { readonly kind: 'dashboard'; readonly ownerId: Id<'owner'> | undefined }
  /** A registered merchant: reaches what was made out to it, and no record of an owner. */
  | { readonly kind: 'merchant'; readonly merchantId: Id<'merchant'> }
  /** Holds the key that reads the sandbox's business clock, and nothing else. */
  | { readonly kind: 'clock' }
  | { readonly kind: 'network' }
  | { readonly kind: 'public' };

/** One request as its handler sees it. */
export type Call = {
  readonly caller: Caller;
  readonly requestId: string;
  readonly runId: string | undefined;
  readonly idempotencyKey: string | undefined;
  /** Of an atomic operation: what its statement keeps the answer under; null without a key. */
  readonly atomicKey?: AtomicKey | null;
  /** Ends what waits for a caller that is gone. */
  gone(): AbortSignal;
  /** For writes: recognises a repeat of this very request, and carries business time. */
  readonly cause: Cause;
  /** Mints an id; a re-driven request mints the same ones in the same order. */
  newId<K extends IdKind>(kind: K): Id<K>;
  /** Business time, for reads that evaluate deadlines. */
  now(): Promise<Date>;
  /** Refuses a caller whose credential was revoked or has lost its right since: for an answer that was long in coming. */
  admitAgain(): Promise<void>;
  /** Of an operation that takes a file, whose body is not read before the handler asks for it. Once. */
  readFile(limit: BodyLimit): Promise<Uint8Array>;
  /** Of the body, as its headers say; infinite where they do not. */
  readonly declaredBytes: number;
};

/** The owner on whose behalf the call acts. */
function ownerOf({ caller }: Call): Id<'owner'> {
  if (caller.kind === 'key' || caller.kind === 'agent') return caller.ownerId;
  if (caller.kind === 'dashboard' && caller.ownerId !== undefined) return caller.ownerId;
  throw new DomainError('invalid_request', 'name the owner in the header X-Owner-Id');
}

/** Whose records the caller may read and change. */
export type Own = {
  readonly ownerId: Id<'owner'>;
  /** Of an agent's token: the only agent whose records it reaches. Undefined: every agent of the owner. */
  readonly agentId: Id<'agent'> | undefined;
};

export const ownOf = (call: Call): Own => ({ ownerId: ownerOf(call), agentId: agentOf(call) });

const agentOf = ({ caller }: Call): Id<'agent'> | undefined => (caller.kind === 'agent' ? caller.agentId : undefined);

/** A record as isolation compares it. `agentId` null: no agent's, so that an agent's token does not reach it. */
export type Owned = { readonly ownerId: string; readonly agentId?: string | null | undefined };

/** Another owner's record does not exist for the caller; another agent's exists and is closed to it. */
export function mayReach<Row extends Owned>(own: Own, noun: string, id: string, row: Row | null): Row {
  if (row === null || row.ownerId !== own.ownerId) throw notFound(noun, id);
  if (own.agentId !== undefined && row.agentId !== own.agentId) {
    throw new DomainError('agent_isolation', `${noun} ${id} ${closed[noun] ?? 'belongs to another agent'}`);
  }
  return row;
}

/** Why a record of the owner is closed to an agent. */
const closed: Readonly<Record<string, string>> = {
  wallet: 'is not the wallet that this agent draws on',
  beneficiary: 'is not one that agents may pay',
};

/** The agent, whichever of its tokens it uses, or the API key. */
export function callerIdOf(caller: Caller): string {
  const actor = actorOf(caller);
  return 'id' in actor ? actor.id : actor.kind;
}

export function actorOf(caller: Caller): Actor {
  if (caller.kind === 'key') return { kind: 'key', id: caller.keyId };
  if (caller.kind === 'agent') return { kind: 'agent', id: caller.agentId };
  if (caller.kind === 'merchant') return { kind: 'merchant', id: caller.merchantId };
  if (caller.kind === 'dashboard') return { kind: 'dashboard' };
  return caller.kind === 'network' ? { kind: 'network' } : { kind: 'system' };
}
