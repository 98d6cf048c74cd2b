/** The content of an approver's link: who approved it, and whether a passkey may. Pure. @module */
export const approvedWith = ['passkey', 'key', 'signal', 'policy', 'mandate'] as const;
export type ApprovedWith = (typeof approvedWith)[number];

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
