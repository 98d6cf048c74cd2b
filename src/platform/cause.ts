/**
 * Why a change happens: who asked, in which request, at what business time, and the id that makes a repeat
 * recognisable. Every write takes one.
 * @module
 */
export type Actor =
  | { readonly kind: 'key'; readonly id: string }
  | { readonly kind: 'agent'; readonly id: string }
  | { readonly kind: 'passkey'; readonly id: string }
  | { readonly kind: 'approval-link' }
  | { readonly kind: 'dashboard' }
  | { readonly kind: 'network' }
  | { readonly kind: 'signal'; readonly by: string }
  | { readonly kind: 'policy' }
  | { readonly kind: 'deadline' }
  | { readonly kind: 'system' };

export type Cause = {
  /** The same cause never moves a row twice. */
  readonly causeId: string;
  readonly requestId: string;
  readonly runId?: string | undefined;
  readonly actor: Actor;
  /** Business time of the change. */
  readonly at: Date;
};

/** `key:key_…`, `passkey:psk_…`, `signal:anna`, `policy`: as stored in audit rows and shown as `approvedBy`. */
export function actorInWords(actor: Actor): string {
  if ('id' in actor) return `${actor.kind}:${actor.id}`;
  return actor.kind === 'signal' ? `signal:${actor.by}` : actor.kind;
}
