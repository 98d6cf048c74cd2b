/** The mpp_credentials table. Persistence only: no rule is decided here. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../../../db/tables.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { Cents } from '../../../kernel/money.ts';
import type { Actor } from '../../../platform/cause.ts';
import type { Challenge } from '../mpp/challenge.wire.ts';
import type { EncryptionJwk } from '../mpp/encryption-key.rules.ts';
import type { CredentialStatus } from './mpp-credential.rules.ts';

export const MppCredentialSchema = defineEntity({
  name: 'MppCredential',
  tableName: 'mpp_credentials',
  properties: {
    id: p.string().primary().$type<Id<'mppCredential'>>(),
    ownerId: p.string(),
    agentId: p.string(),
    intentId: p.string(),
    cardId: p.string(),
    merchantId: p.string().nullable(),
    paymentId: p.string().nullable(),
    challengeId: p.string(),
    /** Until it is minted, and only where the challenge is stored nowhere else. */
    challenge: p.json<Challenge>().nullable(),
    origin: p.string().nullable(),
    host: p.string().nullable(),
    recipient: p.string().nullable(),
    encryptionJwk: p.json<EncryptionJwk>().nullable(),
    amountCents: p.bigint('number').$type<Cents>(),
    currency: p.string().$type<'EUR'>(),
    ceilingCents: p.bigint('number').$type<Cents>(),
    tokenHash: p.string().nullable(),
    sealedCredential: p.string().nullable(),
    status: p.string().$type<CredentialStatus>(),
    expiresAt: p.datetime(),
    mintedAt: p.datetime().nullable(),
    authorizedAt: p.datetime().nullable(),
    verifiedAt: p.datetime().nullable(),
    transactionId: p.string().nullable(),
    outcomeCode: p.string().nullable(),
    outcomeReason: p.string().nullable(),
    version: p.integer().version(),
    requestId: p.string(),
    runId: p.string().nullable(),
    /** Who asked for it. */
    actor: p.json<Actor>(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
  },
});
export class MppCredentialRow extends MppCredentialSchema.class {}
MppCredentialSchema.setClass(MppCredentialRow);

declare module '../../../db/tables.ts' {
  interface Tables {
    mpp_credentials: TableOf<typeof MppCredentialSchema>;
  }
}
