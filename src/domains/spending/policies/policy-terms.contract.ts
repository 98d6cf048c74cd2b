/** The rules of a policy as an owner sends them, field by field. Wire shapes only. @module */
import * as z from 'zod';
import type { Received } from '../../../http/cents-names.ts';
import { atLeastOneField, country, euros, mcc, text } from '../../../http/schemas.ts';
import { codesInWords, mccCategories } from './mcc-groups.rules.ts';
import { expirationActions, payeeMismatches } from './policy.rules.ts';

const list = <Item extends z.ZodType>(item: Item) => z.array(item).max(500);
const codesOf = Object.fromEntries(mccCategories.map((category) => [category, codesInWords(category)]));
const category = text(60)
  .transform((name) => name.toLowerCase().replaceAll(/[ -]+/g, '_'))
  .pipe(z.enum(mccCategories, { error: `must be one of ${mccCategories.join(', ')}` }))
  .meta({
    id: 'MccCategory',
    enum: mccCategories,
    description: `A named group of merchant category codes (ISO 18245); capitals, spaces and hyphens are accepted. ${Object.entries(
      codesOf,
    )
      .map(([name, codes]) => `\`${name}\`: ${codes}`)
      .join('; ')}.`,
    'x-enum-descriptions': codesOf,
  });
const tenYears = 5_256_000;
const minutes = (least: number) => z.int().min(least).max(tenYears).nullable();
const hour = z.int().min(0).max(23).nullable();

/** A field and what it means. */
const means = <Field extends z.ZodType>(field: Field, description: string): Field => field.meta({ description });
const yesOrNo = z.boolean();
const merchants = list(text(200));

const terms = {
  name: text(120),
  maxTransactionEuros: means(euros().nullable(), 'most for one payment; exactly this much is allowed'),
  dailyLimitEuros: means(euros().nullable(), 'most in a UTC day, by the time of the authorization'),
  monthlyLimitEuros: means(euros().nullable(), 'most in a calendar month of UTC'),
  autoApproveLimitEuros: means(euros().nullable(), 'up to this no person is asked; null = never ask, 0 = always ask'),
  merchantAllowlist: means(
    merchants,
    'names, ids or domains with their subdomains, case-insensitive; empty = every merchant',
  ),
  merchantBlocklist: means(merchants, 'the same, and what resembles them; beats the allowlist'),
  mccCategories: means(list(category), 'named groups of merchant categories, allowed beside allowedMccs'),
  allowedCountries: means(list(country), 'ISO 3166-1 alpha-2; empty = everywhere'),
  lockToFirstMerchant: means(
    yesOrNo,
    'only the merchant of the first payment, whichever its branch, until that is fully reversed',
  ),
  cooldownMinutes: means(minutes(0), 'least time between two payments'),
  allowedMccs: means(list(mcc), 'merchant category codes; empty together with mccCategories = all'),
  blockedMccs: means(list(mcc), 'merchant category codes; beats what is allowed'),
  requireIntent: means(yesOrNo, 'a charge passes only for an approved intent'),
  requireAttestation: means(yesOrNo, 'a charge passes only for an intent that a passkey has signed'),
  attestationWindowMinutes: means(minutes(1), 'how old that signature may be; null = 15'),
  expiresAfterMinutes: means(minutes(1), 'counted from the last change; then nothing passes; null = never'),
  expirationAction: means(
    z.enum(expirationActions),
    "what is done then, once: freeze or close the agent's cards, or only tell the owner",
  ),
  activeHoursStart: means(hour, 'UTC, from this hour on; null = 0; equal hours = the whole day'),
  activeHoursEnd: means(hour, 'UTC, to before this hour, also over midnight; null = 24'),
  maxUsageCount: means(
    z.int().min(1).max(1_000_000_000).nullable(),
    'payments with a card; when they are collected it is frozen',
  ),
  amountTolerancePercent: means(
    z.number().min(0).max(10_000).nullable(),
    'how far above its intent a charge may be, and the most that a recurring intent may name itself; null = 0, and its own stands',
  ),
  payeeMismatch: means(
    z.enum(payeeMismatches),
    "what happens to a transfer when the payee's bank does not say that name and account match: a person is asked, it is refused, or it is sent; if not given: ask",
  ),
};

const change = z.strictObject(terms).partial();
export const someChange = change.refine(...atLeastOneField).meta({ minProperties: 1 });
export const creation = change.required({ name: true });
export type PolicyChange = Received<typeof change>;
