/**
 * Declares an intent: finds the agent and the card, evaluates the spending rules, and inserts the decision with its
 * events and workflow run in one transaction. A repeat returns the first intent.
 * @module
 */
import type { Database } from '../../db/database.ts';
import type { Tx } from '../../db/tx.ts';
import type { ApprovalLinks } from '../../domains/identity/approvals/approval-link.service.ts';
import type { IntentRow } from '../../domains/spending/intents/intent.entity.ts';
import { findByClientId, findIntent } from '../../domains/spending/intents/intent.queries.ts';
import { insertIntent, type NewIntent } from '../../domains/spending/intents/intent.service.ts';
import type { DeclareBody } from '../../domains/spending/intents/intent-declaration.contract.ts';
import { agentStanding } from '../../domains/spending/policies/policy.queries.ts';
import {
  type MerchantFacts,
  policyCheckOf,
  type RequestFacts,
  type SpendingDecision,
} from '../../domains/spending/policies/policy.rules.ts';
import type { RiskEngine } from '../../domains/spending/risk/risk.port.ts';
import { type Call, mayReach, ownOf } from '../../http/caller.ts';
import { DomainError } from '../../kernel/errors.ts';
import { later, minute } from '../../kernel/instant.ts';
import { cents, zero } from '../../kernel/money.ts';
import { assertBelowLimit } from '../../platform/assert-limit.ts';
import { type Card, lockAgentCardForShare } from '../cards/card-facts.ts';
import { evaluatePlan, lockAgentForShare, lockPolicyForShare } from './evaluate-plan.ts';

export type DeclareDeps = { readonly database: Database; readonly risk: RiskEngine; readonly links: ApprovalLinks };

export type Declared = { readonly row: IntentRow; readonly isNew: boolean };

export const declareIntent =
  ({ database, ...evaluating }: DeclareDeps) =>
  /** `merchant`: what the rules look at, where more is known of the merchant than the name that is expected. */
  (declaration: DeclareBody, call: Call, merchant?: MerchantFacts): Promise<Declared> => {
    const wanted = { id: call.newId('intent'), agentId: namedAgent(declaration, call), declaration, merchant };
    return database.write((tx) => declare(tx, evaluating, wanted, call));
  };

type Evaluating = Omit<DeclareDeps, 'database'>;
type Wanted = {
  readonly id: NewIntent['id'];
  readonly agentId: string;
  readonly declaration: DeclareBody;
  readonly merchant: MerchantFacts | undefined;
};

async function declare(tx: Tx, deps: Evaluating, wanted: Wanted, call: Call): Promise<Declared> {
  const { id, agentId, declaration } = wanted;
  // A caller must not take the lock of another owner's agent. An agent's token names its own agent, which needs no
  // check.
  if (ownOf(call).agentId !== agentId) mayReach(ownOf(call), 'agent', agentId, await agentStanding(tx, agentId));
  const agent = mayReach(ownOf(call), 'agent', agentId, await lockAgentForShare(tx, agentId));
  const { clientIntentId } = declaration;
  // Without an idempotency key every request mints a new id.
  const known =
    (call.idempotencyKey === undefined ? null : await findIntent(tx, id)) ??
    (clientIntentId === undefined ? null : await findByClientId(tx, agentId, clientIntentId));
  if (known !== null) return { row: known, isNew: known.id === id };
  if (agent.status !== 'active') {
    const by = { rule: 'agent_status', figures: { status: agent.status } };
    throw new DomainError('policy_denied', `agent ${agentId} is ${agent.status}; it may declare nothing`, {
      refusedBy: by,
    });
  }
  const card = await chosenCard(tx, agentId, declaration);
  const policy = await lockPolicyForShare(tx, agentId);
  const { at } = call.cause;
  const request = requestOf(wanted);
  const decision = await evaluatePlan(deps)(tx, { agent, card, policy, request, at });
  const status = statusOf[decision.outcome];
  const counted = { ownerId: agent.ownerId, subject: agentId, at };
  // The agent's spending is locked, so its declarations come one after the other.
  if (status !== 'denied') await assertBelowLimit(tx, intentLimits[status], counted, { isLocked: true });
  const row = await insertIntent(
    tx,
    {
      id,
      ownerId: agent.ownerId,
      agentId,
      clientIntentId: clientIntentId ?? null,
      purpose: declaration.purpose,
      expectedAmountCents: cents(request.amountCents),
      expectedMerchant: declaration.expectedMerchant ?? null,
      cardId: card.id,
      expiresAt: later(at, declaration.ttlMinutes * minute),
      recurring: declaration.recurring ?? null,
      policyCheck: policyCheckOf(decision),
      policyVersion: policy?.version ?? null,
      status,
    },
    call.cause,
    deps.links,
  );
  return { row, isNew: true };
}

const statusOf = { allow: 'approved', needs_approval: 'pending_approval', deny: 'denied' } as const satisfies Record<
  SpendingDecision['outcome'],
  NewIntent['status']
>;

/** A denied intent is not open. */
const intentLimits = {
  approved: 'open_intents',
  pending_approval: ['open_intents', 'waiting_intents'],
} as const;

function namedAgent({ agentId }: DeclareBody, call: Call): string {
  const own = ownOf(call).agentId;
  if (agentId === undefined && own === undefined) throw new DomainError('invalid_request', 'body.agentId: is missing');
  return agentId ?? own ?? ownOf(call).ownerId;
}

function requestOf({ declaration, merchant: known }: Wanted): RequestFacts {
  const { expectedAmountCents = zero, expectedMerchant, recurring } = declaration;
  const named = expectedMerchant === undefined ? undefined : { name: expectedMerchant };
  return {
    amountCents: expectedAmountCents,
    merchant: known ?? named,
    kind: 'purchase',
    recurring: recurring !== undefined,
  };
}

async function chosenCard(tx: Tx, agentId: string, { cardId, cardName }: DeclareBody): Promise<Card> {
  const card = await lockAgentCardForShare(tx, agentId, { cardId, cardName });
  if (card === null) {
    const which = cardId ?? (cardName === undefined ? undefined : 'of that name'); // A name is the caller's own word.
    throw new DomainError(
      'invalid_request',
      which === undefined ? `agent ${agentId} has no card` : `agent ${agentId} has no card ${which}`,
    );
  }
  if (card.status === 'closed') throw new DomainError('invalid_state', `card ${card.id} is closed; name another card`);
  return card;
}
