/** The card_requests table. Persistence only: no rule is decided here. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../../../db/tables.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { Cents } from '../../../kernel/money.ts';
import type { CardUsage } from '../cards/card.port.ts';
import type { CardRequestStatus, CardRequestType } from './card-request.rules.ts';

export const CardRequestSchema = defineEntity({
  name: 'CardRequest',
  tableName: 'card_requests',
  properties: {
    id: p.string().primary().$type<Id<'cardRequest'>>(),
    ownerId: p.string(),
    agentId: p.string(),
    type: p.string().$type<CardRequestType>(),
    cardId: p.string().nullable(),
    status: p.string().$type<CardRequestStatus>(),
    reason: p.string().nullable(),
    usage: p.string().$type<CardUsage>().nullable(),
    purpose: p.string().nullable(),
    displayName: p.string().nullable(),
    maxTransactionCents: p.bigint('number').$type<Cents>().nullable(),
    dailyLimitCents: p.bigint('number').$type<Cents>().nullable(),
    monthlyLimitCents: p.bigint('number').$type<Cents>().nullable(),
    grantedMaxTransactionCents: p.bigint('number').$type<Cents>().nullable(),
    grantedDailyLimitCents: p.bigint('number').$type<Cents>().nullable(),
    grantedMonthlyLimitCents: p.bigint('number').$type<Cents>().nullable(),
    decidedBy: p.string().nullable(),
    decisionReason: p.string().nullable(),
    decidedAt: p.datetime().nullable(),
    remindedAt: p.datetime().nullable(),
    expiresAt: p.datetime(),
    requestId: p.string(),
    runId: p.string().nullable(),
    version: p.integer().version(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
  },
});
export class CardRequestRow extends CardRequestSchema.class {}
CardRequestSchema.setClass(CardRequestRow);

declare module '../../../db/tables.ts' {
  interface Tables {
    card_requests: TableOf<typeof CardRequestSchema>;
  }
}
