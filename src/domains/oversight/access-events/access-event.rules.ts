/** What the decision of the spending rules means for access to a card: granted for 15 minutes, or denied. Pure. @module */
import { later, minute } from '../../../kernel/instant.ts';
import type { SpendingDecision } from '../../spending/policies/policy.rules.ts';

/** Business time. */
export const grantMinutes = 15;

export type AccessAnswer =
  | { readonly decision: 'granted'; readonly rule: string; readonly reasons: readonly []; readonly expiresAt: Date }
  | {
      readonly decision: 'denied';
      readonly rule: string;
      readonly reasons: readonly [string];
      readonly expiresAt: null;
    };

/** What a person would have to approve is denied: an approved intent is the way to ask a person. */
export function accessAnswerOf({ outcome, rule, reason }: SpendingDecision, at: Date): AccessAnswer {
  if (outcome !== 'allow') return { decision: 'denied', rule, reasons: [reason], expiresAt: null };
  return { decision: 'granted', rule, reasons: [], expiresAt: later(at, grantMinutes * minute) };
}
