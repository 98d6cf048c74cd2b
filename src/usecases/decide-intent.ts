/**
 * Carries out a person's decision on an intent. An approval is a grant, so the hard rules are judged once more under
 * lock; what only a person was needed for passes, what any rule forbids does not.
 * @module
 */
import type { Tx } from '../db/tx.ts';
import {
  applyToIntent,
  holderOf,
  type IntentCommand,
  type IntentRow,
  lockIntent,
} from '../domains/spending/intents/index.ts';
import { DomainError } from '../kernel/errors.ts';
import type { Cause } from '../platform/cause.ts';
import { hasMoved } from '../platform/transitions.ts';
import { holdCardOfIntent } from './card-facts.ts';
import { holdAgent, holdPolicy, judgePlan } from './judge-plan.ts';
import { refuseUnattested } from './refuse-unattested.ts';
import { riskOf } from './spending-facts.ts';

export async function decideIntent(tx: Tx, id: string, command: IntentCommand, cause: Cause): Promise<IntentRow> {
  if (command.kind === 'approve') await refuseForbiddenGrant(tx, id, cause);
  return applyToIntent(tx, id, command, cause, { isOwnProcess: true });
}

/** Agent, card and policy are held before the intent, as by whoever charges: the one order of locks. */
async function refuseForbiddenGrant(tx: Tx, id: string, cause: Cause): Promise<void> {
  const holder = await holderOf(tx, id);
  const { agentId } = holder;
  const agent = (await holdAgent(tx, agentId)) ?? { ...holder, status: 'closed' };
  const card = await holdCardOfIntent(tx, agentId, id);
  await holdPolicy(tx, agentId);
  const row = await lockIntent(tx, id);
  const isGrant = row.status === 'pending_approval' && !(await hasMoved(tx, 'intent', id, cause.causeId));
  if (!isGrant) return;
  await refuseUnattested(tx, row, cause);
  const { verdict } = await judgePlan(tx, riskOf, { agent, card, request: requestOf(row), at: cause.at });
  if (verdict.outcome === 'deny') throw new DomainError('policy_denied', `cannot approve: ${verdict.reason}`);
}

const requestOf = ({ expectedAmountCents, expectedMerchant, recurring }: IntentRow) =>
  ({
    amountCents: expectedAmountCents,
    merchant: expectedMerchant == null ? undefined : { name: expectedMerchant },
    kind: 'purchase',
    recurring: recurring != null,
  }) as const;
