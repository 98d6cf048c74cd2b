/** The passkeys and their challenges. Persistence only. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../../../db/tables.ts';
import type { Cents } from '../../../kernel/money.ts';

export const PasskeySchema = defineEntity({
  name: 'Passkey',
  tableName: 'passkeys',
  properties: {
    id: p.text().primary(),
    ownerId: p.text(),
    name: p.text(),
    credentialId: p.text(),
    publicKey: p.uint8array(),
    counter: p.bigint('number'),
    transports: p.array().defaultRaw('default'),
    backedUp: p.boolean(),
    approvesFrom: p.datetime(),
    createdAt: p.datetime(),
    lastUsedAt: p.datetime().nullable(),
    revokedAt: p.datetime().nullable(),
    wasLast: p.boolean().defaultRaw('default'),
  },
});

export const PasskeyChallengeSchema = defineEntity({
  name: 'PasskeyChallenge',
  tableName: 'passkey_challenges',
  properties: {
    id: p.text().primary(),
    ownerId: p.text(),
    purpose: p.text(),
    subjectId: p.text().nullable(),
    amountCents: p.bigint('number').$type<Cents>().nullable(),
    merchant: p.text().nullable(),
    name: p.text().nullable(),
    challenge: p.text(),
    expiresAt: p.datetime(),
    usedAt: p.datetime().nullable(),
    usedCause: p.text().nullable(),
    usedBy: p.text().nullable(),
    maxChargeCents: p.bigint('number').$type<Cents>().nullable(),
    askedBy: p.text().nullable(),
    askedFrom: p.text().nullable(),
    terms: p.text().nullable(),
  },
});

declare module '../../../db/tables.ts' {
  interface Tables {
    passkeys: TableOf<typeof PasskeySchema>;
    passkey_challenges: TableOf<typeof PasskeyChallengeSchema>;
  }
}
