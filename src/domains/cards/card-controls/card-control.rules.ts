/** What a card may allow and block beside the policy of its agent. Pure; the decision evaluates it. @module */
import { type CardControls, normalised } from '../../spending/policies/policy.rules.ts';

export const noControls: CardControls = {
  allowedMerchants: [],
  blockedMerchants: [],
  allowedCountries: [],
  blockedCountries: [],
  allowedMccs: [],
  blockedMccs: [],
};

/** Undefined when a card may have them. */
export function whyNotControls(controls: CardControls): string | undefined {
  for (const { what, allowed, blocked, key } of pairs(controls)) {
    const keys = new Set(blocked.map(key));
    const both = allowed.find((one) => keys.has(key(one)));
    if (both !== undefined) return `${what} ${both} is both allowed and blocked`;
  }
  return undefined;
}

/** Each value once, as it was written first. */
export const withoutRepeats = (controls: CardControls): CardControls => ({
  allowedMerchants: once(controls.allowedMerchants, merchantKey),
  blockedMerchants: once(controls.blockedMerchants, merchantKey),
  allowedCountries: once(controls.allowedCountries, same),
  blockedCountries: once(controls.blockedCountries, same),
  allowedMccs: once(controls.allowedMccs, same),
  blockedMccs: once(controls.blockedMccs, same),
});

type Key = (value: string) => string;
const same: Key = (value) => value;

/** Of a text without letters and digits, the text: it names nothing else. */
const merchantKey: Key = (name) => normalised(name) || name;

const pairs = (controls: CardControls) => [
  { what: 'merchant', allowed: controls.allowedMerchants, blocked: controls.blockedMerchants, key: merchantKey },
  { what: 'country', allowed: controls.allowedCountries, blocked: controls.blockedCountries, key: same },
  { what: 'merchant category', allowed: controls.allowedMccs, blocked: controls.blockedMccs, key: same },
];

function once(values: readonly string[], key: Key): string[] {
  const seen = new Set<string>();
  return values.filter((value) => !seen.has(key(value)) && seen.add(key(value)));
}

/** The names of the lists that differ; the order of a list's values counts for nothing. */
export const differingLists = (one: CardControls, other: CardControls): (keyof CardControls)[] =>
  (Object.keys(noControls) as (keyof CardControls)[]).filter(
    (name) => [...one[name]].sort().join('\n') !== [...other[name]].sort().join('\n'),
  );
