/** Valid event data for tests that need some event and no real change. @module */
import type { EventData } from '../../../src/events/catalog.ts';

const at = '2026-11-20T08:00:00.000Z';

export const policyEventData = (id: string, ownerId: string): EventData<'policy.created'> => ({
  id,
  ownerId,
  agentId: null,
  version: 1,
  maxTransactionEuros: 50,
  dailyLimitEuros: 200,
  monthlyLimitEuros: null,
  autoApproveLimitEuros: null,
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
  expirationAction: 'notify',
  activeHoursStart: null,
  activeHoursEnd: null,
  maxUsageCount: null,
  amountTolerancePercent: null,
  payeeMismatch: 'ask',
  createdAt: at,
  updatedAt: at,
  expiresAt: null,
});
