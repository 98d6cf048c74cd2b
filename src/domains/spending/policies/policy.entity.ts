/** The policies table. Persistence only: no rule is decided here. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../../../db/tables.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { Cents } from '../../../kernel/money.ts';
import type { ExpirationAction, PayeeMismatch } from './policy.rules.ts';

export const PolicySchema = defineEntity({
  name: 'Policy',
  tableName: 'policies',
  properties: {
    id: p.string().primary().$type<Id<'policy'>>(),
    ownerId: p.string(),
    agentId: p.string().nullable(),
    version: p.integer(),
    name: p.string(),
    maxTransactionCents: p.bigint('number').$type<Cents>().nullable(),
    dailyLimitCents: p.bigint('number').$type<Cents>().nullable(),
    monthlyLimitCents: p.bigint('number').$type<Cents>().nullable(),
    autoApproveLimitCents: p.bigint('number').$type<Cents>().nullable(),
    merchantAllowlist: p.array(),
    merchantBlocklist: p.array(),
    mccCategories: p.array(),
    allowedMccs: p.array(),
    blockedMccs: p.array(),
    allowedCountries: p.array(),
    lockToFirstMerchant: p.boolean(),
    cooldownMinutes: p.integer().nullable(),
    requireIntent: p.boolean(),
    requireAttestation: p.boolean(),
    attestationWindowMinutes: p.integer().nullable(),
    expiresAfterMinutes: p.integer().nullable(),
    expirationAction: p.string().$type<ExpirationAction>(),
    activeHoursStart: p.integer().nullable(),
    activeHoursEnd: p.integer().nullable(),
    maxUsageCount: p.integer().nullable(),
    amountTolerancePercent: p.decimal('number').nullable(),
    payeeMismatch: p.string().$type<PayeeMismatch>(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
    /** When its expiry was acted upon; null again after each change. */
    expiredAt: p.datetime().nullable(),
    removedAt: p.datetime().nullable(),
  },
});
export class PolicyRow extends PolicySchema.class {}
PolicySchema.setClass(PolicyRow);

declare module '../../../db/tables.ts' {
  interface Tables {
    policies: TableOf<typeof PolicySchema>;
  }
}
