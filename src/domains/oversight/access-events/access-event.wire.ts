/** An access event as callers see it. Shapes only. @module */
import type { AccessEventRow } from '../../../events/access.entity.ts';
import { eurosOrNull } from '../../../kernel/money.ts';
import type { AccessEventWire } from './access-event.contract.ts';

export const accessEventWire = (row: Readonly<AccessEventRow>): AccessEventWire => ({
  id: row.id,
  ownerId: row.ownerId,
  agentId: row.agentId ?? null,
  cardId: row.cardId ?? null,
  intentId: row.intentId ?? null,
  kind: row.kind,
  decision: row.decision,
  rule: row.rule ?? null,
  reasons: [...row.reasons],
  purpose: row.purpose ?? null,
  reason: row.reason ?? null,
  expectedAmountEuros: eurosOrNull(row.expectedAmountCents ?? null),
  expiresAt: row.expiresAt?.toISOString() ?? null,
  actor: row.actor,
  requestId: row.requestId,
  createdAt: row.createdAt.toISOString(),
});
