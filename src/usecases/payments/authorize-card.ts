/**
 * Decides whether a card may pay. Loads the facts without locks, decides by the pure rule, and writes everything in one
 * statement that refuses when a fact has changed. Only then it decides again under locks, so that contention costs time
 * and never causes a decline.
 * @module
 */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { Database } from '../../db/database.ts';
import { oneRowOf, runSql } from '../../db/statement.ts';
import type { Tx } from '../../db/tx.ts';
import {
  type Decision,
  type DecisionFacts,
  decideAuthorization,
} from '../../domains/payments/network/authorization.rules.ts';
import {
  decisionFactsOf,
  type Known,
  knownAnswer,
  loadAuthorizationFacts,
} from '../../domains/payments/network/authorization-facts.ts';
import { writingOf } from '../../domains/payments/network/authorization-write.ts';
import type { AuthorizationAnswer, AuthorizationMessage } from '../../domains/payments/network/network.contract.ts';
import {
  keepMessage,
  missingAuthorization,
  sameAnswer,
} from '../../domains/payments/network/network-message.service.ts';
import type { Received } from '../../domains/payments/network/received-message.ts';
import { explained } from '../../domains/payments/network/remedy.rules.ts';
import { lockForEarly } from '../../domains/payments/transactions/booking.posting.service.ts';
import { bookCollected } from '../../domains/payments/transactions/booking.service.ts';
import { lockDecision, lockPayment } from '../../domains/payments/transactions/payment-lock.service.ts';
import type { RequestFacts } from '../../domains/spending/policies/policy.rules.ts';
import type { RiskEngine } from '../../domains/spending/risk/risk.port.ts';
import { unavailable } from '../../kernel/errors.ts';
import type { Logger } from '../../platform/log.ts';
import type { RequestApproval } from '../spending/request-approval.ts';
import { bookEarlyMessages } from './book-early-messages.ts';

export type AuthorizeCardDeps = {
  readonly database: Database;
  readonly log: Pick<Logger, 'error'>;
  readonly requestApproval: RequestApproval;
  readonly risk: RiskEngine;
};

type Authorization = Received<AuthorizationMessage>;
const underLock = 4;

export const authorizeCard =
  (deps: AuthorizeCardDeps) =>
  async (received: Authorization): Promise<AuthorizationAnswer> => {
    const { answer, ask } = await decide(deps, received);
    // Apart from the decision, which is kept already: should it get lost, the merchant's next try asks again.
    if (ask !== undefined) {
      await deps.database.write(ask).catch((error: unknown) => {
        deps.log.error(
          { err: error, transactionId: answer.transactionId },
          'a person could not be asked about a charge',
        );
      });
    }
    return answer;
  };

/** `ask`: it was declined only because no person has approved it. */
type Decided = { readonly answer: AuthorizationAnswer; readonly ask?: (tx: Tx) => Promise<void> };

async function decide(deps: AuthorizeCardDeps, received: Authorization): Promise<Decided> {
  const first = await attempt(deps.database.read(), deps, received, false);
  if (first !== undefined) return first;
  return untilNotStale(() => deps.database.write((tx) => lockedAttempt(tx, deps, received)));
}

/** Repeats a transaction that decides under locks, a few times. */
export async function untilNotStale<T>(work: () => Promise<T | undefined>): Promise<T> {
  for (let turn = 0; turn < underLock; turn++) {
    const done = await work().catch(undefinedIfStale);
    if (done !== undefined) return done;
  }
  throw unavailable('the facts of this authorization keep changing');
}

/** Takes the place of what the rules decided; where the network has decided already. */
type Overrule = (decision: Decision, facts: DecisionFacts) => Decision;

/** In the caller's transaction, which no ledger account is locked in yet. Asks no person. */
export async function authorizeUnderLock(
  tx: Tx,
  deps: AuthorizeCardDeps,
  received: Authorization,
  overrule: Overrule,
): Promise<AuthorizationAnswer> {
  const decided = await lockedAttempt(tx, deps, received, overrule);
  if (decided === undefined) throw unavailable('the facts of this authorization keep changing');
  return decided.answer;
}

/** Everything that may change the facts waits for this transaction; it takes its locks in the common order. */
async function lockedAttempt(tx: Tx, deps: AuthorizeCardDeps, received: Authorization, overrule?: Overrule) {
  const { adapter, message, cause } = received;
  await runSql(tx, 'select lock_authorization($1, $2)', [adapter, message.id]);
  const loaded = await load(tx, received);
  if ('facts' in loaded) {
    const { agent, card, orphan, early } = loaded.facts;
    const fundingSource = await lockDecision(tx, { agentId: agent.id, cardId: card.id }, cause.at);
    const payment = { ownerId: card.ownerId, agentId: agent.id, fundingSource: orphan?.fundingSource ?? fundingSource };
    await lockForEarly(tx, payment, early, cause);
  }
  return attempt(tx, deps, received, true, overrule);
}

