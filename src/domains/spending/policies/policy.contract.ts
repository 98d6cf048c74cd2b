/** The policy operations as published. Wire shapes only; the rules live in policy.rules.ts. @module */
import * as z from 'zod';
import { defineArea } from '../../../http/route.ts';
import {
  country,
  euros,
  eurosOut,
  id,
  idOut,
  instantOut,
  mcc,
  pageOut,
  pageQuery,
  text,
} from '../../../http/schemas.ts';
import { expirationActions } from './policy.rules.ts';
import { presetIds, toggleableFields } from './preset.rules.ts';

const list = <Item extends z.ZodType>(item: Item) => z.array(item).max(500);
const category = text(60).transform((name) => name.toLowerCase().replaceAll(/[ -]+/g, '_'));
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
  merchantAllowlist: means(merchants, 'names, ids or domains with their subdomains, in any case; empty = everybody'),
  merchantBlocklist: means(merchants, 'the same, and what resembles them; beats the allowlist'),
  mccCategories: means(list(category), 'named groups of merchant categories, allowed beside allowedMccs'),
  allowedCountries: means(list(country), 'ISO 3166-1 alpha-2; empty = everywhere'),
  lockToFirstMerchant: means(yesOrNo, 'only the merchant of the first payment, until that is fully reversed'),
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
};

const change = z.strictObject(terms).partial();
const someChange = change
  .refine((body) => Object.keys(body).length > 0, 'must name at least one field to change')
  .meta({ minProperties: 1 });
const creation = change.required({ name: true });
export type PolicyChange = z.output<typeof change>;

const termsOut = {
  name: z.string(),
  maxTransactionEuros: eurosOut.nullable(),
  dailyLimitEuros: eurosOut.nullable(),
  monthlyLimitEuros: eurosOut.nullable(),
  autoApproveLimitEuros: eurosOut.nullable(),
  merchantAllowlist: z.array(z.string()),
  merchantBlocklist: z.array(z.string()),
  mccCategories: z.array(z.string()),
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
};

export const policyTermsOut = z.object(termsOut).meta({ id: 'PolicyTerms' });
export type PolicyTermsWire = z.infer<typeof policyTermsOut>;

