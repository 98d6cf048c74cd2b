/** The policy operations as published. Wire shapes only; the rules live in policy.rules.ts. @module */
import * as z from 'zod';
import { defineArea } from '../../../http/route.ts';
import { country, euros, id, idOut, mcc, pageOut, pageQuery, text } from '../../../http/schemas.ts';
import { policyOut, policyVersionOut, presetOut, simulation } from './policy-shapes.contract.ts';
import { creation, someChange } from './policy-terms.contract.ts';
import { versionCursor } from './policy-version.rules.ts';
import { presetIds, toggleableFields } from './preset.rules.ts';

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
      refusals: ['invalid_state'],
      fires: ['policy.created'],
    },
    listPolicies: {
      method: 'get',
      path: '',
      summary: 'Policies, newest first',
      auth: ['key'],
      query: z.strictObject({
        ...pageQuery('policy'),
        kind: z.enum(['template', 'agent']).optional().describe('only templates, or only the policies of agents'),
      }),
      success: { status: 200, body: pageOut(policyOut) },
      refusals: [],
    },
    listPolicyPresets: {
      method: 'get',
      path: '/presets',
      summary: 'The built-in presets',
      auth: ['key', 'agent'],
      scope: 'policies.read',
      unpaged: 'the presets are fixed',
      success: { status: 200, body: z.array(presetOut) },
      refusals: [],
    },
    getPolicyPreset: {
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
      refusals: ['not_found'],
    },
    simulatePolicy: {
      method: 'post',
      path: '/simulate',
      summary: 'What the rules would say to a payment now; nothing is stored',
      description:
        'The evaluation of a declaration for the agent’s first card, with its figures (`trace`, in the order of evaluating up to what decided).',
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
      refusals: ['agent_isolation', 'not_found'],
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
      refusals: ['agent_isolation', 'not_found'],
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
      refusals: ['not_found'],
      fires: ['policy.updated'],
    },
    applyPolicy: {
      method: 'post',
      path: '/agent/{agentId}/apply',
      reaches: { 'body.policyId': { elsewhere: 'the rules are copied from a policy found by id and owner' } },
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
        .meta({ minProperties: 1, maxProperties: 1, examples: [{ presetId: 'balanced' }] }),
      success: record,
      refusals: ['not_found'],
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
      refusals: ['not_found'],
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
      refusals: ['agent_isolation', 'not_found'],
    },
    listPolicyVersions: {
      method: 'get',
      path: '/{id}/versions',
      summary: 'Versions of a policy, latest first',
      description:
        'Each one whole, with who made it and what it changed. A decision names the version that it used (`GET /transactions/{id}/decision`).',
      auth: ['key', 'agent'],
      scope: 'policies.read',
      params: one,
      query: z.strictObject(pageQuery(versionCursor.form, versionCursor.idOf(1))),
      success: { status: 200, body: pageOut(policyVersionOut) },
      refusals: ['agent_isolation', 'not_found'],
    },
    getPolicyVersion: {
      method: 'get',
      path: '/{id}/versions/{n}',
      summary: 'One version of a policy, and what it changed',
      description: 'With `comparedWith`, what has changed since that version, or before it.',
      auth: ['key', 'agent'],
      scope: 'policies.read',
      params: z.strictObject({
        id: id('policy'),
        n: z
          .string()
          .max(100)
          .describe('The number of the version, from 1.')
          .meta({ examples: ['1'] }),
      }),
      query: z.strictObject({
        comparedWith: z
          .string()
          .regex(/^[1-9]\d{0,8}$/)
          .optional()
          .describe('The number of the version that `changes` compare with; otherwise the one before.')
          .meta({ examples: ['1'] }),
      }),
      success: { status: 200, body: policyVersionOut },
      refusals: ['agent_isolation', 'not_found'],
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
      refusals: ['not_found'],
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
        body: z
          .strictObject({ id: idOut('policy'), deleted: z.literal(true) })
          .meta({ id: 'DeletedPolicy', description: 'A policy template that was deleted.' }),
      },
      refusals: ['invalid_state', 'not_found'],
      fires: ['policy.deleted'],
    },
  },
});
