/** Card requests as callers, subscribers and workflows see them. Shapes only. @module */
import type { EventData } from '../../../events/catalog.ts';
import { type Cents, eurosFromCents } from '../../../kernel/money.ts';
import type { CardRequestWire } from './card-request.contract.ts';
import type { CardRequestRow } from './card-request.entity.ts';
import type { CardRequestView } from './card-request.messages.ts';
import { type RequestedLimits, statusAsOf } from './card-request.rules.ts';

type Row = Readonly<CardRequestRow>;

export const requestedOf = (row: Row): RequestedLimits => ({
  maxTransactionCents: row.maxTransactionCents ?? null,
  dailyLimitCents: row.dailyLimitCents ?? null,
  monthlyLimitCents: row.monthlyLimitCents ?? null,
});

const grantedOf = (row: Row): RequestedLimits => ({
  maxTransactionCents: row.grantedMaxTransactionCents ?? null,
  dailyLimitCents: row.grantedDailyLimitCents ?? null,
  monthlyLimitCents: row.grantedMonthlyLimitCents ?? null,
});

const limitsWire = ({ maxTransactionCents, dailyLimitCents, monthlyLimitCents }: RequestedLimits) => ({
  maxTransactionEuros: eurosOrNull(maxTransactionCents),
  dailyLimitEuros: eurosOrNull(dailyLimitCents),
  monthlyLimitEuros: eurosOrNull(monthlyLimitCents),
});

const eurosOrNull = (amountCents: Cents | null) => (amountCents === null ? null : eurosFromCents(amountCents));

/** `at`: a request that is past its deadline is expired, whether or not its workflow marked that. */
export const cardRequestWire = (row: Row, at: Date, approvalUrl: string | null): CardRequestWire => ({
  ...cardRequestData(row),
  status: statusAsOf(row, at),
  reason: row.reason ?? null,
  requested: {
    usage: row.usage ?? null,
    purpose: row.purpose ?? null,
    displayName: row.displayName ?? null,
    ...limitsWire(requestedOf(row)),
  },
  decidedBy: row.decidedBy ?? null,
  decisionReason: row.decisionReason ?? null,
  approvalUrl: statusAsOf(row, at) === 'pending' ? approvalUrl : null,
});

/** Without texts, the approver's name and the link. */
export const cardRequestData = (row: Row): CardRequestData => ({
  id: row.id,
  ownerId: row.ownerId,
  agentId: row.agentId,
  type: row.type,
  cardId: row.cardId ?? null,
  status: row.status,
  granted: row.status === 'approved' ? limitsWire(grantedOf(row)) : null,
  decidedAt: row.decidedAt?.toISOString() ?? null,
  remindedAt: row.remindedAt?.toISOString() ?? null,
  expiresAt: row.expiresAt.toISOString(),
  createdAt: row.createdAt.toISOString(),
});

type CardRequestData = EventData<'card_request.created'> &
  Pick<CardRequestWire, 'type' | 'granted' | 'remindedAt' | 'decidedAt'>;

export const cardRequestView = (row: Row): CardRequestView => ({
  cardRequestId: row.id,
  type: row.type,
  agentId: row.agentId,
  status: row.status,
  cardId: row.cardId ?? null,
  decidedBy: row.decidedBy ?? null,
  expiresAt: row.expiresAt.toISOString(),
  isReminded: row.remindedAt != null,
});
