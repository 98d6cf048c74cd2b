/**
 * Creates an agent with its policy and first card. One transaction stores all three as provisioning, which the API does
 * not return; then the card's workflow has the processor issue the card, and they appear. A repeat continues the attempt.
 * @module
 */
import type { Database } from '../../db/database.ts';
import { runSql } from '../../db/statement.ts';
import type { Tx } from '../../db/tx.ts';
import { cardWorkflowId, issueCard } from '../../domains/cards/cards/card.messages.ts';
import { cardsInPlan } from '../../domains/cards/cards/card.queries.ts';
import { prepareCard } from '../../domains/cards/cards/card.reserve.service.ts';
import type { AgentRecord } from '../../domains/parties/agents/agent.contract.ts';
import { agentsInPlan } from '../../domains/parties/agents/agent.queries.ts';
import type { AgentName, AgentOrder } from '../../domains/parties/agents/agent.routes.ts';
import { insertAgent } from '../../domains/parties/agents/agent.service.ts';
import type { EnsureCustomer } from '../../domains/parties/customers/customer.routes.ts';
import { lockPlan } from '../../domains/parties/customers/customer.service.ts';
import { whyFull } from '../../domains/parties/customers/plan.rules.ts';
import { copyPolicyFor } from '../../domains/spending/policies/policy.service.ts';
import { DomainError, unavailable } from '../../kernel/errors.ts';
import { assertBelowLimit } from '../../platform/assert-limit.ts';
import type { Cause } from '../../platform/cause.ts';
import type { WorkflowGateway } from '../../temporal/gateway.ts';

type Deps = {
  readonly database: Database;
  readonly gateway: Pick<WorkflowGateway, 'ask'>;
  readonly ensureCustomer: EnsureCustomer;
  readonly readAgent: (name: AgentName) => Promise<AgentRecord | null>;
};

export const createAgent =
  (deps: Deps) =>
  async (order: AgentOrder, cause: Cause): Promise<AgentRecord> => {
    await deps.database.write((tx) => reserve(tx, deps, order, cause));
    const visible = await deps.readAgent(order);
    if (visible !== null) return visible;
    // The update id differs per request, so that a failed attempt is not answered again.
    await deps.gateway.ask(cardWorkflowId(order.cardId), issueCard, {}, cause.requestId);
    const agent = await deps.readAgent(order);
    if (agent === null) throw unavailable('the first card is not issued yet');
    return agent;
  };

async function reserve(tx: Tx, deps: Deps, order: AgentOrder, cause: Cause): Promise<void> {
  if (await isReserved(tx, order)) return;
  const { ownerId, agentId, policyId: newId, templateId: policyId, cardId, usage } = order;
  const { walletId } = await deps.ensureCustomer(tx, cause, {
    ownerId,
    customerId: order.customerId,
    walletId: order.walletId,
  });
  await requireRoom(tx, ownerId);
  await assertBelowLimit(tx, 'agents', { ownerId, subject: ownerId, at: cause.at }, { isLocked: true });
  await insertAgent(tx, cause, { ...order, walletId });
  await copyPolicyFor(tx, cause, { ownerId, agentId, policyId, newId });
  await prepareCard(tx, cause, { cardId, ownerId, agentId, usage, name: firstCardName });
}

const firstCardName = 'default';

async function isReserved(tx: Tx, { agentId, ownerId }: AgentName): Promise<boolean> {
  const found = await runSql(tx, 'select 1 from agents where id = $1 and owner_id = $2', [agentId, ownerId]);
  return found > 0;
}

/** Counted under the customer's lock: of several creations at the ceiling one gets the last place. */
async function requireRoom(tx: Tx, ownerId: string): Promise<void> {
  const plan = await lockPlan(tx, ownerId);
  const why =
    whyFull(plan, 'agents', await agentsInPlan(tx, ownerId)) ?? whyFull(plan, 'cards', await cardsInPlan(tx, ownerId));
  if (why !== undefined) throw new DomainError('plan_limit_exceeded', why);
}
