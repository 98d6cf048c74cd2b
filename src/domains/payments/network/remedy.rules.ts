/**
 * The smallest change with which a declined charge would have been allowed, found by the rules themselves: the refusing
 * rule says what it lacks, that is changed, and the same facts are decided again. Pure.
 * @module
 */
import { minute } from '../../../kernel/instant.ts';
import { inWords } from '../../../kernel/money.ts';
import {
  type CardControls,
  type Figures,
  isSameMerchant,
  maxChargeCentsFor,
  merchantInWords,
  type Policy,
} from '../../spending/policies/policy.rules.ts';
import {
  type Candidate,
  type Decision,
  type DecisionFacts,
  decideAuthorization,
  decidingFigures,
  type Remedy,
} from './authorization.rules.ts';

export type RemedyStep = Remedy & {
  /** The value that is nearer to what there was, where there is one: with it the rule still refuses. */
  readonly tooLittle?: number | undefined;
  readonly apply: (facts: DecisionFacts, value: Remedy['value']) => DecisionFacts;
};

const mostSteps = 60;

/** Null where no change helps: the card is closed, a token is used up, the risk is too high. Empty for what was allowed. */
export function remedySteps(asked: DecisionFacts): readonly RemedyStep[] | null {
  const steps: RemedyStep[] = [];
  let facts: DecisionFacts = { ...asked, partialSupported: false };
  for (let round = 0; round < mostSteps; round++) {
    const decision = decideAuthorization(facts);
    if (decision.outcome === 'approved') return steps;
    const step = stepAfter(decision, facts);
    if (step === undefined) return null;
    facts = step.apply(facts, step.value);
    steps.push(step);
  }
  return null;
}

/** The decision with what would have changed it; one that approves the whole amount needs nothing. */
export function explained(facts: DecisionFacts, decision: Decision): Decision {
  if (decision.outcome === 'approved') return decision;
  const steps = remedySteps(facts);
  return {
    ...decision,
    remedy: steps?.map(({ field, value, inWords: words }) => ({ field, value, inWords: words })) ?? null,
  };
}

const stepAfter = (decision: Decision, facts: DecisionFacts): RemedyStep | undefined =>
  remedies[decision.rule]?.(facts, decidingFigures(decision), decision);

type Remedying = (facts: DecisionFacts, figures: Figures, decision: Decision) => RemedyStep | undefined;

const euros = (amountCents: number): string => `${inWords(amountCents)} EUR`;

const withPolicy = (facts: DecisionFacts, change: (policy: Policy) => Partial<Policy>): DecisionFacts => {
  const { policy } = facts.spending;
  return policy === null
    ? facts
    : { ...facts, spending: { ...facts.spending, policy: { ...policy, ...change(policy) } } };
};

type Spending = DecisionFacts['spending'];
const withCard = (
  facts: DecisionFacts,
  change: (card: NonNullable<Spending['card']>) => Partial<NonNullable<Spending['card']>>,
) => {
  const { card } = facts.spending;
  return card === undefined ? facts : { ...facts, spending: { ...facts.spending, card: { ...card, ...change(card) } } };
};

type PolicyLimit = 'maxTransactionCents' | 'dailyLimitCents' | 'monthlyLimitCents';

/** A limit has to reach what was spent and what is asked for. */
const neededCents = ({ spentCents, askedCents }: Figures): number => Number(spentCents ?? 0) + Number(askedCents);

const policyLimit =
  (limit: PolicyLimit, name: string): Remedying =>
  (_facts, figures) => ({
    field: `policy.${limit}`,
    value: neededCents(figures),
    tooLittle: neededCents(figures) - 1,
    inWords: `raise ${name} to ${euros(neededCents(figures))}`,
    apply: (facts, value) => withPolicy(facts, () => ({ [limit]: Number(value) })),
  });

const cardLimit =
  (limit: PolicyLimit, name: string): Remedying =>
  (_facts, figures) => ({
    field: `card.${limit}`,
    value: neededCents(figures),
    tooLittle: neededCents(figures) - 1,
    inWords: `raise ${name} to ${euros(neededCents(figures))}`,
    apply: (facts, value) => withCard(facts, ({ limits }) => ({ limits: { ...limits, [limit]: Number(value) } })),
  });

type ListOfPolicy = 'merchantBlocklist' | 'merchantAllowlist' | 'blockedMccs' | 'allowedMccs' | 'allowedCountries';
type ListOfCard = keyof CardControls;

const fromPolicy = (list: ListOfPolicy, entry: string, inWords: string): RemedyStep => ({
  field: `policy.${list}`,
  value: entry,
  inWords,
  apply: (facts, value) => withPolicy(facts, (policy) => ({ [list]: policy[list].filter((one) => one !== value) })),
});

const toPolicy = (list: ListOfPolicy, entry: string, inWords: string): RemedyStep => ({
  field: `policy.${list}`,
  value: entry,
  inWords,
  apply: (facts, value) => withPolicy(facts, (policy) => ({ [list]: [...policy[list], String(value)] })),
});

