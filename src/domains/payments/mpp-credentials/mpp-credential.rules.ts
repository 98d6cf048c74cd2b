/**
 * The state transitions of an MPP credential, how long it lives, and the facts that its workflow waits for. Pure: rows
 * and times are arguments. Its expiry is real time, like the expiry of the challenge that it answers.
 * @module
 */
import { minute } from '../../../kernel/instant.ts';
import type { Move } from '../../../kernel/move.ts';
import type { RowState } from '../../../kernel/row-state.ts';

/**
 * `requested`: reserved, nothing minted yet; `minted`: the merchant may use it; `consumed`: used, by the network's
 * authorization or by the merchant's verification; `declined`: the network's authorization was declined; `revoked`: its
 * intent was cancelled before anyone used it.
 */
export const credentialStatuses = [
  'requested',
  'minted',
  'consumed',
  'expired',
  'declined',
  'refused',
  'revoked',
] as const;
export type CredentialStatus = (typeof credentialStatuses)[number];

export const credentialCommands = ['mint', 'consume', 'decline', 'expire', 'refuse', 'revoke'] as const;
export type CredentialCommand = (typeof credentialCommands)[number];

const leadsTo = {
  mint: 'minted',
  consume: 'consumed',
  decline: 'declined',
  expire: 'expired',
  refuse: 'refused',
  revoke: 'revoked',
} as const satisfies Record<CredentialCommand, CredentialStatus>;

const mayReceive: Record<CredentialStatus, readonly CredentialCommand[]> = {
  requested: ['mint', 'expire', 'refuse', 'revoke'],
  minted: ['consume', 'decline', 'expire', 'revoke'],
  consumed: [],
  expired: [],
  declined: [],
  refused: [],
  revoked: [],
};

/** `seen`: this very cause has moved the row before. A credential is used once: another cause is refused. */
export function moveCredential(
  from: CredentialStatus,
  command: CredentialCommand,
  seen: boolean,
): Move<CredentialStatus> {
  if (seen) return { outcome: 'already', next: from };
  if (mayReceive[from].includes(command)) return { outcome: 'moved', next: leadsTo[command] };
  return { outcome: 'refused', why: `cannot ${command} a credential that is ${from}` };
}

export const isFinalCredential = (status: CredentialStatus): boolean => mayReceive[status].length === 0;

/** How long a credential lives at most, in real time. */
export const credentialLivesMs = 5 * minute;

/** The credential ends with its challenge, and five minutes after it was asked for at the latest. */
export function credentialExpiry(challengeExpires: string | undefined, now: Date): Date {
  const latest = now.getTime() + credentialLivesMs;
  const ends = challengeExpires === undefined ? Number.NaN : Date.parse(challengeExpires);
  return new Date(Number.isNaN(ends) ? latest : Math.min(ends, latest));
}

type Lifetime = { readonly status: CredentialStatus; readonly expiresAt: Date };

/** Whatever its stored status, a credential past its expiry is not used. `now` is real time. */
export const isPastExpiry = ({ expiresAt }: Pick<Lifetime, 'expiresAt'>, now: Date): boolean =>
  expiresAt.getTime() <= now.getTime();

/** The published status, also before the workflow has marked the expiry. `now` is real time. */
export const credentialStatusAsOf = (credential: Lifetime, now: Date): CredentialStatus =>
  !isFinalCredential(credential.status) && isPastExpiry(credential, now) ? 'expired' : credential.status;

/** What the workflow of a credential waits for, in its order. */
export type CredentialFact = 'minted' | 'ended';
export type CredentialDue = 'expiry';

/** A credential of a payment is minted by the workflow of the payment. */
export type CredentialProgress = Lifetime & { readonly paymentId: string | null };

/** The facts that a credential has reached, and when it expires. `now` is real time. */
export function credentialFacts(
  { status, expiresAt, paymentId }: CredentialProgress,
  now: Date,
): Pick<RowState<never, CredentialFact, CredentialDue>, 'final' | 'reached' | 'dueInMs'> {
  const final = isFinalCredential(status);
  const facts: Readonly<Record<CredentialFact, boolean>> = {
    minted: status !== 'requested' || paymentId !== null,
    ended: final,
  };
  return {
    final,
    reached: (Object.keys(facts) as CredentialFact[]).filter((fact) => facts[fact]),
    dueInMs: final ? {} : { expiry: expiresAt.getTime() - now.getTime() },
  };
}
