/**
 * From the facts of an authorization to what is to be written, and to the answer once it is. Shared by the decision of
 * one under locks and of many in a batch.
 * @module
 */
import { createHash } from 'node:crypto';
import { runSql } from '../../db/statement.ts';
import type { Tx } from '../../db/tx.ts';
import {
  type Decision,
  type DecisionFacts,
  decideAuthorization,
} from '../../domains/payments/network/authorization.rules.ts';
import {
  type AuthorizationFacts,
  decisionFactsOf,
  type Known,
  type Question,
} from '../../domains/payments/network/authorization-facts.ts';
import { type Writing, writingOf } from '../../domains/payments/network/authorization-write.ts';
import { findLackingPerson } from '../../domains/payments/network/decision.queries.ts';
import type { AuthorizationAnswer, AuthorizationMessage } from '../../domains/payments/network/network.contract.ts';
import { sameAnswer } from '../../domains/payments/network/network-message.service.ts';
import type { Received } from '../../domains/payments/network/received-message.ts';
import { explained } from '../../domains/payments/network/remedy.rules.ts';
import type { RequestFacts, RiskFacts } from '../../domains/spending/policies/policy.rules.ts';
import type { RiskEngine } from '../../domains/spending/risk/risk.port.ts';
import { later } from '../../kernel/instant.ts';
import { personDecidesMs, type RequestApproval } from '../spending/request-approval.ts';

export type DecidingDeps = { readonly requestApproval: RequestApproval; readonly risk: RiskEngine };
export type Authorization = Received<AuthorizationMessage>;

/** `ask`: it was declined only because no person has approved it. */
export type Decided = { readonly answer: AuthorizationAnswer; readonly ask?: (tx: Tx) => Promise<void> };

/** Takes the place of what the rules decided; where the network has decided already. */
export type Overrule = (decision: Decision, facts: DecisionFacts) => Decision;

export type ToWrite = { readonly decision: Decision; readonly writing: Writing };

/** What the facts of an authorization are asked by. */
export const factsAsked = ({ adapter, message, cause }: Authorization): Question => ({
  adapter,
  id: message.id,
  cardRef: message.cardRef,
  tokenHash: tokenHashOf(message),
  simulationId: message.simulation,
  at: cause.at,
});

/** An account check uses no token up, so it carries none. */
const tokenHashOf = ({ token, kind }: AuthorizationMessage): string | null =>
  token === undefined || kind === 'verification' ? null : createHash('sha256').update(token).digest('hex');

export const riskOf = (
  tx: Tx,
  { risk }: Pick<DecidingDeps, 'risk'>,
  { message, cause }: Authorization,
  { agent, token }: AuthorizationFacts,
): Promise<RiskFacts> =>
  risk.assess(tx, { ownerId: agent.ownerId, agentId: agent.id }, requestOf(message, token), cause.at);

export function decided(
  received: Authorization,
  facts: AuthorizationFacts,
  risk: RiskFacts,
  overrule: Overrule = (decision) => decision,
): ToWrite {
  const { message, cause } = received;
  const decisionFacts = decisionFactsOf(facts, message, requestOf(message, facts.token), { at: cause.at, risk });
  const decision = explained(decisionFacts, overrule(decideAuthorization(decisionFacts), decisionFacts));
  return { decision, writing: writingOf(received, facts, decision) };
}

/** Of what is written. */
export function answerOf(
  { requestApproval }: Pick<DecidingDeps, 'requestApproval'>,
  received: Authorization,
  facts: AuthorizationFacts,
  { decision, writing: { answer, transactionId, cause } }: ToWrite,
): Decided {
  if (!decision.needsPerson) return { answer };
  return {
    answer,
    ask: (within) => requestApproval(within, { ...received, cause }, facts, { ...decision, transactionId }),
  };
}

/**
 * The database keeps the answer, not the order of its fields: a repeat is answered byte for byte alike. The process that
 * decided may have died before it asked a person, so a repeat of a decline does.
 */
export function answerAgain(
  deps: Pick<DecidingDeps, 'requestApproval'>,
  received: Authorization,
  known: Known,
): Decided {
  const { message, requestHash } = received;
  const { decision, approvedCents, transactionId, rule, reason } = sameAnswer(known, requestHash, message.id);
  const because = { ...(rule === undefined ? {} : { rule }), ...(reason === undefined ? {} : { reason }) };
  const answer = { decision, approvedCents, transactionId, ...because };
  if (decision !== 'declined' || transactionId === null) return { answer };
  return { answer, ask: (tx) => askIfUnasked(tx, deps, received, transactionId) };
}

async function askIfUnasked(
  tx: Tx,
  { requestApproval }: Pick<DecidingDeps, 'requestApproval'>,
  received: Authorization,
  transactionId: string,
): Promise<void> {
  const lacking = await findLackingPerson(tx, transactionId, later(received.cause.at, -personDecidesMs));
  if (lacking === null) return;
  const { ownerId, agentId, cardId, policyVersion, at, ...declined } = lacking;
  const asked = await runSql(
    tx,
    `select 1 from intents where agent_id = $1 and created_at >= $2 and declined_charge ->> 'transactionId' = $3`,
    [agentId, at, transactionId],
  );
  if (asked > 0) return;
  const policy = policyVersion === null ? null : { version: policyVersion };
  await requestApproval(
    tx,
    received,
    { card: { id: cardId, ownerId, agentId }, policy },
    { ...declined, transactionId },
  );
}

/** `host`: where the credential with the payment token was presented. */
function requestOf(
  { amountCents, merchant: { id, name, ...merchant }, kind, recurring }: AuthorizationMessage,
  token: AuthorizationFacts['token'],
): RequestFacts {
  const host = token?.host ?? null;
  return {
    amountCents,
    merchant: host === null ? { id, name } : { id, name, domain: host },
    mcc: merchant.mcc,
    country: merchant.country,
    kind,
    recurring,
  };
}
