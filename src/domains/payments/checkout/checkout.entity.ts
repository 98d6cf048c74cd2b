/** The checkouts table. Persistence only: no rule is decided here. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../../../db/tables.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { Cents } from '../../../kernel/money.ts';
import type { Actor } from '../../../platform/cause.ts';
import type { Merchant } from './checkout.port.ts';
import type { CheckoutStatus } from './checkout.rules.ts';

export const CheckoutSchema = defineEntity({
  name: 'Checkout',
  tableName: 'checkouts',
  properties: {
    id: p.string().primary().$type<`chk_${string}`>(),
    ownerId: p.string(),
    agentId: p.string(),
    intentId: p.string(),
    cardId: p.string(),
    targetUrl: p.string(),
    status: p.string().$type<CheckoutStatus>(),
    orderId: p.string().nullable(),
    amountCents: p.bigint('number').$type<Cents>().nullable(),
    merchant: p.json<Merchant>().nullable(),
    payUrl: p.string().nullable(),
    ceilingCents: p.bigint('number').$type<Cents>().nullable(),
    tokenHash: p.string().nullable(),
    transactionId: p.string().nullable(),
    mppPaymentId: p.string().$type<Id<'mppPayment'>>().nullable(),
    outcomeCode: p.string().nullable(),
    outcomeReason: p.string().nullable(),
    payAttempts: p.integer(),
    nextAttemptAt: p.datetime().nullable(),
    payingSince: p.datetime().nullable(),
    version: p.integer().version(),
    requestId: p.string(),
    runId: p.string().nullable(),
    /** Who asked for it. */
    actor: p.json<Actor>(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
  },
});
export class CheckoutRow extends CheckoutSchema.class {}
CheckoutSchema.setClass(CheckoutRow);

declare module '../../../db/tables.ts' {
  interface Tables {
    checkouts: TableOf<typeof CheckoutSchema>;
  }
}