/** Undefined: the facts are stale, or need a transaction. Inside one, staleness is thrown, because it is spoilt. */
async function attempt(
  tx: Tx,
  deps: AuthorizeCardDeps,
  received: Authorization,
  isLocked: boolean,
  overrule: Overrule = (decision) => decision,
): Promise<Decided | undefined> {
  const { message, cause } = received;
  const loaded = await load(tx, received);
  if ('known' in loaded) return answerAgain(received, loaded.known);
  if ('unknownCard' in loaded) return isLocked ? { answer: await declineUnknownCard(tx, received) } : undefined;
  const { facts } = loaded;
  if ((facts.early.length > 0 || facts.orphan !== null) && !isLocked) return undefined;
  const request = requestOf(message, facts.token?.host ?? null);
  const risk = await deps.risk.assess(tx, { ownerId: facts.agent.ownerId, agentId: facts.agent.id }, request, cause.at);
  const decisionFacts = decisionFactsOf(facts, message, request, { at: cause.at, risk });
  const decision = explained(decisionFacts, overrule(decideAuthorization(decisionFacts), decisionFacts));
  const { answer, transactionId, payload, cause: caused } = writingOf(received, facts, decision);
  const known = await apply(tx, payload, isLocked);
  if (known === 'stale') return undefined;
  if (known !== null) return known.requestHash === missingAuthorization ? undefined : answerAgain(received, known);
  const { adapter } = received;
  const booking = { adapter, cause, cardRef: message.cardRef, early: facts.early, transactionId };
  await bookEarlyMessages(tx, booking);
  if (facts.orphan !== null) await bookCollected(tx, await lockPayment(tx, transactionId), caused);
  if (!decision.needsPerson) return { answer };
  return {
    answer,
    ask: (within) =>
      deps.requestApproval(within, { ...received, cause: caused }, facts, { ...decision, transactionId }),
  };
}

const answerAgain = ({ message, requestHash }: Authorization, known: Known): Decided => ({
  answer: inOrder(sameAnswer(known, requestHash, message.id)),
});

/** The database keeps the answer, not the order of its fields: a repeat is answered byte for byte alike. */
const inOrder = ({
  decision,
  approvedCents,
  transactionId,
  rule,
  reason,
}: AuthorizationAnswer): AuthorizationAnswer => ({
  decision,
  approvedCents,
  transactionId,
  ...(rule === undefined ? {} : { rule }),
  ...(reason === undefined ? {} : { reason }),
});

const load = (tx: Tx, { adapter, message, cause }: Authorization) =>
  loadAuthorizationFacts(tx, {
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

/** `host`: where the credential with the payment token was presented. */
const requestOf = (
  { amountCents, merchant: { id, name, ...merchant }, kind, recurring }: AuthorizationMessage,
  host: string | null,
): RequestFacts => ({
  amountCents,
  merchant: host === null ? { id, name } : { id, name, domain: host },
  mcc: merchant.mcc,
  country: merchant.country,
  kind,
  recurring,
});

const appliedRow = z.object({ applied: z.object({ known: knownAnswer.nullable() }) });

async function apply(tx: Tx, payload: object, isLocked: boolean): Promise<Known | null | 'stale'> {
  try {
    const { applied } = await oneRowOf(tx, appliedRow, 'select apply_authorization($1::jsonb) as applied', [
      JSON.stringify(payload),
    ]);
    return applied.known;
  } catch (error) {
    if (isLocked || !isStale(error)) throw error;
    return 'stale';
  }
}

/** BP001: a version moved; BL001: the money went meanwhile; 40001 and 40P01: PostgreSQL asks to begin again. */
const staleCodes: readonly unknown[] = ['BP001', 'BL001', '40001', '40P01'];
const isStale = (error: unknown): boolean => staleCodes.includes((error as { code?: unknown } | null)?.code);

function undefinedIfStale(error: unknown): undefined {
  if (!isStale(error)) throw error;
}

/** There is no owner to notify; only the network's message is known. */
async function declineUnknownCard(tx: Tx, { message, ...received }: Authorization): Promise<AuthorizationAnswer> {
  const answer: AuthorizationAnswer = {
    decision: 'declined',
    approvedCents: 0,
    transactionId: null,
    rule: 'unknown_card',
    reason: 'the card is not known here',
  };
  const booking = { ...received, message: { ...message, authorizationId: message.id } };
  await keepMessage(tx, booking, { kind: 'authorization', transactionId: null, answer });
  return answer;
}
