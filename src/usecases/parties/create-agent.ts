/**
 * Makes an agent with its policy and first card. One transaction reserves all of it unseen; then the card's workflow
 * has the processor issue the card, and what was reserved appears. A repeat goes on where the first attempt stopped.
 * @module
 */
import type { Database } from '../../db/database.ts';
import { rows, type Tx } from '../../db/tx.ts';
import {
  type AgentName,
  type AgentOrder,
  type AgentRecord,
  agentsInPlan,
  type EnsureCustomer,
  insertAgent,
  lockPlan,
  whyFull,
} from '../../domains/parties/index.ts';
import { DomainError, unavailable } from '../../kernel/errors.ts';
import type { Id } from '../../kernel/ids.ts';
import { assertBelowLimit } from '../../platform/assert-limit.ts';
import type { Cause } from '../../platform/cause.ts';

/**
 * Gives the agent its own policy under `newId`: a copy of the owner's template `policyId` (another owner's or an
 * unknown one is 400), else of the owner's default, else of the preset balanced.
 */
export type CopyPolicyFor = (
  tx: Tx,
  cause: Cause,
  copy: {
    readonly ownerId: Id<'owner'>;
    readonly agentId: Id<'agent'>;
    readonly policyId: Id<'policy'> | undefined;
    readonly newId: Id<'policy'>;
  },
) => Promise<unknown>;

/** Inserts the card in the making and opens its process `card/{cardId}`. */
export type PrepareCard = (
  tx: Tx,
  cause: Cause,
  card: {
    readonly cardId: Id<'card'>;
    readonly ownerId: Id<'owner'>;
    readonly agentId: Id<'agent'>;
    readonly usage: 'single' | 'multi';
    readonly name: string;
  },
) => Promise<{ readonly cardId: Id<'card'>; readonly workflowId: string }>;

/**
 * Asks the card's workflow to have the card issued, ten seconds at most; harmless for a card that is there. `updateId`
 * differs per attempt, so that a failed attempt is not answered again.
 */
export type IssueFirstCard = (card: { readonly cardId: Id<'card'>; readonly updateId: string }) => Promise<unknown>;

export type CreateAgentDeps = {
  readonly database: Database;
  readonly ensureCustomer: EnsureCustomer;
  readonly copyPolicyFor: CopyPolicyFor;
  readonly prepareCard: PrepareCard;
  readonly issueFirstCard: IssueFirstCard;
  readonly readAgent: (name: AgentName) => Promise<AgentRecord | null>;
};

export const createCreateAgent =
  (deps: CreateAgentDeps) =>
  async (order: AgentOrder, cause: Cause): Promise<AgentRecord> => {
    await deps.database.write((tx) => reserve(tx, deps, order, cause));
    const visible = await deps.readAgent(order);
    if (visible !== null) return visible;
    await deps.issueFirstCard({ cardId: order.cardId, updateId: cause.requestId });
    const agent = await deps.readAgent(order);
    if (agent === null) throw unavailable('the first card is not issued yet');
    return agent;
  };

async function reserve(tx: Tx, deps: CreateAgentDeps, order: AgentOrder, cause: Cause): Promise<void> {
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
  await deps.copyPolicyFor(tx, cause, { ownerId, agentId, policyId, newId });
  await deps.prepareCard(tx, cause, { cardId, ownerId, agentId, usage, name: firstCardName });
}

const firstCardName = 'default';

async function isReserved(tx: Tx, { agentId, ownerId }: AgentName): Promise<boolean> {
  const found = await rows(tx, 'select 1 from agents where id = $1 and owner_id = $2', [agentId, ownerId]);
  return found.length > 0;
}

/** Counted under the customer's lock: of several creations at the ceiling one gets the last place. */
async function requireRoom(tx: Tx, ownerId: string): Promise<void> {
  const plan = await lockPlan(tx, ownerId);
  const why =
    whyFull(plan, 'agents', await agentsInPlan(tx, ownerId)) ?? whyFull(plan, 'cards', await cardsInPlan(tx, ownerId));
  if (why !== undefined) throw new DomainError('plan_limit_exceeded', why);
}

async function cardsInPlan(tx: Tx, ownerId: string): Promise<number> {
  const sql = `select count(*) from cards
    where owner_id = $1 and status <> 'closed' and not (is_provisioning and replaces_card_id is not null)`;
  const [row] = await rows<{ count: number }>(tx, sql, [ownerId]);
  return row?.count ?? 0;
}
