/** The owner of a new key, and when a key may be revoked. Pure. @module */
import type { Id } from '../../../kernel/ids.ts';
import type { Move } from '../../../kernel/move.ts';

export type KeyStatus = 'live' | 'revoked';

type Wish = {
  /** The owner behind the caller's own key, or the one the dashboard acts for; undefined when it names none. */
  readonly acting: Id<'owner'> | undefined;
  readonly isDashboard: boolean;
  /** The owner named in the body. */
  readonly wanted: Id<'owner'> | undefined;
};

export type OwnerChoice =
  | { readonly kind: 'owner'; readonly ownerId: Id<'owner'> }
  | { readonly kind: 'new owner' }
  | { readonly kind: 'refused'; readonly code: 'forbidden' | 'invalid_request'; readonly why: string };

/** A key creates keys only for the owner that it belongs to. The dashboard creates keys for every owner, also a new one. */
export function ownerOfNewKey({ acting, isDashboard, wanted }: Wish): OwnerChoice {
  if (wanted !== undefined && acting !== undefined && wanted !== acting) {
    if (isDashboard) return refused('invalid_request', 'ownerId and the header X-Owner-Id name different owners');
    return refused('forbidden', 'a key makes keys for its own owner only; leave ownerId out');
  }
  const ownerId = wanted ?? acting;
  return ownerId === undefined ? { kind: 'new owner' } : { kind: 'owner', ownerId };
}

/** `liveKeys`: how many the owner has, this one included. Without any key the owner could not act. */
export function revokeKey(from: KeyStatus, liveKeys: number): Move<KeyStatus> {
  if (from === 'revoked') return { outcome: 'already', next: 'revoked' };
  if (liveKeys > 1) return { outcome: 'moved', next: 'revoked' };
  return { outcome: 'refused', why: 'this is the owner’s last live key; create another one first' };
}

/**
 * Undefined when a key given by configuration may be used. A live one must be as random as ours, since it is kept
 * under a plain hash.
 */
export function whyUnfitKey(key: string, mode: 'sandbox' | 'live', isOfMode: boolean): string | undefined {
  if (!isOfMode)
    return `BURSAR_API_KEY must begin with ${mode === 'live' ? 'sk_live_ or sk_' : 'sk_sandbox_ or sk_test_'}`;
  if (!/^[\w-]{8,200}$/.test(key)) return 'BURSAR_API_KEY must be 8 to 200 letters, digits, _ or -';
  const shortest = mode === 'live' ? 40 : 16;
  return key.length < shortest ? `BURSAR_API_KEY must have ${shortest} characters or more` : undefined;
}

const refused = (code: 'forbidden' | 'invalid_request', why: string): OwnerChoice => ({ kind: 'refused', code, why });
