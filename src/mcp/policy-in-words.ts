/**
 * The rules of an agent in sentences, for a model that plans a purchase. Says what is allowed; the decision is made by the
 * rules themselves.
 * @module
 */
export type PolicyFigures = Readonly<Record<string, unknown>>;

const euros = (value: unknown): string => `${Number(value).toFixed(2)} EUR`;
const list = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);
const number = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

export function policyInWords(policy: PolicyFigures): string {
  return sentences(policy)
    .filter((sentence) => sentence !== undefined)
    .join(' ');
}

function sentences(policy: PolicyFigures): (string | undefined)[] {
  return [
    limit(policy.maxTransactionEuros, 'One payment may be at most'),
    limit(policy.dailyLimitEuros, 'A UTC day may be at most'),
    limit(policy.monthlyLimitEuros, 'A UTC month may be at most'),
    asking(number(policy.autoApproveLimitEuros)),
    merchants(policy),
    categories(policy),
    countries(policy),
    policy.lockToFirstMerchant === true ? 'Only the merchant of the first payment is allowed.' : undefined,
    cooldown(number(policy.cooldownMinutes)),
    hours(number(policy.activeHoursStart), number(policy.activeHoursEnd)),
    number(policy.maxUsageCount) === undefined ? undefined : `At most ${policy.maxUsageCount} payments with a card.`,
    policy.requireIntent === true ? 'Every payment needs an approved intent.' : undefined,
    policy.requireAttestation === true ? 'A person has to sign each payment with a passkey.' : undefined,
    number(policy.amountTolerancePercent) === undefined
      ? undefined
      : `A charge may be ${policy.amountTolerancePercent} % above its intent.`,
    payees[String(policy.payeeMismatch)],
    typeof policy.expiresAt === 'string' ? `From ${policy.expiresAt} on nothing may be spent.` : undefined,
  ];
}

/** Of bank transfers. */
const payees: Readonly<Record<string, string>> = {
  refuse: 'A bank transfer whose payee is not confirmed by the payee’s bank is refused.',
  send: 'A bank transfer is sent although the payee’s bank does not confirm the payee.',
};

const limit = (value: unknown, words: string): string | undefined =>
  number(value) === undefined ? undefined : `${words} ${euros(value)}.`;

function asking(most: number | undefined): string {
  if (most === undefined) return 'No person is asked because of the amount.';
  return most === 0 ? 'A person approves every payment.' : `Above ${euros(most)} a person has to approve.`;
}

function merchants({ merchantAllowlist, merchantBlocklist }: PolicyFigures): string | undefined {
  const [allowed, blocked] = [list(merchantAllowlist), list(merchantBlocklist)];
  const words = [
    allowed.length === 0 ? undefined : `Only ${many(allowed.length, 'merchant')} allowed: see merchantAllowlist.`,
    blocked.length === 0 ? undefined : `${many(blocked.length, 'merchant')} blocked: see merchantBlocklist.`,
  ].filter((part) => part !== undefined);
  return words.length === 0 ? undefined : words.join(' ');
}

const many = (count: number, noun: string): string => (count === 1 ? `1 ${noun} is` : `${count} ${noun}s are`);

function categories({ mccCategories, allowedMccs, blockedMccs }: PolicyFigures): string | undefined {
  const allowed = [...list(mccCategories), ...list(allowedMccs)];
  const blocked = list(blockedMccs);
  const words = [
    allowed.length === 0 ? undefined : `Merchant categories allowed: ${allowed.join(', ')}.`,
    blocked.length === 0 ? undefined : `Merchant categories blocked: ${blocked.join(', ')}.`,
  ].filter((part) => part !== undefined);
  return words.length === 0 ? undefined : words.join(' ');
}

function countries({ allowedCountries }: PolicyFigures): string | undefined {
  const allowed = list(allowedCountries);
  return allowed.length === 0 ? undefined : `Countries allowed: ${allowed.join(', ')}.`;
}

const cooldown = (minutes: number | undefined): string | undefined =>
  minutes === undefined || minutes === 0 ? undefined : `At least ${minutes} minutes lie between two payments.`;

function hours(start: number | undefined, end: number | undefined): string | undefined {
  if ((start === undefined && end === undefined) || start === end) return undefined;
  return `Payments are allowed from ${start ?? 0}:00 to ${end ?? 24}:00 UTC.`;
}
