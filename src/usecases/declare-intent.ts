/**
 * Declares an intent: finds the agent and the card, judges by the one spending rule, and inserts the verdict with its
 * events and process in one transaction. Repeats find the first intent.
 * @module
 */
import type { Database } from '../db/database.ts';
import { isUniqueViolation } from '../db/database.ts';
import { rows, type Tx } from '../db/tx.ts';
import {
  type DeclareBody,
  findByClientId,
  findIntent,
  type IntentRow,
  insertIntent,
  type NewIntent,
} from '../domains/spending/intents/index.ts';
import {
  agentStanding,
  type CardFacts,
  type CounterFacts,
  judgeSpending,
  policyCheckOf,
  policyOf,
  policyOfAgent,
  type RequestFacts,
  type RiskFacts,
  type Verdict,
} from '../domains/spending/policies/index.ts';
import { agentOf, type Call, mayReach, ownerOf } from '../http/caller.ts';
import { DomainError } from '../kernel/errors.ts';
import { later, minute } from '../kernel/instant.ts';
import { type CardColumns, cardColumns, cardFactsOf } from './card-facts.ts';

export type DeclareDeps = {
  readonly database: Database;
  readonly countersOf: (tx: Tx, who: { agentId: string; cardId: string | null }, at: Date) => Promise<CounterFacts>;
  readonly riskOf: (
    tx: Tx,
    who: { ownerId: string; agentId: string },
    request: RequestFacts,
    at: Date,
  ) => Promise<RiskFacts>;
};

export type Declared = { readonly row: IntentRow; readonly isNew: boolean };

export const declareIntent =
  (deps: DeclareDeps) =>
  async (declaration: DeclareBody, call: Call): Promise<Declared> => {
    const id = call.newId('intent');
    const agentId = namedAgent(declaration, call);
    try {
      return await deps.database.write((tx) => declare(tx, deps, { id, agentId, declaration }, call));
    } catch (error) {
      // Two declarations with one clientIntentId at once: the second finds the first.
      const { clientIntentId } = declaration;
      if (clientIntentId === undefined || !isUniqueViolation(error)) throw error;
      const first = await findByClientId(deps.database.read(), agentId, clientIntentId);
      if (first === null) throw error;
      return { row: first, isNew: false };
    }
  };

type Wanted = { readonly id: NewIntent['id']; readonly agentId: string; readonly declaration: DeclareBody };

async function declare(tx: Tx, deps: DeclareDeps, { id, agentId, declaration }: Wanted, call: Call): Promise<Declared> {
  const agent = mayReach(call, 'agent', agentId, await agentStanding(tx, agentId));
  const { clientIntentId } = declaration;
  const known =
    (await findIntent(tx, id)) ??
    (clientIntentId === undefined ? null : await findByClientId(tx, agentId, clientIntentId));
  if (known !== null) return { row: known, isNew: known.id === id };
  if (agent.status !== 'active') {
    throw new DomainError('policy_denied', `agent ${agentId} is ${agent.status}; it may declare nothing`);
  }
  const card = await chosenCard(tx, agentId, declaration);
  const policy = await policyOfAgent(tx, agentId);
  const { at } = call.cause;
  const request = requestOf(declaration);
  const verdict = judgeSpending({
    at,
    policy: policy === null ? null : policyOf(policy),
    agent,
    card: card.facts,
    request,
    counters: await deps.countersOf(tx, { agentId, cardId: card.id }, at),
    phase: 'declare',
    risk: await deps.riskOf(tx, agent, request, at),
  });
  const row = await insertIntent(
    tx,
    {
      id,
      ownerId: agent.ownerId,
      agentId,
      clientIntentId: clientIntentId ?? null,
      purpose: declaration.purpose,
      expectedAmountCents: request.amountCents,
      expectedMerchant: declaration.expectedMerchant ?? null,
      cardId: card.id,
      expiresAt: later(at, declaration.ttlMinutes * minute),
      policyCheck: policyCheckOf(verdict),
      policyVersion: policy?.version ?? null,
      needsAttestation: policy?.requireAttestation ?? false,
      status: statusOf[verdict.outcome],
    },
    call.cause,
  );
  return { row, isNew: true };
}

const statusOf = { allow: 'approved', needs_approval: 'pending_approval', deny: 'denied' } as const satisfies Record<
  Verdict['outcome'],
  NewIntent['status']
>;

function namedAgent({ agentId }: DeclareBody, call: Call): string {
  const own = agentOf(call);
  if (agentId === undefined && own === undefined) throw new DomainError('invalid_request', 'body.agentId: is missing');
  return agentId ?? own ?? ownerOf(call);
}

function requestOf({ expectedAmountEuros, expectedAmount, expectedMerchant }: DeclareBody): RequestFacts {
  const merchant = expectedMerchant === undefined ? undefined : { name: expectedMerchant };
  return { amountCents: expectedAmountEuros ?? expectedAmount ?? 0, merchant, kind: 'purchase' };
}

type Chosen = { readonly id: string; readonly facts: CardFacts };

/** The named card, or the agent's first active one. */
async function chosenCard(tx: Tx, agentId: string, { cardId, cardName }: DeclareBody): Promise<Chosen> {
  const [card] = await rows<CardColumns>(
    tx,
    `select ${cardColumns} from cards where agent_id = $1 and not is_provisioning
       and ($2::text is null or id = $2) and ($3::text is null or name = $3)
     order by (status = 'active') desc, created_at, id limit 1`,
    [agentId, cardId ?? null, cardName ?? null],
  );
  if (card === undefined) {
    const which = cardId ?? cardName;
    throw new DomainError(
      'invalid_request',
      which === undefined ? `agent ${agentId} has no card` : `agent ${agentId} has no card ${which}`,
    );
  }
  if (card.status === 'closed') throw new DomainError('invalid_state', `card ${card.id} is closed; name another card`);
  return { id: card.id, facts: cardFactsOf(card) };
}
