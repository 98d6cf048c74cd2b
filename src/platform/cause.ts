/**
 * The cause of a change: the caller, the request, the business time, and the id that identifies a repeat. Every write
 * takes one.
 * @module
 */
export type Actor =
  | { readonly kind: 'key'; readonly id: string }
  | { readonly kind: 'agent'; readonly id: string }
  | { readonly kind: 'merchant'; readonly id: string }
  /** `name`: of its person, for the audit row. */
  | { readonly kind: 'passkey'; readonly id: string; readonly name?: string }
  /** The holder of a link to enrol a passkey. */
  | { readonly kind: 'invitation'; readonly id: string }
  | { readonly kind: 'approval-link' }
  /** The holder of the link of this subscription's page. */
  | { readonly kind: 'webhook-page'; readonly id: string }
  | { readonly kind: 'dashboard' }
  /** Who may run `bursar` on the machine. */
  | { readonly kind: 'command' }
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
  /** The client's IP address, for the audit row; absent where no request is at hand, as in a workflow's step. */
  readonly sourceAddress?: string | undefined;
  /** Business time of the change. */
  readonly at: Date;
};

/** The ids of the call that asked for a payment, as intents, checkouts, simulations and transactions store them. */
export type OriginatingCall = { readonly requestId: string; readonly runId?: string | null | undefined };

/** The same change, recorded under the ids of the call that it follows from; without one under its own. */
export const causedBy = (cause: Cause, origin: OriginatingCall | undefined): Cause =>
  origin === undefined ? cause : { ...cause, requestId: origin.requestId, runId: origin.runId ?? undefined };

/** A call that names no run belongs to the run of what it is about. */
export const inRunOf = (cause: Cause, row: Pick<OriginatingCall, 'runId'> | undefined): Cause => ({
  ...cause,
  runId: cause.runId ?? row?.runId ?? undefined,
});

/** `key:key_…`, `passkey:psk_…`, `signal:anna`, `policy`: as stored in audit rows and shown as `approvedBy`. */
export function actorInWords(actor: Actor): string {
  if ('id' in actor) return `${actor.kind}:${actor.id}`;
  return actor.kind === 'signal' ? `signal:${actor.by}` : actor.kind;
}
