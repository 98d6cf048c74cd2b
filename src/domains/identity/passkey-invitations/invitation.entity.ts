/** The table of invitations to enrol a passkey. Persistence only. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../../../db/tables.ts';

export const PasskeyInvitationSchema = defineEntity({
  name: 'PasskeyInvitation',
  tableName: 'passkey_invitations',
  properties: {
    id: p.text().primary(),
    ownerId: p.text(),
    name: p.text(),
    tokenHash: p.text(),
    vouchedBy: p.text().nullable(),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
    revokedAt: p.datetime().nullable(),
    usedAt: p.datetime().nullable(),
    passkeyId: p.text().nullable(),
  },
});

declare module '../../../db/tables.ts' {
  interface Tables {
    passkey_invitations: TableOf<typeof PasskeyInvitationSchema>;
  }
}
