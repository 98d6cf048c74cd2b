/**
 * When an agent's policy expires, and the next step of its workflow. Pure: the row and the time are arguments. A charge
 * under an expired policy is refused by the spending rules, whether or not the workflow has acted.
 * @module
 */
import { minute } from '../../../kernel/instant.ts';
import type { ExpirationAction, Policy } from './spending-facts.rules.ts';

type Lapsing = Pick<Policy, 'expiresAfterMinutes' | 'updatedAt'>;

/** Counted from the last change; null = never. At this very instant it is over. */
export const expiryOf = ({ expiresAfterMinutes, updatedAt }: Lapsing): Date | null =>
  expiresAfterMinutes === null ? null : new Date(updatedAt.getTime() + expiresAfterMinutes * minute);

export const isPolicyExpired = (policy: Lapsing, at: Date): boolean => {
  const expiresAt = expiryOf(policy);
  return expiresAt !== null && at >= expiresAt;
};

export type ExpiryStep =
  | { readonly kind: 'wait'; readonly waitMs: number }
  | { readonly kind: 'expire' | 'expired' | 'final' };

/**
 * `expiredAt`: it was acted upon already. An agent that is being created is not visible, so no event could be sent: it
 * is read
 * at again. `final`: there is no expiry to wait for, or no policy.
 */
export function nextExpiryStep(
  policy: (Lapsing & { readonly expiredAt: Date | null }) | null,
  { isAgentThere, at, longestWaitMs }: { isAgentThere: boolean; at: Date; longestWaitMs: number },
): ExpiryStep {
  const expiresAt = policy === null ? null : expiryOf(policy);
  if (policy === null || expiresAt === null) return { kind: 'final' };
  if (policy.expiredAt !== null) return { kind: 'expired' };
  const leftMs = expiresAt.getTime() - at.getTime();
  if (leftMs > 0) return { kind: 'wait', waitMs: Math.min(leftMs, longestWaitMs) };
  return isAgentThere ? { kind: 'expire' } : { kind: 'wait', waitMs: minute };
}

/** What the owner does to let the agent spend again. */
export const afterExpiry: Readonly<Record<ExpirationAction, string>> = {
  freeze: 'change the policy, then unfreeze the cards',
  close: 'change the policy, then issue a new card',
  notify: 'change the policy',
};
