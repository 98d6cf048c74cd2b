/**
 * Checks of who is paid, for what category of goods and in which country: by the policy of an agent, or by the controls
 * of one of its cards. Each returns its finding with figures, or nothing where there is no such rule.
 * @module
 */
import { isInCategory } from './mcc-groups.rules.ts';
import { isKnown, isSameMerchant, merchantInWords, resembles } from './merchant-match.rules.ts';
import type { CardControls, Figures, PolicyTerms, SpendingFacts, TraceEntry } from './spending-facts.rules.ts';

export type Finding = TraceEntry & { readonly reason: string };
export type Asked = Pick<SpendingFacts, 'request' | 'phase'>;

/** In the order of evaluating. `lockToFirstMerchant` comes between, so the policy's are in two parts. */
export const policyMerchantChecks = ({ merchantBlocklist, merchantAllowlist }: PolicyTerms, asked: Asked): Findings => [
  blockedMerchant('merchant_blocklist', '', merchantBlocklist, asked),
  allowedMerchant('merchant_allowlist', '', merchantAllowlist, asked),
];

export const policyPlaceChecks = (terms: PolicyTerms, asked: Asked): Findings => [
  blockedMcc('mcc_blocklist', '', terms.blockedMccs, asked),
  allowedMcc('mcc_allowlist', '', { codes: terms.allowedMccs, categories: terms.mccCategories }, asked),
  allowedCountry('country', '', terms.allowedCountries, asked),
];

const ofCard = ' of this card';

export const cardControlChecks = (controls: CardControls, asked: Asked): Findings => [
  blockedMerchant('card_merchant_blocklist', ofCard, controls.blockedMerchants, asked),
  allowedMerchant('card_merchant_allowlist', ofCard, controls.allowedMerchants, asked),
  blockedMcc('card_mcc_blocklist', ofCard, controls.blockedMccs, asked),
  allowedMcc('card_mcc_allowlist', ofCard, { codes: controls.allowedMccs, categories: [] }, asked),
  blockedCountry('card_country_blocklist', ofCard, controls.blockedCountries, asked),
  allowedCountry('card_country_allowlist', ofCard, controls.allowedCountries, asked),
];

type Findings = readonly (Finding | undefined)[];
type List = readonly string[];

function blockedMerchant(rule: string, whose: string, entries: List, { request: { merchant } }: Asked) {
  if (entries.length === 0 || merchant === undefined || !isKnown(merchant)) return undefined;
  const entry = entries.find((blocked) => resembles(blocked, merchant));
  const figures = { merchant: merchantInWords(merchant), ...(entry === undefined ? {} : { entry }) };
  if (entry === undefined) return pass(rule, figures);
  return deny(rule, `merchant ${figures.merchant} is blocked by the entry ${entry}${whose}`, figures);
}

function allowedMerchant(rule: string, whose: string, entries: List, { request: { merchant }, phase }: Asked) {
  if (entries.length === 0) return undefined;
  if (merchant === undefined || !isKnown(merchant)) return unnamed(rule, 'merchant', whose, phase);
  const figures = { merchant: merchantInWords(merchant), entries: entries.length };
  if (entries.some((allowed) => isSameMerchant(allowed, merchant))) return pass(rule, figures);
  const reason = `merchant ${figures.merchant} is none of the ${figures.entries} allowed merchants${whose}`;
  return deny(rule, reason, figures);
}

function blockedMcc(rule: string, whose: string, codes: List, { request: { mcc } }: Asked) {
  if (codes.length === 0 || !mcc) return undefined;
  if (!codes.includes(mcc)) return pass(rule, { mcc });
  return deny(rule, `merchant category ${mcc} is blocked${whose === '' ? '' : ' by the controls'}${whose}`, { mcc });
}

type Categories = { readonly codes: List; readonly categories: List };

function allowedMcc(
  rule: string,
  whose: string,
  { codes, categories }: Categories,
  { request: { mcc }, phase }: Asked,
) {
  if (codes.length === 0 && categories.length === 0) return undefined;
  if (!mcc) return unnamed(rule, 'merchant category', whose, phase);
  if (codes.includes(mcc) || categories.some((category) => isInCategory(mcc, category))) return pass(rule, { mcc });
  const allowed = [...categories, ...codes].join(', ');
  return deny(rule, `merchant category ${mcc} is not among the allowed ${allowed}${whose}`, { mcc, allowed });
}

function blockedCountry(rule: string, whose: string, countries: List, { request: { country } }: Asked) {
  if (countries.length === 0 || !country) return undefined;
  const figures = { country };
  if (!countries.includes(country.toUpperCase())) return pass(rule, figures);
  return deny(rule, `country ${country} is blocked by the controls${whose}`, figures);
}

function allowedCountry(rule: string, whose: string, countries: List, { request: { country }, phase }: Asked) {
  if (countries.length === 0) return undefined;
  if (!country) return unnamed(rule, 'merchant country', whose, phase);
  const allowed = countries.join(', ');
  const figures = { country, allowed };
  if (countries.includes(country.toUpperCase())) return pass(rule, figures);
  return deny(rule, `country ${country} is not among the allowed ${allowed}${whose}`, figures);
}

/** Only a charge must name it: what comes before one is evaluated again with it. */
export const unnamed = (rule: string, what: string, whose: string, phase: Asked['phase']): Finding | undefined =>
  phase !== 'charge'
    ? undefined
    : deny(
        rule,
        `the ${whose === '' ? 'policy restricts' : 'controls of this card restrict'} the ${what}, and none was named`,
        {},
      );

export const pass = (rule: string, figures: Figures): Finding => ({ rule, outcome: 'pass', reason: '', figures });
export const deny = (rule: string, reason: string, figures: Figures): Finding => ({
  rule,
  outcome: 'deny',
  reason,
  figures,
});
