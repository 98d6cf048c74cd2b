/**
 * Which rules an owner may lift for one charge: those that the owner has set about amounts, times, merchants and places.
 * A state, an expiry, a passkey, the risk and the money are none of them. Pure.
 * @module
 */
import type { Finding } from './merchant-checks.rules.ts';
import type { SpendingFacts, TraceEntry } from './spending-facts.rules.ts';

const liftable: ReadonlySet<string> = new Set([
  ...['merchant_blocklist', 'merchant_allowlist', 'first_merchant', 'mcc_blocklist', 'mcc_allowlist', 'country'],
  ...['card_merchant_blocklist', 'card_merchant_allowlist', 'card_mcc_blocklist', 'card_mcc_allowlist'],
  ...['card_country_blocklist', 'card_country_allowlist', 'active_hours', 'cooldown', 'usage_count'],
  ...['max_transaction', 'daily_limit', 'monthly_limit'],
  ...['card_max_transaction', 'card_daily_limit', 'card_monthly_limit'],
]);

/** Satisfied by the owner's permission itself, because it is an intent that a person has approved. */
const satisfied: ReadonlySet<string> = new Set(['intent_required', 'require_intent', 'auto_approve_limit']);

/** Whether the owner's permission for one charge can help against this refusal. */
export const mayBeAllowedOnce = (rule: string, outcome: TraceEntry['outcome']): boolean =>
  liftable.has(rule) || satisfied.has(rule) || (rule === 'risk' && outcome === 'needs_approval');

/** The finding as the owner's permission leaves it. */
export function lifted(finding: Finding, { allowedOnceOf }: Pick<SpendingFacts, 'allowedOnceOf'>): Finding {
  if (allowedOnceOf === undefined || finding.outcome !== 'deny' || !liftable.has(finding.rule)) return finding;
  return { ...finding, outcome: 'lifted', figures: { ...finding.figures, allowedOnceOf } };
}
