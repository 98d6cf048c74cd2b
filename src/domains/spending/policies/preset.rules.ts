/** The built-in sets of rules, and the defaults of a new policy. @module */
import type { PolicyTerms } from './spending-facts.rules.ts';

export const defaultTerms: Omit<PolicyTerms, 'name'> = {
  maxTransactionCents: null,
  dailyLimitCents: null,
  monthlyLimitCents: null,
  autoApproveLimitCents: null,
  merchantAllowlist: [],
  merchantBlocklist: [],
  mccCategories: [],
  allowedMccs: [],
  blockedMccs: [],
  allowedCountries: [],
  lockToFirstMerchant: false,
  cooldownMinutes: null,
  requireIntent: true,
  requireAttestation: false,
  attestationWindowMinutes: null,
  expiresAfterMinutes: null,
  expirationAction: 'freeze',
  activeHoursStart: null,
  activeHoursEnd: null,
  maxUsageCount: null,
  amountTolerancePercent: null,
  payeeMismatch: 'ask',
};

export const presetIds = ['strict', 'balanced', 'open', 'subscriptions', 'one_time'] as const;
export type PresetId = (typeof presetIds)[number];
export type Preset = {
  readonly id: PresetId;
  readonly name: string;
  readonly description: string;
  readonly terms: PolicyTerms;
};

export const isPresetId = (text: string): text is PresetId => (presetIds as readonly string[]).includes(text);

/** What an agent gets when neither its creator nor its owner chose. */
export const fallbackPreset: PresetId = 'balanced';

const limits = (transaction: number, day: number, month: number, autoApprove: number) => ({
  maxTransactionCents: transaction * 100,
  dailyLimitCents: day * 100,
  monthlyLimitCents: month * 100,
  autoApproveLimitCents: autoApprove * 100,
});

const preset = (id: PresetId, name: string, description: string, terms: Partial<PolicyTerms>): Preset => ({
  id,
  name,
  description,
  terms: { ...defaultTerms, ...terms, name },
});

export const presets: Readonly<Record<PresetId, Preset>> = {
  strict: preset('strict', 'Strict', 'Small amounts, and a signed attestation for each charge.', {
    ...limits(25, 50, 300, 10),
    requireAttestation: true,
  }),
  balanced: preset(
    'balanced',
    'Balanced',
    'Everyday purchases alone, larger ones with a person.',
    limits(100, 250, 1_500, 50),
  ),
  open: preset('open', 'Open', 'High limits for trusted agents.', limits(1_000, 2_500, 10_000, 500)),
  subscriptions: preset('subscriptions', 'Subscriptions', 'One merchant, the first one it pays.', {
    ...limits(100, 200, 500, 100),
    lockToFirstMerchant: true,
  }),
  one_time: preset('one_time', 'One time', 'One payment within a day; then the card closes.', {
    ...limits(250, 250, 250, 100),
    maxUsageCount: 1,
    expiresAfterMinutes: 1_440,
    expirationAction: 'close',
  }),
};

export const toggleableFields = ['lockToFirstMerchant', 'requireIntent', 'requireAttestation'] as const;
