/** The shapes of policies, presets and decisions for callers and subscribers. @module */
import * as z from 'zod';
import { eurosOut, idOut, instantOut } from '../../../http/schemas.ts';
import { expirationActions, payeeMismatches, traceOutcomes } from './policy.rules.ts';
import { presetIds } from './preset.rules.ts';

const termsOut = {
  name: z.string(),
  maxTransactionEuros: eurosOut.nullable(),
  dailyLimitEuros: eurosOut.nullable(),
  monthlyLimitEuros: eurosOut.nullable(),
  autoApproveLimitEuros: eurosOut.nullable(),
  merchantAllowlist: z.array(z.string()),
  merchantBlocklist: z.array(z.string()),
  mccCategories: z.array(z.string()).meta({
    description:
      'of the schema `MccCategory`; a name that an older version stored and that is none of these allows no charge',
  }),
  allowedCountries: z.array(z.string()),
  lockToFirstMerchant: z.boolean(),
  cooldownMinutes: z.int().nullable(),
  allowedMccs: z.array(z.string()),
  blockedMccs: z.array(z.string()),
  requireIntent: z.boolean(),
  requireAttestation: z.boolean(),
  attestationWindowMinutes: z.int().nullable(),
  expiresAfterMinutes: z.int().nullable(),
  expirationAction: z.enum(expirationActions),
  activeHoursStart: z.int().nullable(),
  activeHoursEnd: z.int().nullable(),
  maxUsageCount: z.int().nullable(),
  amountTolerancePercent: z.number().nullable(),
  payeeMismatch: z.enum(payeeMismatches),
};

const policyTermsOut = z.strictObject(termsOut).meta({ id: 'PolicyTerms', description: 'Spending rules.' });
export type PolicyTermsWire = z.infer<typeof policyTermsOut>;

export const policyOut = z
  .strictObject({
    id: idOut('policy'),
    agentId: idOut('agent').nullable().meta({ description: 'null for a template' }),
    ownerId: idOut('owner'),
    ...termsOut,
    version: z.int(),
    createdAt: instantOut,
    updatedAt: instantOut,
    expiresAt: instantOut.nullable().meta({
      description:
        '`expiresAfterMinutes` after the last change (`updatedAt`); from then on nothing is spent, and `expirationAction` is done once; null = never',
    }),
  })
  .meta({ id: 'Policy', description: 'The spending rules of an agent, or a template of such rules.' });
export type PolicyWire = z.infer<typeof policyOut>;

const fieldValue = z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(z.string())]);

export const policyVersionOut = z
  .strictObject({
    policyId: idOut('policy'),
    agentId: idOut('agent').nullable().meta({ description: 'null for a template' }),
    version: z.int(),
    policy: policyTermsOut,
    changes: z
      .array(
        z.strictObject({
          field: z.string().meta({ description: 'The field of the policy.', examples: ['dailyLimitEuros'] }),
          before: fieldValue.meta({ description: 'Its value in the version compared with.', examples: [100] }),
          after: fieldValue.meta({ description: 'Its value in this version.', examples: [250] }),
          inWords: z.string().meta({
            description: 'The change in a sentence for people.',
            examples: ['the limit for a day was raised from 100.00 EUR to 250.00 EUR'],
          }),
        }),
      )
      .nullable()
      .meta({
        description:
          'against the version before it, or the one that `comparedWith` names; empty for the first one and where the same rules were set again, null where the version before it was not kept',
      }),
    changedBy: z
      .string()
      .nullable()
      .meta({
        description: 'who made this version; null where that was not kept',
        examples: ['key:key_01kc1v9m3se7ttw5v1x0h2q8ab'],
      }),
    requestId: z.string().nullable().meta({ description: '`X-Request-Id` of the call that made it' }),
    changedAt: instantOut.meta({ description: 'When this version was made.' }),
  })
  .meta({ id: 'PolicyVersion', description: 'The rules of a policy as they were from one change to the next.' });
export type PolicyVersionWire = z.infer<typeof policyVersionOut>;

export const presetOut = z
  .strictObject({ id: z.enum(presetIds), name: z.string(), description: z.string(), policy: policyTermsOut })
  .meta({ id: 'PolicyPreset', description: 'A built-in set of rules.' });

export const traceOut = z.array(
  z.strictObject({
    rule: z.string(),
    outcome: z.enum(traceOutcomes).meta({
      description: '`lifted`: the rule would have refused, and the owner has allowed this charge once',
      examples: ['pass'],
    }),
    figures: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
  }),
);

export const simulation = z
  .strictObject({
    allowed: z.boolean(),
    requiresApproval: z.boolean(),
    reason: z.string().nullable(),
    rule: z.string().meta({ description: 'the rule that decided' }),
    trace: traceOut,
  })
  .meta({ id: 'PolicySimulation', description: 'What the rules decide about a payment.' });
