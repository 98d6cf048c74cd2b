/** The operations of protect rules as published. Wire shapes only. @module */
import * as z from 'zod';
import { defineArea } from '../../../http/route.ts';
import { id, idOut, instantOut, pageOut, pageQuery, prose, text } from '../../../http/schemas.ts';
import { limits } from '../../../platform/limits.ts';
import { normalizedMerchant, protectRuleTypes } from './protect-rule.rules.ts';

const protectRuleOut = z
  .strictObject({
    id: idOut('protectRule'),
    type: z.enum(protectRuleTypes).meta({ description: 'Whether the merchant may be paid.', examples: ['allow'] }),
    merchant: z.string().meta({
      description: 'Host, id or slug of the merchant, in lower case; a host in punycode.',
      examples: ['api.example.com'],
    }),
    agentId: idOut('agent').nullable().meta({ description: 'The only agent that the rule is for; null: every agent.' }),
    reason: z
      .string()
      .nullable()
      .meta({ description: 'The reason, as it was given.', examples: ['contract ended'] }),
    createdAt: instantOut.meta({ description: 'When the rule was created, in business time.' }),
  })
  .meta({ id: 'ProtectRule', description: 'A rule about one merchant of machine payments.' });
export type ProtectRuleWire = z.infer<typeof protectRuleOut>;

const creation = z
  .strictObject({
    type: z.enum(protectRuleTypes).meta({
      description: '`deny` takes precedence over `allow`; one `allow` rule closes the list.',
      examples: ['allow'],
    }),
    merchant: text(253)
      .meta({
        description: 'A host (`api.example.com`; no port, no subdomains), or a merchant’s id or slug.',
        examples: ['api.example.com'],
      })
      .transform((merchant, context) => {
        const normalized = normalizedMerchant(merchant);
        if (normalized !== undefined) return normalized;
        const message = 'must be a host without scheme, port and path, or the id or the slug of a merchant';
        context.addIssue({ code: 'custom', message });
        return z.NEVER;
      }),
    agentId: id('agent').optional(),
    reason: prose(500)
      .optional()
      .meta({ description: 'Why, for people.', examples: ['contract ended'] }),
  })
  .meta({ id: 'CreateProtectRule' });
export type ProtectRuleBody = z.output<typeof creation>;

const deleted = z
  .strictObject({ id: idOut('protectRule'), deleted: z.literal(true) })
  .meta({ id: 'DeletedProtectRule', description: 'A protect rule that no longer applies.' });

export const protectRulesArea = defineArea({
  tag: 'MPP',
  base: '/mpp/protect',
  aliases: [],
  description:
    'Protect rules: which merchants agents may pay by machine payments. Without a rule the policy decides alone. A `deny` rule refuses its merchant; as soon as one `allow` rule is in reach of an agent, the agent may pay only merchants with an `allow` rule. A rule for a host covers exactly that host, on every port.',
  operations: {
    createProtectRule: {
      method: 'post',
      path: '',
      summary: 'Allow or deny a merchant of machine payments',
      description: `Applies from the next payment on. The same type for the same merchant and agent is one rule: the second call is answered 200 with the first rule. An owner has up to ${limits.protect_rules.most}.`,
      auth: ['key'],
      body: creation,
      success: { status: 201, body: protectRuleOut, also: [200] },
      refusals: ['invalid_state', 'not_found'],
      fires: ['mpp_rule.created'],
    },
    listProtectRules: {
      method: 'get',
      path: '',
      summary: 'Protect rules, newest first',
      description: 'An agent token sees the rules that apply to its agent.',
      auth: ['key', 'agent'],
      scope: 'mpp.read',
      query: z.strictObject(pageQuery('protectRule')),
      success: { status: 200, body: pageOut(protectRuleOut) },
      refusals: [],
    },
    deleteProtectRule: {
      method: 'delete',
      path: '/{id}',
      summary: 'Delete a protect rule',
      auth: ['key'],
      params: z.strictObject({ id: id('protectRule') }),
      success: { status: 200, body: deleted },
      refusals: ['not_found'],
      fires: ['mpp_rule.deleted'],
    },
  },
});
