/** Who is calling, once authenticated, and the one check that keeps owners and agents apart. @module */
import { DomainError, notFound } from '../kernel/errors.ts';
import type { Id, IdKind } from '../kernel/ids.ts';
import type { Actor, Cause } from '../platform/cause.ts';

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
  /** For writes: recognises a repeat of this very request, and carries business time. */
  readonly cause: Cause;
  /** Mints an id; a re-driven request mints the same ones in the same order. */
  newId<K extends IdKind>(kind: K): Id<K>;
  /** Business time, for reads that evaluate deadlines. */
  now(): Promise<Date>;
};

/** The owner on whose behalf the call acts. */
export function ownerOf({ caller }: Call): Id<'owner'> {
  if (caller.kind === 'key' || caller.kind === 'agent') return caller.ownerId;
  if (caller.kind === 'dashboard' && caller.ownerId !== undefined) return caller.ownerId;
  throw new DomainError('invalid_request', 'name the owner in the header X-Owner-Id');
}

/** The agent a list is confined to: the caller's own, for an agent token. */
export const agentOf = ({ caller }: Call): Id<'agent'> | undefined =>
  caller.kind === 'agent' ? caller.agentId : undefined;

/** Another owner's record does not exist for the caller; another agent's exists and is closed to it. */
export function mayReach<Row extends { ownerId: string; agentId?: string | null }>(
  call: Call,
  noun: string,
  id: string,
  row: Row | null,
): Row {
  if (row === null || row.ownerId !== ownerOf(call)) throw notFound(noun, id);
  if (call.caller.kind === 'agent' && row.agentId !== call.caller.agentId) {
    throw new DomainError('agent_isolation', `${noun} ${id} belongs to another agent`);
  }
  return row;
}

export function actorOf(caller: Caller): Actor {
  if (caller.kind === 'key') return { kind: 'key', id: caller.keyId };
  if (caller.kind === 'agent') return { kind: 'agent', id: caller.agentId };
  if (caller.kind === 'dashboard') return { kind: 'dashboard' };
  return caller.kind === 'network' ? { kind: 'network' } : { kind: 'system' };
}
