/**
 * Stores the expiry of an agent's policy in the policy and in its workflow run, in the caller's transaction. The use
 * case changes the cards.
 * @module
 */
import { LockMode } from '@mikro-orm/core';
import type { Tx } from '../../../db/tx.ts';
import { recordChanges } from '../../../events/record.ts';
import type { Cause } from '../../../platform/cause.ts';
import { closeWorkflowRun, reopenWorkflowRun, setWorkflowRunDue } from '../../../platform/workflow-runs.ts';
import { PolicyRow } from './policy.entity.ts';
import { agentPolicyWorkflow, agentPolicyWorkflowId } from './policy.messages.ts';
import { policyEventData, policyOf } from './policy.wire.ts';
import { expiryOf, isPolicyExpired } from './policy-expiry.rules.ts';

/** Call after each change of a policy: an agent's policy has a workflow run exactly while it has an expiry. */
export async function keepExpiryWorkflow(tx: Tx, row: PolicyRow, at: Date): Promise<void> {
  const agentId = row.agentId ?? null;
  if (agentId === null) return;
  const id = agentPolicyWorkflowId(agentId);
  const dueAt = (row.removedAt ?? null) === null ? expiryOf(policyOf(row)) : null;
  if (dueAt === null) return closeWorkflowRun(tx, id);
  const { ownerId } = row;
  const run = { id, workflow: agentPolicyWorkflow, subjectId: agentId, ownerId, agentId, stage: 'active' };
  await reopenWorkflowRun(tx, { ...run, dueAt, at });
}

/** Locked; null when it was changed, removed or acted upon meanwhile. Cards are locked before it. */
export async function lockExpiredPolicy(tx: Tx, agentId: string, at: Date): Promise<PolicyRow | null> {
  const row = await tx.findOne(
    PolicyRow,
    { agentId, removedAt: null, expiredAt: null },
    { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
  );
  return row !== null && isPolicyExpired(policyOf(row), at) ? row : null;
}

/** Once for each change of the policy. The version stays: what the rules say to a charge is the same as before. */
export async function markExpired(tx: Tx, cause: Cause, row: PolicyRow, cards: number): Promise<void> {
  const { ownerId, expirationAction: action } = row;
  const agentId = row.agentId ?? null;
  row.expiredAt = cause.at;
  await tx.flush();
  const expiredAt = (expiryOf(policyOf(row)) ?? cause.at).toISOString();
  const data = { ...policyEventData(row), action, expiredAt, cards };
  const details = { action, cards, version: row.version };
  await recordChanges(tx, cause, [{ event: 'policy.expired', ownerId, agentId, subjectId: row.id, data, details }]);
  if (agentId !== null) await setWorkflowRunDue(tx, agentPolicyWorkflowId(agentId), null);
}