const onCard = (list: ListOfCard, entry: string, inWords: string, isAdded: boolean): RemedyStep => ({
  field: `card.controls.${list}`,
  value: entry,
  inWords,
  apply: (facts, value) =>
    withCard(facts, ({ controls }) =>
      controls === null
        ? {}
        : {
            controls: {
              ...controls,
              [list]: isAdded ? [...controls[list], String(value)] : controls[list].filter((one) => one !== value),
            },
          },
    ),
});

/** Under which an allowlist would accept the merchant. */
function entryFor({ spending: { request } }: DecisionFacts): string | undefined {
  const { merchant } = request;
  if (merchant === undefined) return undefined;
  const entries = [merchant.name, merchant.domain, merchant.id];
  return entries.find((entry): entry is string => typeof entry === 'string' && isSameMerchant(entry, merchant));
}

const mccOf = ({ spending: { request } }: DecisionFacts): string | undefined => request.mcc || undefined;
const countryOf = ({ spending: { request } }: DecisionFacts): string | undefined =>
  request.country?.toUpperCase() || undefined;

const whenNamed =
  (named: (facts: DecisionFacts) => string | undefined, step: (entry: string) => RemedyStep): Remedying =>
  (facts) => {
    const entry = named(facts);
    return entry === undefined ? undefined : step(entry);
  };

const neededId = 'int_needed';

/** An intent of the least amount that lets the charge through; its merchant is the one that asks. */
const intent: Remedying = ({ spending: { request, policy } }) => {
  const covers = (amountCents: number) =>
    maxChargeCentsFor({ id: neededId, expectedAmountCents: amountCents }, policy?.amountTolerancePercent) >=
    request.amountCents;
  const least = leastThat(covers, request.amountCents);
  const merchant = request.merchant === undefined ? null : merchantInWords(request.merchant);
  return {
    field: 'intent.expectedAmountCents',
    value: least,
    tooLittle: least - 1,
    inWords: `an approved intent of ${euros(least)}${merchant === null ? '' : ` for ${merchant}`}`,
    apply: (facts, value) => ({
      ...facts,
      candidates: [...facts.candidates, neededCandidate(Number(value))],
    }),
  };
};

/** `enough` is, and whatever is more than something that is; 0 is not, because a charge of nothing needs no intent. */
function leastThat(covers: (value: number) => boolean, enough: number): number {
  let [below, least] = [0, enough];
  while (least - below > 1) {
    const middle = Math.floor((below + least) / 2);
    if (covers(middle)) least = middle;
    else below = middle;
  }
  return least;
}

const neededCandidate = (expectedAmountCents: number): Candidate => ({
  id: neededId,
  expectedAmountCents,
  expectedMerchant: null,
  isAutoApproved: true,
  attestedAt: null,
});

const ofCandidates = (facts: DecisionFacts, change: Partial<Candidate>): DecisionFacts => ({
  ...facts,
  candidates: facts.candidates.map((candidate) => ({ ...candidate, ...change })),
});

/** What an intent has to have; without one that fits, the intent comes first. */
const ofIntent =
  (field: string, inWords: string, change: (facts: DecisionFacts) => Partial<Candidate>): Remedying =>
  (facts, figures, decision) =>
    decision.candidate === undefined
      ? intent(facts, figures, decision)
      : { field, value: true, inWords, apply: (given) => ofCandidates(given, change(given)) };

const approval = ofIntent('intent.approvedBy', 'the approval of a person', () => ({ isAutoApproved: false }));

const status =
  (holder: 'agent' | 'card'): Remedying =>
  (_facts, { status: found }) =>
    found !== 'frozen'
      ? undefined
      : {
          field: `${holder}.status`,
          value: 'active',
          inWords: `unfreeze the ${holder}`,
          apply: (facts) =>
            holder === 'card'
              ? withCard(facts, () => ({ status: 'active' }))
              : { ...facts, spending: { ...facts.spending, agent: { status: 'active' } } },
        };

/** The nearer end of the hours moves; the other one stays. */
const activeHours: Remedying = (_facts, figures) => {
  const [start, end, hour] = [Number(figures.start), Number(figures.end), Number(figures.hour)];
  const [after, before] = [(hour + 1 - end + 24) % 24, (start - hour + 24) % 24];
  const isEnd = after <= before;
  const value = isEnd ? (hour + 1) % 24 : hour;
  return {
    field: isEnd ? 'policy.activeHoursEnd' : 'policy.activeHoursStart',
    value,
    inWords: `let the active hours ${isEnd ? 'end' : 'begin'} at ${value}:00 UTC`,
    apply: (facts, given) =>
      withPolicy(facts, () => ({ [isEnd ? 'activeHoursEnd' : 'activeHoursStart']: Number(given) })),
  };
};

const cooldown: Remedying = ({ spending: { at, counters } }) => {
  const passedMs = at.getTime() - (counters.lastPaymentAt ?? at).getTime();
  const value = Math.max(0, Math.floor(passedMs / minute));
  return {
    field: 'policy.cooldownMinutes',
    value,
    tooLittle: value + 1,
    inWords: `lower the least time between two payments to ${value} min`,
    apply: (facts, given) => withPolicy(facts, () => ({ cooldownMinutes: Number(given) })),
  };
};

