/**
 * Applies an owner's protection rules to the payee of a payment challenge. A rule that allows is compared only with what
 * identifies the payee. Reads only.
 * @module
 */
import type { Tx } from '../../db/tx.ts';
import type { Payee } from '../../domains/payments/mpp-credentials/challenge-evaluation.rules.ts';
import { protectRulesFor } from '../../domains/spending/protect-rules/protect-rule.queries.ts';
import { type ProtectRule, protectDecision } from '../../domains/spending/protect-rules/protect-rule.rules.ts';

export type ProtectedPayee = {
  readonly payee: Payee;
  /** As the challenge says it. The merchant recognises its challenge by it, so a rule that denies compares it too. */
  readonly realm: string;
  /** The registered merchant, where the payee is one. */
  readonly merchant: { readonly id: string; readonly slug: string } | null;
};

type Protection = { readonly reason: string };

/** Undefined where no rule forbids the payee. */
export async function protectionFrom(
  tx: Tx,
  { ownerId, agentId }: { readonly ownerId: string; readonly agentId: string },
  payee: ProtectedPayee,
): Promise<Protection | undefined> {
  return protectionBy(await protectRulesFor(tx, { ownerId, agentId }), agentId, payee);
}

/** The same by rules that the caller has read. */
export function protectionBy(
  rules: readonly ProtectRule[],
  agentId: string,
  { payee, realm, merchant }: ProtectedPayee,
): Protection | undefined {
  const named = { agentId, merchantId: merchant?.id ?? null, merchantSlug: merchant?.slug ?? null };
  const decision = protectDecision(rules, { ...named, host: bracketed(payee.host) });
  if (!decision.allowed) return { reason: decision.why };
  const denying = rules.filter(({ type }) => type === 'deny');
  const byRealm = protectDecision(denying, { ...named, host: realm.replace(/:\d*$/, '') });
  return byRealm.allowed ? undefined : { reason: byRealm.why };
}

/** A host of the URL standard: an IPv6 address stands in brackets. */
const bracketed = (host: string | null): string | null => (host?.includes(':') ? `[${host}]` : host);
