/** A card's row as the spending rule looks at it. Shapes only. @module */
import type { CardFacts } from '../domains/spending/policies/index.ts';

export const cardColumns = `id, status, usage, is_provisioning as "isProvisioning",
  max_transaction_cents as "maxTransactionCents", daily_limit_cents as "dailyLimitCents",
  monthly_limit_cents as "monthlyLimitCents"`;

export type CardColumns = { readonly id: string } & Omit<CardFacts, 'limits'> & CardFacts['limits'];

export const cardFactsOf = (card: CardColumns): CardFacts => ({
  status: card.status,
  usage: card.usage,
  isProvisioning: card.isProvisioning,
  limits: {
    maxTransactionCents: card.maxTransactionCents,
    dailyLimitCents: card.dailyLimitCents,
    monthlyLimitCents: card.monthlyLimitCents,
  },
});
