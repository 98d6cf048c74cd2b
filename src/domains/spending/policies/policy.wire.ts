/** Converts policies and decisions from cents to euros, for callers and events. Shapes only. @module */
import type { EventData } from '../../../events/catalog.ts';
import type { RefusedBy } from '../../../kernel/errors.ts';
import { cents, centsOrNull, eurosFromCents, eurosOrNull } from '../../../kernel/money.ts';
import type { PolicyRow } from './policy.entity.ts';
import {
  expiryOf,
  type Figures,
  type Policy,
  type PolicyTerms,
  type SpendingDecision,
  type TraceEntry,
} from './policy.rules.ts';
import type { PolicyTermsWire, PolicyVersionWire, PolicyWire } from './policy-shapes.contract.ts';
import type { PolicyChange } from './policy-terms.contract.ts';
import type { PolicyVersion } from './policy-version.queries.ts';
import { type PolicyFieldChange, policyDifference } from './policy-version.rules.ts';

export const policyWire = (row: PolicyRow): PolicyWire => ({
  id: row.id,
  agentId: row.agentId ?? null,
  ownerId: row.ownerId,
  ...termsWire(termsOf(row)),
  version: row.version,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
  // A template never expires; its copy does.
  expiresAt: (row.agentId ?? null) === null ? null : (expiryOf(policyOf(row))?.toISOString() ?? null),
});

/** Without the names of the policy and of its merchants. */
export function policyEventData(row: PolicyRow): EventData<'policy.created'> {
  const { name: _name, merchantAllowlist: _allowed, merchantBlocklist: _blocked, ...data } = policyWire(row);
  return data;
}

export const policyVersionWire = ({ terms, termsBefore, changedAt, ...version }: PolicyVersion): PolicyVersionWire => ({
  ...version,
  policy: termsWire(terms),
  changes:
    termsBefore === null ? (version.version === 1 ? [] : null) : policyDifference(termsBefore, terms).map(changeWire),
  changedAt: changedAt.toISOString(),
});

/** Amounts in euros, under the name that callers know. */
function changeWire({ field, before, after, inWords }: PolicyFieldChange) {
  const isAmount = field.endsWith('Cents');
  const shown = (value: PolicyFieldChange['before']): string | number | boolean | string[] | null => {
    if (isAmount && typeof value === 'number') return eurosFromCents(cents(value));
    return typeof value === 'object' && value !== null ? [...value] : value;
  };
  return { field: field.replace(/Cents$/, 'Euros'), before: shown(before), after: shown(after), inWords };
}

/** The part of a row that a decision reads. */
export const policyOf = (row: PolicyRow): Policy => ({
  id: row.id,
  version: row.version,
  updatedAt: row.updatedAt,
  ...termsOf(row),
});

export const termsOf = (row: PolicyRow): PolicyTerms => ({
  name: row.name,
  maxTransactionCents: row.maxTransactionCents ?? null,
  dailyLimitCents: row.dailyLimitCents ?? null,
  monthlyLimitCents: row.monthlyLimitCents ?? null,
  autoApproveLimitCents: row.autoApproveLimitCents ?? null,
  merchantAllowlist: row.merchantAllowlist,
  merchantBlocklist: row.merchantBlocklist,
  mccCategories: row.mccCategories,
  allowedMccs: row.allowedMccs,
  blockedMccs: row.blockedMccs,
  allowedCountries: row.allowedCountries,
  lockToFirstMerchant: row.lockToFirstMerchant,
  cooldownMinutes: row.cooldownMinutes ?? null,
  requireIntent: row.requireIntent,
  requireAttestation: row.requireAttestation,
  attestationWindowMinutes: row.attestationWindowMinutes ?? null,
  expiresAfterMinutes: row.expiresAfterMinutes ?? null,
  expirationAction: row.expirationAction,
  payeeMismatch: row.payeeMismatch,
  activeHoursStart: row.activeHoursStart ?? null,
  activeHoursEnd: row.activeHoursEnd ?? null,
  maxUsageCount: row.maxUsageCount ?? null,
  amountTolerancePercent: row.amountTolerancePercent ?? null,
});

export function termsWire(terms: PolicyTerms): PolicyTermsWire {
  const { maxTransactionCents, dailyLimitCents, monthlyLimitCents, autoApproveLimitCents, ...same } = terms;
  return {
    ...same,
    merchantAllowlist: [...terms.merchantAllowlist],
    merchantBlocklist: [...terms.merchantBlocklist],
    mccCategories: [...terms.mccCategories],
    allowedMccs: [...terms.allowedMccs],
    blockedMccs: [...terms.blockedMccs],
    allowedCountries: [...terms.allowedCountries],
    maxTransactionEuros: eurosOrNull(centsOrNull(maxTransactionCents)),
    dailyLimitEuros: eurosOrNull(centsOrNull(dailyLimitCents)),
    monthlyLimitEuros: eurosOrNull(centsOrNull(monthlyLimitCents)),
    autoApproveLimitEuros: eurosOrNull(centsOrNull(autoApproveLimitCents)),
  };
}

/** Only the fields that were sent. */
export const termsFromChange = (change: PolicyChange): Partial<PolicyTerms> =>
  Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));

/** A trace as callers see it: figures in euros. */
export const traceWire = (trace: readonly TraceEntry[]) =>
  trace.map(({ rule, outcome, figures }) => ({ rule, outcome, figures: figuresWire(figures) }));

/** A refusal by the rules, for callers that read more than its sentence. */
export const refusedBy = ({ rule, trace }: Pick<SpendingDecision, 'rule' | 'trace'>): RefusedBy => ({
  rule,
  figures: figuresWire(trace.find((entry) => entry.rule === rule)?.figures ?? {}),
});

/** Figures as callers see them: amounts in euros. */
export const figuresWire = (figures: Figures): Record<string, Figures[string]> =>
  Object.fromEntries(
    Object.entries(figures).map(([name, value]) =>
      name.endsWith('Cents') && typeof value === 'number'
        ? [name.replace(/Cents$/, 'Euros'), eurosFromCents(cents(value))]
        : [name, value],
    ),
  );
