/** The cards table. Persistence only: no rule is decided here. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../../../db/tables.ts';
import type { Id } from '../../../kernel/ids.ts';
import type { Cents } from '../../../kernel/money.ts';
import type { Actor } from '../../../platform/cause.ts';
import type { CardControls } from '../../spending/policies/index.ts';
import type { CardUsage } from './card.port.ts';
import type { CardStatus, FrozenBy } from './card.rules.ts';

/** Who asked for a card. */
export type CardOrigin = { readonly requestId: string; readonly runId: string | null; readonly actor: Actor };

const CardSchema = defineEntity({
  name: 'Card',
  tableName: 'cards',
  properties: {
    id: p.string().primary().$type<Id<'card'>>(),
    ownerId: p.string(),
    agentId: p.string(),
    cardRef: p.string().nullable(),
    last4: p.string().nullable(),
    brand: p.string().nullable(),
    expiryMonth: p.integer().nullable(),
    expiryYear: p.integer().nullable(),
    status: p.string().$type<CardStatus>(),
    frozenBy: p.string().$type<FrozenBy>().nullable(),
    syncedState: p.string().$type<CardStatus>().nullable(),
    usage: p.string().$type<CardUsage>(),
    isPrimary: p.boolean(),
    name: p.string(),
    displayName: p.string().nullable(),
    purpose: p.string().nullable(),
    scope: p.string().nullable(),
    maxTransactionCents: p.bigint('number').$type<Cents>().nullable(),
    dailyLimitCents: p.bigint('number').$type<Cents>().nullable(),
    monthlyLimitCents: p.bigint('number').$type<Cents>().nullable(),
    /** Null: none were set. */
    controls: p.json<CardControls>().nullable(),
    controlsUpdatedAt: p.datetime().nullable(),
    isProvisioning: p.boolean(),
    /** The card whose place it takes, or took. */
    replacesCardId: p.string().nullable(),
    replacedByCardId: p.string().nullable(),
    /** The cards before it, the first one first: what they paid counts against its limits. */
    earlierCardIds: p.array(),
    origin: p.json<CardOrigin>(),
    version: p.integer(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
    closedAt: p.datetime().nullable(),
  },
});
export class CardRow extends CardSchema.class {}
CardSchema.setClass(CardRow);

declare module '../../../db/tables.ts' {
  interface Tables {
    cards: TableOf<typeof CardSchema>;
  }
}
