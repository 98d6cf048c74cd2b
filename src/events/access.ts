/**
 * Records one access to a card or to a secret, granted or denied, with its event and audit row. Append-only. Every area
 * that shows a card number or a secret, or deletes personal data, calls it in the transaction of that operation.
 * @module
 */
import type { Tx } from '../db/tx.ts';
import type { Id } from '../kernel/ids.ts';
import type { Cents } from '../kernel/money.ts';
import { actorInWords, type Cause } from '../platform/cause.ts';
import { AccessEventRow } from './access.entity.ts';
import type { AccessDecision, AccessKind } from './access.rules.ts';
import { recordChanges } from './record.ts';

export type Access = {
  readonly id: Id<'accessEvent'>;
  readonly ownerId: string;
  readonly kind: AccessKind;
  readonly decision: AccessDecision;
  /** Null or absent where the access concerns no agent, card or intent. */
  readonly agentId?: string | null;
  readonly cardId?: string | null;
  readonly intentId?: string | null;
  /** Code of the rule that decided; absent where no rule was evaluated. */
  readonly rule?: string;
  /** Why it was denied, in words with figures; empty when granted. Never a secret, never a card number. */
  readonly reasons?: readonly string[];
  /** What the caller gave as its purpose, its reason and the amount. */
  readonly purpose?: string | undefined;
  readonly reason?: string | undefined;
  readonly expectedAmountCents?: Cents | undefined;
  /** Business time until which a grant is good. */
  readonly expiresAt?: Date | null;
};

export async function recordAccess(tx: Tx, cause: Cause, access: Access): Promise<AccessEventRow> {
  const row = tx.create(AccessEventRow, {
    id: access.id,
    ownerId: access.ownerId,
    agentId: access.agentId ?? null,
    cardId: access.cardId ?? null,
    intentId: access.intentId ?? null,
    kind: access.kind,
    decision: access.decision,
    rule: access.rule ?? null,
    reasons: access.reasons ?? [],
    purpose: access.purpose ?? null,
    reason: access.reason ?? null,
    expectedAmountCents: access.expectedAmountCents ?? null,
    expiresAt: access.expiresAt ?? null,
    actor: actorInWords(cause.actor),
    requestId: cause.requestId,
    runId: cause.runId ?? null,
    createdAt: cause.at,
  });
  await tx.flush();
  await recordChanges(tx, cause, [changeOf(row)]);
  return row;
}

const eventOf = { granted: 'access.granted', denied: 'access.denied' } as const satisfies Record<
  AccessDecision,
  string
>;

const changeOf = ({ id, ownerId, agentId = null, cardId = null, intentId = null, ...row }: AccessEventRow) => ({
  event: eventOf[row.decision],
  ownerId,
  agentId,
  subjectId: id,
  data: {
    id,
    ownerId,
    agentId,
    cardId,
    intentId,
    kind: row.kind,
    decision: row.decision,
    rule: row.rule ?? null,
    expiresAt: row.expiresAt?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
  },
  details: { kind: row.kind, cardId, intentId, rule: row.rule ?? null },
});