const usageCount: Remedying = (_facts, figures) => {
  const value = Number(figures.usageCount) + 1;
  return {
    field: 'policy.maxUsageCount',
    value,
    tooLittle: value - 1,
    inWords: `raise the number of payments with a card to ${value}`,
    apply: (facts, given) => withPolicy(facts, () => ({ maxUsageCount: Number(given) })),
  };
};

const expiry: Remedying = ({ spending: { at, policy } }) => {
  if (policy === null) return undefined;
  const value = Math.floor((at.getTime() - policy.updatedAt.getTime()) / minute) + 1;
  return {
    field: 'policy.expiresAfterMinutes',
    value,
    tooLittle: value - 1,
    inWords: `let the policy stand for ${value} min, or change it, which begins its time anew`,
    apply: (facts, given) => withPolicy(facts, () => ({ expiresAfterMinutes: Number(given) })),
  };
};

const funds: Remedying = (_facts, { availableCents, askedCents }) => ({
  field: 'funds.availableCents',
  value: Number(askedCents),
  tooLittle: Number(askedCents) - 1,
  inWords: `add ${euros(Number(askedCents) - Number(availableCents))}, so that ${euros(Number(askedCents))} are available`,
  apply: (facts, value) => ({ ...facts, availableCents: Number(value) }),
});

const unlock: RemedyStep = {
  field: 'policy.lockToFirstMerchant',
  value: false,
  inWords: 'do not lock the policy to its first merchant',
  apply: (facts) => withPolicy(facts, () => ({ lockToFirstMerchant: false })),
};

const blocked =
  (step: (entry: string) => RemedyStep): Remedying =>
  (_facts, { entry }) =>
    typeof entry === 'string' ? step(entry) : undefined;

/** By the rule that decided. A rule that is not here cannot be changed for this charge. */
const remedies: Readonly<Record<string, Remedying>> = {
  agent_status: status('agent'),
  card_status: status('card'),
  policy_expiry: expiry,
  merchant_blocklist: blocked((entry) =>
    fromPolicy('merchantBlocklist', entry, `take ${entry} off the blocked merchants`),
  ),
  merchant_allowlist: whenNamed(entryFor, (entry) =>
    toPolicy('merchantAllowlist', entry, `allow the merchant ${entry}`),
  ),
  first_merchant: () => unlock,
  mcc_blocklist: whenNamed(mccOf, (mcc) =>
    fromPolicy('blockedMccs', mcc, `take ${mcc} off the blocked merchant categories`),
  ),
  mcc_allowlist: whenNamed(mccOf, (mcc) => toPolicy('allowedMccs', mcc, `allow the merchant category ${mcc}`)),
  country: whenNamed(countryOf, (country) => toPolicy('allowedCountries', country, `allow the country ${country}`)),
  card_merchant_blocklist: blocked((entry) =>
    onCard('blockedMerchants', entry, `take ${entry} off the merchants that the card blocks`, false),
  ),
  card_merchant_allowlist: whenNamed(entryFor, (entry) =>
    onCard('allowedMerchants', entry, `allow the merchant ${entry} for the card`, true),
  ),
  card_mcc_blocklist: whenNamed(mccOf, (mcc) =>
    onCard('blockedMccs', mcc, `take ${mcc} off the merchant categories that the card blocks`, false),
  ),
  card_mcc_allowlist: whenNamed(mccOf, (mcc) =>
    onCard('allowedMccs', mcc, `allow the merchant category ${mcc} for the card`, true),
  ),
  card_country_blocklist: whenNamed(countryOf, (country) =>
    onCard('blockedCountries', country, `take ${country} off the countries that the card blocks`, false),
  ),
  card_country_allowlist: whenNamed(countryOf, (country) =>
    onCard('allowedCountries', country, `allow the country ${country} for the card`, true),
  ),
  active_hours: activeHours,
  cooldown,
  usage_count: usageCount,
  max_transaction: policyLimit('maxTransactionCents', 'the limit for one payment'),
  daily_limit: policyLimit('dailyLimitCents', 'the limit for a day'),
  monthly_limit: policyLimit('monthlyLimitCents', 'the limit for a month'),
  card_max_transaction: cardLimit('maxTransactionCents', 'the card’s limit for one payment'),
  card_daily_limit: cardLimit('dailyLimitCents', 'the card’s limit for a day'),
  card_monthly_limit: cardLimit('monthlyLimitCents', 'the card’s limit for a month'),
  intent_required: intent,
  attestation: ofIntent('intent.attestedAt', 'the attestation of a person with a passkey', ({ spending: { at } }) => ({
    attestedAt: at,
  })),
  auto_approve_limit: approval,
  risk: (facts, figures, decision) => (figures.outcome === 'review' ? approval(facts, figures, decision) : undefined),
  insufficient_funds: funds,
};
