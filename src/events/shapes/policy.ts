/** The `data` of the events of a policy. @module */
import * as z from 'zod';
import { code, count, country, euros, id, instant, mcc, named } from '../fields.ts';

export const policyData = named('PolicyEventData', {
  id: id('policy'),
  ownerId: id('owner'),
  agentId: id('agent').nullable().meta({ description: 'null for a template' }),
  version: count,
  maxTransactionEuros: euros.nullable(),
  dailyLimitEuros: euros.nullable(),
  monthlyLimitEuros: euros.nullable(),
  autoApproveLimitEuros: euros.nullable(),
  mccCategories: z.array(z.string().max(80)),
  allowedMccs: z.array(mcc),
  blockedMccs: z.array(mcc),
  allowedCountries: z.array(country),
  lockToFirstMerchant: z.boolean(),
  cooldownMinutes: count.nullable(),
  requireIntent: z.boolean(),
  requireAttestation: z.boolean(),
  attestationWindowMinutes: count.nullable(),
  expiresAfterMinutes: count.nullable(),
  expirationAction: code,
  activeHoursStart: count.nullable(),
  activeHoursEnd: count.nullable(),
  maxUsageCount: count.nullable(),
  amountTolerancePercent: z.number().nullable(),
  payeeMismatch: code,
  createdAt: instant,
  updatedAt: instant,
  expiresAt: instant.nullable(),
});

export const expiredPolicyData = named('PolicyExpiredEventData', {
  ...policyData.shape,
  action: code,
  expiredAt: instant,
  cards: count.meta({ description: 'how many cards the action changed' }),
});
