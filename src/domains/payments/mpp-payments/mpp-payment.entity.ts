/** The mpp_payments and mpp_bodies tables. Persistence only: no rule is decided here. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../../../db/tables.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { Cents } from '../../../kernel/money.ts';
import type { Actor } from '../../../platform/cause.ts';
import type { ChargeOutcome, ChargeSource, MppPaymentStatus } from './mpp-payment.rules.ts';

export const MppPaymentSchema = defineEntity({
  name: 'MppPayment',
  tableName: 'mpp_payments',
  properties: {
    id: p.string().primary().$type<Id<'mppPayment'>>(),
    ownerId: p.string(),
    agentId: p.string(),
    intentId: p.string(),
    cardId: p.string(),
    url: p.string(),
    payeeUrl: p.string().nullable(),
    /** The tool of the MCP server at `url`; null where `url` itself is sold. */
    toolName: p.string().nullable(),
    /** JSON, until the credential was sent. */
    sealedToolArguments: p.string().nullable(),
    status: p.string().$type<MppPaymentStatus>(),
    sealedChallenge: p.string().nullable(),
    amountCents: p.bigint('number').$type<Cents>().nullable(),
    currency: p.string().$type<'EUR'>().nullable(),
    credentialId: p.string().$type<Id<'mppCredential'>>(),
    sendCause: p.string().nullable(),
    sendUntil: p.datetime().nullable(),
    sentAt: p.datetime().nullable(),
    presentedAt: p.datetime().nullable(),
    chargeOutcome: p.string().$type<ChargeOutcome>().nullable(),
    chargeSource: p.string().$type<ChargeSource>().nullable(),
    chargeCode: p.string().nullable(),
    chargeReason: p.string().nullable(),
    transactionId: p.string().nullable(),
    merchantStatus: p.integer().nullable(),
    sealedReceipt: p.string().nullable(),
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
export class MppPaymentRow extends MppPaymentSchema.class {}
MppPaymentSchema.setClass(MppPaymentRow);

export const MppBodySchema = defineEntity({
  name: 'MppBody',
  tableName: 'mpp_bodies',
  properties: {
    paymentId: p.string().primary(),
    sealedBody: p.string(),
    keptUntil: p.datetime(),
  },
});
export class MppBodyRow extends MppBodySchema.class {}
MppBodySchema.setClass(MppBodyRow);

declare module '../../../db/tables.ts' {
  interface Tables {
    mpp_payments: TableOf<typeof MppPaymentSchema>;
    mpp_bodies: TableOf<typeof MppBodySchema>;
  }
}
