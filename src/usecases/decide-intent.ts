/**
 * Carries out a person's decision on an intent. An approval is a grant, so the hard rules are judged once more under
 * the row's lock; what only a person was needed for passes, what any rule forbids does not.
 * @module
 */
import { rows, type Tx } from '../db/tx.ts';
import { applyToIntent, type IntentCommand, type IntentRow, lockIntent } from '../domains/spending/intents/index.ts';
import { agentStanding, judgeSpending, policyOf, policyOfAgent } from '../domains/spending/policies/index.ts';
import { DomainError } from '../kernel/errors.ts';
import type { Cause } from '../platform/cause.ts';
import { hasMoved } from '../platform/transitions.ts';
import { type CardColumns, cardColumns, cardFactsOf } from './card-facts.ts';
import { countersOf, riskOf } from './spending-facts.ts';

export async function decideIntent(tx: Tx, id: string, command: IntentCommand, cause: Cause): Promise<IntentRow> {
  const row = await lockIntent(tx, id);
  const isGrant = command.kind === 'approve' && row.status === 'pending_approval';
  if (isGrant && !(await hasMoved(tx, 'intent', id, cause.causeId))) await refuseWhatRulesForbid(tx, row, cause);
  return applyToIntent(tx, id, command, cause, { isOwnProcess: true });
}

async function refuseWhatRulesForbid(tx: Tx, row: IntentRow, { at }: Cause): Promise<void> {
  const { agentId, cardId, ownerId } = row;
  const agent = await agentStanding(tx, agentId);
  const policy = await policyOfAgent(tx, agentId);
  const [card] = await rows<CardColumns>(tx, `select ${cardColumns} from cards where id = $1`, [cardId]);
  const merchant = row.expectedMerchant == null ? undefined : { name: row.expectedMerchant };
  const request = { amountCents: row.expectedAmountCents, merchant, kind: 'purchase' } as const;
  const verdict = judgeSpending({
    at,
    policy: policy === null ? null : policyOf(policy),
    agent: { status: agent?.status ?? 'closed' },
    card: card === undefined ? undefined : cardFactsOf(card),
    request,
    counters: await countersOf(tx, { agentId, cardId }, at),
    phase: 'declare',
    risk: await riskOf(tx, { ownerId, agentId }, request, at),
  });
  if (verdict.outcome === 'deny') throw new DomainError('policy_denied', `cannot approve: ${verdict.reason}`);
}
