/**
 * Evaluates a payment for an approved intent before the network is called, with the same facts and the same pure
 * decision as the network's authorization. Reads only: it takes no locks and holds no money.
 * @module
 */
import type { Tx } from '../../db/tx.ts';
import { cardRefOf } from '../../domains/cards/index.ts';
import {
  type Decision,
  decideAuthorization,
  decisionFactsOf,
  loadAuthorizationFacts,
} from '../../domains/payments/index.ts';
import { maxChargeCentsFor, type RequestFacts } from '../../domains/spending/policies/index.ts';
import type { RiskEngine } from '../../domains/spending/risk/risk.port.ts';
import { DomainError, notFound } from '../../kernel/errors.ts';

export type PlannedCharge = {
  readonly intentId: string;
  /** The card that the intent is for. */
  readonly cardId: string;
  /** Amount in cents, merchant, merchant category and country as the network would send them. */
  readonly request: RequestFacts;
};

export type EvaluatedCharge = {
  /** Never `partial`; `rule`, `reason` and `trace` name the rule that decided, with its figures. */
  readonly decision: Decision;
  /** In cents: the intent's amount plus the tolerance of the policy in force. */
  readonly ceilingCents: number;
};

export type EvaluateCharge = (tx: Tx, charge: PlannedCharge, at: Date) => Promise<EvaluatedCharge>;

/** `at` is business time. A later change of the facts may still lead the network's authorization to another decision. */
export const evaluateCharge =
  ({ risk: engine }: { readonly risk: RiskEngine }): EvaluateCharge =>
  async (tx, { intentId, cardId, request }, at) => {
    // No network has the empty name, so the query finds no message of a network.
    const cardRef = await cardRefOf(tx, cardId);
    const question = { adapter: '', id: intentId, cardRef, tokenHash: null, at };
    const loaded = await loadAuthorizationFacts(tx, question);
    if (!('facts' in loaded)) throw notFound('card', cardId);
    const intents = loaded.facts.intents.filter(({ id }) => id === intentId);
    const facts = { ...loaded.facts, intents, confirmed: [] };
    const { ownerId, id: agentId } = facts.agent;
    const risk = await engine.assess(tx, { ownerId, agentId }, request, at);
    const message = { amountCents: request.amountCents, partialSupported: false, cardRef };
    const decisionFacts = decisionFactsOf(facts, message, request, { at, risk });
    const [candidate] = decisionFacts.candidates;
    if (candidate === undefined) throw new DomainError('invalid_state', `intent ${intentId} is not open for a charge`);
    const ceilingCents = maxChargeCentsFor(candidate, facts.policy?.amountTolerancePercent);
    const token = { intentId, isUsed: false, ceilingCents };
    return { decision: decideAuthorization({ ...decisionFacts, token }), ceilingCents };
  };
