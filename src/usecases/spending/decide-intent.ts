/**
 * Carries out a person's decision on an intent. An approval is a grant, so the rules are evaluated again under lock: a
 * rule that requires a person is satisfied, a rule that forbids the payment refuses the approval.
 * @module
 */
import type { Tx } from '../../db/tx.ts';
import { revokeCredentialsOf } from '../../domains/payments/mpp-credentials/mpp-credential.service.ts';
import type { IntentRow } from '../../domains/spending/intents/intent.entity.ts';
import { type LockedIntent, lockIntentFor } from '../../domains/spending/intents/intent.lock.service.ts';
import { holderOf } from '../../domains/spending/intents/intent.queries.ts';
import { applyToLockedIntent, type IntentCommand } from '../../domains/spending/intents/intent.service.ts';
import { refusedBy } from '../../domains/spending/policies/policy.wire.ts';
import type { RiskEngine } from '../../domains/spending/risk/risk.port.ts';
import { DomainError } from '../../kernel/errors.ts';
import type { Cause } from '../../platform/cause.ts';
import { lockIntentCardForShare } from '../cards/card-facts.ts';
import { evaluatePlan, lockAgentForShare, lockPolicyForShare, type Plan } from './evaluate-plan.ts';
import { refuseUnattested } from './refuse-unattested.ts';

type Deps = { readonly risk: RiskEngine };

/** Runs in the caller's transaction. */
export const decideIntent =
  (deps: Deps) =>
  async (tx: Tx, id: string, command: IntentCommand, cause: Cause): Promise<IntentRow> => {
    const grounds = command.kind === 'approve' ? await lockGrounds(tx, id) : undefined;
    const locked = await lockIntentFor(tx, id, cause);
    if (grounds !== undefined) await refuseForbiddenGrant(tx, deps, { grounds, locked, cause });
    const row = await applyToLockedIntent(tx, locked, command, cause, { isOwnWorkflow: true });
    if (command.kind === 'cancel') await revokeCredentialsOf(tx, [id], cause);
    return row;
  };

type Grounds = Pick<Plan, 'agent' | 'card' | 'policy'>;

/** Agent, card and policy are locked before the intent, as for a charge: the common order of locks. */
async function lockGrounds(tx: Tx, id: string): Promise<Grounds> {
  const holder = await holderOf(tx, id);
  const { agentId } = holder;
  const agent = (await lockAgentForShare(tx, agentId)) ?? { ...holder, status: 'closed' };
  const card = await lockIntentCardForShare(tx, agentId, id);
  return { agent, card, policy: await lockPolicyForShare(tx, agentId) };
}

type Grant = { readonly grounds: Grounds; readonly locked: LockedIntent; readonly cause: Cause };

async function refuseForbiddenGrant(tx: Tx, deps: Deps, { grounds, locked, cause }: Grant): Promise<void> {
  const { row, seen } = locked;
  if (seen || row.status !== 'pending_approval') return;
  refuseUnattested(grounds.policy, row, cause);
  const decision = await evaluatePlan(deps)(tx, { ...grounds, request: requestOf(row), at: cause.at });
  if (decision.outcome === 'deny')
    throw new DomainError('policy_denied', `cannot approve: ${decision.reason}`, { refusedBy: refusedBy(decision) });
}

const requestOf = ({ expectedAmountCents, expectedMerchant, recurring }: IntentRow) =>
  ({
    amountCents: expectedAmountCents,
    merchant: expectedMerchant == null ? undefined : { name: expectedMerchant },
    kind: 'purchase',
    recurring: recurring != null,
  }) as const;
