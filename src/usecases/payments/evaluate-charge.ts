/**
 * Evaluates a payment for an approved intent before the network is called, with the same facts and the same pure
 * decision as the network's authorization. Reads only: it takes no locks and holds no money.
 * @module
 */
import type { Tx } from '../../db/tx.ts';
import { cardRefOf } from '../../domains/cards/cards/card.queries.ts';
import { type Decision, decideAuthorization } from '../../domains/payments/network/authorization.rules.ts';
import { decisionFactsOf, loadAuthorizationFacts } from '../../domains/payments/network/authorization-facts.ts';
import { maxChargeCentsFor } from '../../domains/spending/policies/intent-match.rules.ts';
import type { RequestFacts, SpendingPhase } from '../../domains/spending/policies/policy.rules.ts';
import type { RiskEngine } from '../../domains/spending/risk/risk.port.ts';
import { DomainError, notFound } from '../../kernel/errors.ts';

export type PlannedCharge = {
  readonly intentId: string;
  /** The card that the intent is for. */
  readonly cardId: string;
  /** Its name at the processor, where the caller has read it. */
  readonly cardRef?: string;
  /** Amount in cents, merchant, merchant category and country as the network would send them. */
  readonly request: RequestFacts;
  /** `access` where the network will name what is unknown yet. */
  readonly phase?: SpendingPhase;
  /** The machine payment that the charge is of, which the intent is kept for. */
  readonly paymentId?: string | null;
};

export type EvaluatedCharge = {
  /** Never `partial`; `rule`, `reason` and `trace` name the rule that decided, with its figures. */
  readonly decision: Decision;
  /** In cents: the intent's amount plus the tolerance of the policy in force. */
  readonly ceilingCents: number;
  /** Of the policy in force; null without one. */
  readonly tolerancePercent: number | null;
};

export type EvaluateCharge = (tx: Tx, charge: PlannedCharge, at: Date) => Promise<EvaluatedCharge>;

/** `at` is business time. A later change of the facts may still lead the network's authorization to another decision. */
export const evaluateCharge =
  ({ risk: engine }: { readonly risk: RiskEngine }): EvaluateCharge =>
  async (tx, { intentId, cardId, cardRef: known, request, phase = 'charge', paymentId }, at) => {
    // No network has the empty name, so the query finds no message of a network.
    const cardRef = known ?? (await cardRefOf(tx, cardId));
    const question = { adapter: '', id: intentId, cardRef, tokenHash: null, at };
    const loaded = await loadAuthorizationFacts(tx, question);
    if (!('facts' in loaded)) throw notFound('card', cardId);
    const intents = loaded.facts.intents.filter(({ id }) => id === intentId);
    const facts = { ...loaded.facts, intents, confirmed: [], paymentId };
    const { ownerId, id: agentId } = facts.agent;
    const risk = await engine.assess(tx, { ownerId, agentId }, request, at);
    const message = { amountCents: request.amountCents, partialSupported: false, cardRef };
    const decisionFacts = decisionFactsOf(facts, message, request, { at, risk });
    const [candidate] = decisionFacts.candidates;
    if (candidate === undefined) throw new DomainError('invalid_state', `intent ${intentId} is not open for a charge`);
    const ceilingCents = maxChargeCentsFor(candidate, facts.policy?.amountTolerancePercent);
    const token = { intentId, isUsed: false, ceilingCents };
    const spending = { ...decisionFacts.spending, phase };
    return {
      decision: decideAuthorization({ ...decisionFacts, spending, token }),
      ceilingCents,
      tolerancePercent: facts.policy?.amountTolerancePercent ?? null,
    };
  };
