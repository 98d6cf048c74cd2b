/** The signing_keys table. Persistence only: no rule is decided here. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../../../db/tables.ts';
import type { KeyPurpose } from './signing-key.rules.ts';

export const SigningKeySchema = defineEntity({
  name: 'SigningKey',
  tableName: 'signing_keys',
  properties: {
    kid: p.string().primary(),
    purpose: p.string().$type<KeyPurpose>(),
    agentId: p.string().nullable(),
    publicX: p.string(),
    sealedPrivateKey: p.string().nullable(),
    activeFrom: p.datetime(),
    endsAt: p.datetime().nullable(),
    createdAt: p.datetime().defaultRaw('default'),
  },
});

declare module '../../../db/tables.ts' {
  interface Tables {
    signing_keys: TableOf<typeof SigningKeySchema>;
  }
}
