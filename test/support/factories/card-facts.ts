/** A card that stands in no rule's way, as the rules look at it. @module */
import type { CardFacts } from '../../../src/domains/spending/policies/policy.rules.ts';

export const harmlessCard = {
  status: 'active',
  usage: 'multi',
  isProvisioning: false,
  expiryMonth: null,
  expiryYear: null,
  controls: null,
  limits: { maxTransactionCents: null, dailyLimitCents: null, monthlyLimitCents: null },
} as const satisfies CardFacts;
