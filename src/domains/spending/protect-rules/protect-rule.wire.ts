/** A protect rule as callers and subscribers see it. Shapes only. @module */
import type { EventData } from '../../../events/catalog.ts';
import type { ProtectRuleWire } from './protect-rule.contract.ts';
import type { ProtectRuleRow } from './protect-rule.entity.ts';

export const protectRuleWire = ({
  id,
  type,
  merchant,
  agentId,
  reason,
  createdAt,
}: ProtectRuleRow): ProtectRuleWire => ({
  id,
  type,
  merchant,
  agentId: agentId ?? null,
  reason: reason ?? null,
  createdAt: createdAt.toISOString(),
});

/** Without merchant and reason: events carry neither addresses nor free text. */
export const protectRuleData = ({
  id,
  ownerId,
  agentId,
  type,
  createdAt,
}: ProtectRuleRow): EventData<'mpp_rule.created'> => ({
  id,
  ownerId,
  agentId: agentId ?? null,
  type,
  createdAt: createdAt.toISOString(),
});
