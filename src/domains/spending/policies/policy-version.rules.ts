/**
 * What changed between two versions of a policy, field by field and in words. Pure.
 * @module
 */

import { inWords } from '../../../kernel/money.ts';
import { numberedCursor } from '../../../kernel/page.ts';
import type { PolicyTerms } from './spending-facts.rules.ts';

export const versionCursor = numberedCursor('revision', 9);

type Field = keyof PolicyTerms;
type Value = string | number | boolean | null | readonly string[];
export type PolicyFieldChange = {
  readonly field: Field;
  readonly before: Value;
  readonly after: Value;
  readonly inWords: string;
};

/** In the order in which a policy shows its fields; empty where the versions have the same rules. */
export const policyDifference = (before: PolicyTerms, after: PolicyTerms): PolicyFieldChange[] =>
  (Object.keys(words) as Field[])
    .filter((field) => !isSame(before[field], after[field]))
    .map((field) => ({
      field,
      before: before[field],
      after: after[field],
      inWords: words[field](before[field] as never, after[field] as never),
    }));

/** The order of a list means nothing. */
function isSame(before: Value, after: Value): boolean {
  if (!isList(before) || !isList(after)) return before === after;
  return added(before, after).length === 0 && added(after, before).length === 0;
}

const isList = (value: Value): value is readonly string[] => Array.isArray(value);

const added = (before: readonly string[], after: readonly string[]): string[] =>
  after.filter((entry) => !before.includes(entry));

type InWords<V> = (before: V, after: V) => string;

/** A figure without which the rule does not exist. */
const figure =
  (name: string, unit: (value: number) => string): InWords<number | null> =>
  (before, after) => {
    if (before === null) return `${name} was set to ${unit(after ?? 0)}; there was none`;
    if (after === null) return `${name} was removed; it was ${unit(before)}`;
    return `${name} was ${after > before ? 'raised' : 'lowered'} from ${unit(before)} to ${unit(after)}`;
  };

const euros = (amountCents: number): string => `${inWords(amountCents)} EUR`;
const minutes = (value: number): string => `${value} min`;
const payments = (value: number): string => (value === 1 ? '1 payment' : `${value} payments`);
const percent = (value: number): string => `${value} %`;
const hour = (value: number): string => `${value}:00 UTC`;

const list =
  (name: string): InWords<readonly string[]> =>
  (before, after) => {
    const [more, less] = [added(before, after), added(after, before)];
    const parts = [
      more.length === 0 ? undefined : `${more.join(', ')} added`,
      less.length === 0 ? undefined : `${less.join(', ')} removed`,
    ];
    const gone = after.length === 0 ? '; the list is empty now' : '';
    return `${name}: ${parts.filter((part) => part !== undefined).join(', ')}${gone}`;
  };

const flag =
  (rule: string): InWords<boolean> =>
  (_before, after) =>
    after ? `${rule} from now on` : `${rule} no longer`;

const from =
  (name: string): InWords<string> =>
  (before, after) =>
    `${name} was changed from ${before} to ${after}`;

const hours =
  (name: string): InWords<number | null> =>
  (before, after) =>
    `${name}: ${after === null ? 'open' : hour(after)}, before ${before === null ? 'open' : hour(before)}`;

/** Every field, so that a new one does not compile without its words. */
const words: { readonly [F in Field]: InWords<PolicyTerms[F]> } = {
  name: from('the name'),
  maxTransactionCents: figure('the limit for one payment', euros),
  dailyLimitCents: figure('the limit for a day', euros),
  monthlyLimitCents: figure('the limit for a month', euros),
  autoApproveLimitCents: figure('the amount up to which no person is asked', euros),
  merchantAllowlist: list('allowed merchants'),
  merchantBlocklist: list('blocked merchants'),
  mccCategories: list('allowed groups of merchant categories'),
  allowedMccs: list('allowed merchant categories'),
  blockedMccs: list('blocked merchant categories'),
  allowedCountries: list('allowed countries'),
  lockToFirstMerchant: flag('locked to the first merchant'),
  cooldownMinutes: figure('the least time between two payments', minutes),
  requireIntent: flag('an intent is required'),
  requireAttestation: flag('an attestation is required'),
  attestationWindowMinutes: figure('the age that an attestation may have', minutes),
  expiresAfterMinutes: figure('the time after which the policy expires', minutes),
  expirationAction: from('what is done when the policy expires'),
  activeHoursStart: hours('the start of the active hours'),
  activeHoursEnd: hours('the end of the active hours'),
  maxUsageCount: figure('the number of payments with a card', payments),
  amountTolerancePercent: figure('the tolerance above an intent', percent),
  payeeMismatch: from('what is done with a transfer whose payee is not confirmed'),
};
