/** The shapes of a card for callers, events and workflows. Shapes only. @module */
import type { EventData } from '../../../events/catalog.ts';
import { eurosFromCents, eurosOrNull } from '../../../kernel/money.ts';
import type { CardRow } from './card.entity.ts';
import type { CardView } from './card.messages.ts';
import type { CardRecord } from './card.queries.ts';
import type { CardWire } from './card-shapes.contract.ts';

/** `cardRef` is shown in a sandbox, where the caller that drives the simulated network needs it. */
export const cardWire = (card: CardRecord, { showsCardRef = false } = {}): CardWire => ({
  id: card.id,
  ownerId: card.ownerId,
  agentId: card.agentId,
  agentName: card.agentName,
  name: card.name,
  displayName: card.displayName,
  purpose: card.purpose,
  scope: card.scope,
  last4: card.last4,
  brand: card.brand,
  expiryMonth: card.expiryMonth,
  expiryYear: card.expiryYear,
  status: card.status,
  frozenBy: card.frozenBy,
  usage: card.usage,
  isPrimary: card.isPrimary,
  spendLimitEuros: eurosOrNull(card.maxTransactionCents),
  maxTransactionEuros: eurosOrNull(card.maxTransactionCents),
  dailyLimitEuros: eurosOrNull(card.dailyLimitCents),
  monthlyLimitEuros: eurosOrNull(card.monthlyLimitCents),
  walletBalanceEuros: eurosFromCents(card.walletBalanceCents),
  ...(showsCardRef ? { cardRef: card.cardRef } : {}),
  createdAt: card.createdAt.toISOString(),
  closedAt: card.closedAt?.toISOString() ?? null,
});

/** Without names, texts and digits of the number. */
export const cardEventData = (card: CardRecord): EventData<'card.issued'> => ({
  id: card.id,
  ownerId: card.ownerId,
  agentId: card.agentId,
  status: card.status,
  frozenBy: card.frozenBy,
  usage: card.usage,
  isPrimary: card.isPrimary,
  maxTransactionEuros: eurosOrNull(card.maxTransactionCents),
  dailyLimitEuros: eurosOrNull(card.dailyLimitCents),
  monthlyLimitEuros: eurosOrNull(card.monthlyLimitCents),
  createdAt: card.createdAt.toISOString(),
  closedAt: card.closedAt?.toISOString() ?? null,
});

export const cardView = (row: CardRow): CardView => ({
  cardId: row.id,
  agentId: row.agentId,
  status: row.status,
  frozenBy: row.frozenBy ?? null,
  syncedState: row.syncedState ?? null,
});