export const policyOut = z
  .object({
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
  .meta({ id: 'Policy' });
export type PolicyWire = z.infer<typeof policyOut>;

const presetOut = z
  .object({ id: z.enum(presetIds), name: z.string(), description: z.string(), policy: policyTermsOut })
  .meta({ id: 'PolicyPreset' });

export const traceOut = z.array(
  z.object({
    rule: z.string(),
    outcome: z.enum(['pass', 'needs_approval', 'deny']),
    figures: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
  }),
);

const simulation = z
  .object({
    allowed: z.boolean(),
    requiresApproval: z.boolean(),
    reason: z.string().nullable(),
    rule: z.string().meta({ description: 'the rule that decided' }),
    trace: traceOut,
  })
  .meta({ id: 'PolicySimulation' });

const one = z.strictObject({ id: id('policy') });
const ofAgent = z.strictObject({ agentId: id('agent') });
const record = { status: 200, body: policyOut } as const;

export const policiesArea = defineArea({
  tag: 'Policies',
  base: '/policies',
  aliases: [],
  description:
    'Spending rules. Templates stand alone; each agent has one effective policy that only its owner changes.',
  operations: {
    createPolicy: {
      method: 'post',
      path: '',
      summary: 'Create a policy template',
      auth: ['key'],
      body: creation,
      success: { status: 201, body: policyOut },
      refusals: [400],
      fires: ['policy.created'],
    },
    listPolicies: {
      method: 'get',
      path: '',
      summary: 'Policies, newest first',
      auth: ['key'],
      query: z.strictObject({
        ...pageQuery,
        kind: z.enum(['template', 'agent']).optional().describe('only templates, or only the policies of agents'),
      }),
      success: { status: 200, body: pageOut(policyOut) },
      refusals: [],
    },
    listPresets: {
      method: 'get',
      path: '/presets',
      summary: 'The built-in presets',
      auth: ['key', 'agent'],
      scope: 'policies.read',
      success: { status: 200, body: z.array(presetOut) },
      refusals: [403],
    },
    getPreset: {
      method: 'get',
      path: '/presets/{presetId}',
      summary: 'One built-in preset',
      auth: ['key', 'agent'],
      scope: 'policies.read',
      params: z.strictObject({
        presetId: z
          .string()
          .max(100)
          .describe(`one of ${presetIds.join(', ')}`),
      }),
      success: { status: 200, body: presetOut },
      refusals: [403, 404],
    },
    simulatePolicy: {
      method: 'post',
      path: '/simulate',
      summary: 'What the rules would say to a payment now; nothing is stored',
      description:
        'The judgement of a declaration for the agent’s first card, with its figures (`trace`, in the order of judging up to what decided).',
      auth: ['key', 'agent'],
      scope: 'policies.read',
      body: z.strictObject({
        agentId: id('agent'),
        amount: euros(),
        merchant: text(200).optional(),
        mcc: mcc.optional(),
        country: country.optional(),
      }),
      success: { status: 200, body: simulation },
      refusals: [403, 404],
      pure: true,
    },
    getAgentPolicy: {
      method: 'get',
      path: '/agent/{agentId}',
      summary: "An agent's effective policy",
      auth: ['key', 'agent'],
      scope: 'policies.read',
      params: ofAgent,
      success: record,
      refusals: [403, 404],
    },
    updateAgentPolicy: {
      method: 'patch',
      path: '/agent/{agentId}',
      summary: "Change an agent's effective policy",
      description: 'Fields left out stay as they are. An expiry counts from this change.',
      auth: ['key', 'dashboard'],
      params: ofAgent,
      body: someChange,
      success: record,
      refusals: [403, 404],
      fires: ['policy.updated'],
    },
    applyPolicy: {
      method: 'post',
      path: '/agent/{agentId}/apply',
      summary: "Overwrite an agent's rules with a preset or with another policy's",
      description:
        'All rules at once. They are copied: later changes of the source change nothing here. An expiry begins anew; cards that an expiry froze stay frozen until they are unfrozen.',
      auth: ['key'],
      params: ofAgent,
      body: z
        .strictObject({ presetId: z.enum(presetIds).optional(), policyId: id('policy').optional() })
        .refine(
          ({ presetId, policyId }) => (presetId === undefined) !== (policyId === undefined),
          'give presetId or policyId, exactly one',
        )
        .meta({ minProperties: 1, maxProperties: 1 }),
      success: record,
      refusals: [403, 404],
      fires: ['policy.updated'],
    },
    toggleAgentPolicy: {
      method: 'patch',
      path: '/agent/{agentId}/toggle',
      summary: "Switch one yes-or-no rule of an agent's policy",
      description: 'A change like any: an expiry counts from it.',
      auth: ['key'],
      params: ofAgent,
      body: z.strictObject({ field: z.enum(toggleableFields), value: z.boolean() }),
      success: record,
      refusals: [403, 404],
      fires: ['policy.updated'],
    },
    getPolicy: {
      method: 'get',
      path: '/{id}',
      summary: 'One policy',
      auth: ['key', 'agent'],
      scope: 'policies.read',
      params: one,
      success: record,
      refusals: [403, 404],
    },
    updatePolicy: {
      method: 'patch',
      path: '/{id}',
      summary: 'Change a policy',
      description: 'A template was copied into the agents that use it: changing it changes no agent.',
      auth: ['key'],
      params: one,
      body: someChange,
      success: record,
      refusals: [403, 404],
      fires: ['policy.updated'],
    },
    deletePolicy: {
      method: 'delete',
      path: '/{id}',
      summary: 'Delete a policy template',
      description:
        'Agents that were given its rules keep them. The policy of an agent is refused with 400: it goes with the agent.',
      auth: ['key'],
      params: one,
      success: {
        status: 200,
        body: z.object({ id: idOut('policy'), deleted: z.literal(true) }).meta({ id: 'PolicyDeleted' }),
      },
      refusals: [403, 404],
      fires: ['policy.deleted'],
    },
  },
});
