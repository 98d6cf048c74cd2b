/** The versions of policies, which never change. Persistence only. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../../../db/tables.ts';
import type { PolicyTerms } from './policy.rules.ts';

export const PolicyVersionSchema = defineEntity({
  name: 'PolicyVersion',
  tableName: 'policy_versions',
  properties: {
    policyId: p.text().primary(),
    version: p.integer().primary(),
    ownerId: p.text(),
    agentId: p.text().nullable(),
    terms: p.json<PolicyTerms>(),
    /** Null for what was there before versions were kept. */
    changedBy: p.text().nullable(),
    requestId: p.text().nullable(),
    changedAt: p.datetime(),
  },
});

declare module '../../../db/tables.ts' {
  interface Tables {
    policy_versions: TableOf<typeof PolicyVersionSchema>;
  }
}
