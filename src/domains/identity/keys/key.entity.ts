/** The api_keys table. Persistence only: no rule is decided here. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../../../db/tables.ts';
import type { Id } from '../../../kernel/ids.ts';

const KeySchema = defineEntity({
  name: 'ApiKey',
  tableName: 'api_keys',
  properties: {
    id: p.string().primary().$type<Id<'key'>>(),
    ownerId: p.string().$type<Id<'owner'>>(),
    secretHash: p.string(),
    hint: p.string(),
    label: p.string().nullable(),
    createdAt: p.datetime(),
    revokedAt: p.datetime().nullable(),
  },
});
export class KeyRow extends KeySchema.class {}
KeySchema.setClass(KeyRow);

declare module '../../../db/tables.ts' {
  interface Tables {
    api_keys: TableOf<typeof KeySchema>;
  }
}
