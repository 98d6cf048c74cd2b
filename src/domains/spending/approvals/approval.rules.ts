/** What a link tells of an intent: everything a person needs while it waits, the outcome alone afterwards. Pure. @module */
import { type IntentStatus, isPastDeadline } from '../intents/intent.rules.ts';

export const approvedWith = ['passkey', 'key', 'signal', 'policy', 'mandate'] as const;
export type ApprovedWith = (typeof approvedWith)[number];

type Standing = {
  readonly status: IntentStatus;
  readonly expiresAt: Date;
  readonly matchedTransactionId: string | null;
};

/** Nobody decides after the deadline, whether or not its process has marked it yet. */
export const statusTold = (intent: Standing, now: Date): IntentStatus =>
  intent.status === 'pending_approval' && isPastDeadline(intent, now) ? 'expired' : intent.status;

/** `key:key_…`, `passkey:psk_…`, `man_…`, `policy`: the kind alone. */
export function approvedWithOf(approvedBy: string | null): ApprovedWith | null {
  if (approvedBy?.startsWith('man_')) return 'mandate';
  return approvedWith.find((kind) => approvedBy?.split(':')[0] === kind) ?? null;
}

export type PasskeyState = { readonly state: 'ready' | 'none' | 'blocked'; readonly blockedUntil: Date | null };

/** Whether a passkey may approve now. `next`: from when one would that is enrolled only now. */
export function passkeyState(enrolled: readonly { approvesFrom: Date }[], next: Date, now: Date): PasskeyState {
  const first = Math.min(...enrolled.map(({ approvesFrom }) => approvesFrom.getTime()));
  if (first <= now.getTime()) return { state: 'ready', blockedUntil: null };
  if (enrolled.length > 0) return { state: 'blocked', blockedUntil: new Date(first) };
  return { state: 'none', blockedUntil: next > now ? next : null };
}
