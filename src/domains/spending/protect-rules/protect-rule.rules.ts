/**
 * Which merchants an agent may pay by a machine payment. A deny rule takes precedence over an allow rule; one allow rule
 * in reach closes the list, so that every merchant without an allow rule is refused. A rule for a host covers exactly
 * that host on any port, and no subdomain of it. Pure.
 * @module
 */
import { type Id, isId } from '../../../kernel/ids.ts';

export const protectRuleTypes = ['allow', 'deny'] as const;
export type ProtectRuleType = (typeof protectRuleTypes)[number];

export type ProtectRule = {
  readonly id: Id<'protectRule'>;
  /** Null: the rule is for every agent of the owner. */
  readonly agentId: string | null;
  readonly type: ProtectRuleType;
  /** In the form of `normalizedMerchant`. */
  readonly merchant: string;
};

/** What is known about the merchant of a payment. */
export type ProtectedPayment = {
  readonly agentId: string;
  /** The host of the address that is paid, in any spelling, with or without a port; null where the payment names no address. */
  readonly host: string | null;
  /** Both null for a merchant that is not registered. */
  readonly merchantId: string | null;
  readonly merchantSlug: string | null;
};

export type ProtectDecision =
  /** `ruleId`: the rule that decided; null where no rule is in reach, or no allow rule fits. */
  | { readonly allowed: true; readonly ruleId: Id<'protectRule'> | null }
  | { readonly allowed: false; readonly ruleId: Id<'protectRule'> | null; readonly why: string };

export function protectDecision(rules: readonly ProtectRule[], payment: ProtectedPayment): ProtectDecision {
  const names = namesOf(payment);
  const inReach = rules.filter(({ agentId }) => agentId === null || agentId === payment.agentId);
  const fitting = inReach.filter(({ merchant }) => names.has(merchant));
  const denying = fitting.find(({ type }) => type === 'deny');
  if (denying !== undefined) {
    const why = `rule ${denying.id} denies machine payments to ${denying.merchant}`;
    return { allowed: false, ruleId: denying.id, why };
  }
  const [allowing] = fitting; // None of them denies.
  if (allowing !== undefined) return { allowed: true, ruleId: allowing.id };
  if (!inReach.some(({ type }) => type === 'allow')) return { allowed: true, ruleId: null };
  const merchant = names.size === 0 ? 'a merchant that is not known' : [...names].join(', ');
  return {
    allowed: false,
    ruleId: null,
    why: `only merchants with an allow rule may be paid, and ${merchant} has none`,
  };
}

/** A host with a port is its host, because a rule covers every port. No rule can be made for what is no host. */
function namesOf({ host, merchantId, merchantSlug }: ProtectedPayment): ReadonlySet<string> {
  const hostName = host === null ? null : normalizedHost(host.replace(/:\d*$/, ''));
  return new Set([hostName, merchantId, merchantSlug].filter((name) => name != null));
}

/** The merchant that a rule names: an id, a slug or a host in its normalised form; undefined for any other text. */
export function normalizedMerchant(text: string): string | undefined {
  const lowerCase = text.toLowerCase();
  return isId('merchant', lowerCase) ? lowerCase : normalizedHost(text);
}

/**
 * A host in one spelling: lower case, punycode, without the trailing dot of a fully qualified name; IP addresses in
 * the form of the URL standard. Undefined for a text with a port, a path or anything else beside the host.
 */
export function normalizedHost(text: string): string | undefined {
  const isIpv6 = /^\[[0-9a-f:.]+\]$/i.test(text);
  if (!isIpv6 && /[\s\p{Cc}/\\?#@:%[\]]/u.test(text)) return undefined;
  const host = URL.parse(`https://${text}/`)?.hostname.replace(/\.$/, '') ?? '';
  if (isIpv6) return host === '' ? undefined : host;
  return host.length <= longestHost && host.split('.').every((label) => hostLabel.test(label)) ? host : undefined;
}

const longestHost = 253;
/** Underscores are not allowed in host names but occur; hyphens stand inside. */
const hostLabel = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
