/**
 * Evaluates the rules for a planned payment, in the same way for a declaration, a person's approval, access to a card and
 * `simulate`. A grant of an intent locks the facts of its decision until it is written.
 * @module
 */
import type { Tx } from '../../db/tx.ts';
import { lockSpending } from '../../domains/payments/transactions/payment-lock.service.ts';
import type { PolicyRow } from '../../domains/spending/policies/policy.entity.ts';
import { type AgentStanding, agentStanding, policyOfAgent } from '../../domains/spending/policies/policy.queries.ts';
import {
  evaluateSpending,
  type IntentFacts,
  type RequestFacts,
  type SpendingDecision,
  type SpendingPhase,
} from '../../domains/spending/policies/policy.rules.ts';
import { policyOf } from '../../domains/spending/policies/policy.wire.ts';
import type { RiskEngine } from '../../domains/spending/risk/risk.port.ts';
import { type Card, cardFactsOf } from '../cards/card-facts.ts';
import { countersOf } from './spending-facts.ts';

export type Plan = {
  readonly agent: AgentStanding;
  /** None where the agent has none. */
  readonly card: Card | null;
  readonly policy: PolicyRow | null;
  readonly request: RequestFacts;
  /** `declare` unless it says otherwise. */
  readonly phase?: Exclude<SpendingPhase, 'charge'>;
  /** What the card is to be used for; a declaration has none yet. */
  readonly intent?: IntentFacts | undefined;
  readonly at: Date;
};

export const evaluatePlan =
  ({ risk }: { readonly risk: RiskEngine }) =>
  async (tx: Tx, { agent, card, policy, request, phase = 'declare', intent, at }: Plan): Promise<SpendingDecision> => {
    const { agentId } = agent;
    return evaluateSpending({
      at,
      policy: policy === null ? null : policyOf(policy),
      agent,
      card: card === null ? undefined : cardFactsOf(card),
      request,
      counters: await countersOf(tx, { agentId, cardId: card?.id ?? null, phase }, at),
      ...(intent === undefined ? {} : { intent }),
      phase,
      risk: await risk.assess(tx, agent, request, at),
    });
  };

/**
 * The agent's turn to spend, and the agent as it is then: until the end of the transaction no other grant, charge or
 * revoking command of this agent comes in between. The first lock that a grant takes; card and policy follow.
 */
export async function lockAgentForShare(tx: Tx, agentId: string): Promise<AgentStanding | null> {
  await lockSpending(tx, agentId);
  return agentStanding(tx, agentId, 'for share');
}

export const lockPolicyForShare = (tx: Tx, agentId: string): Promise<PolicyRow | null> =>
  policyOfAgent(tx, agentId, 'for share');
