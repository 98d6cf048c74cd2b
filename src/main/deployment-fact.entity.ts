/** Facts about the whole deployment. Persistence only. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../db/tables.ts';

export const DeploymentFactSchema = defineEntity({
  name: 'DeploymentFact',
  tableName: 'deployment_facts',
  properties: {
    name: p.text().primary(),
    value: p.text(),
  },
});

declare module '../db/tables.ts' {
  interface Tables {
    deployment_facts: TableOf<typeof DeploymentFactSchema>;
  }
}
