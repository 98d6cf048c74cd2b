/**
 * All writes of a decided authorization, as one payload for one statement: message, transaction, intent, hold,
 * decision, events and audit. Builds rows only; the statement checks that no fact of the decision has changed.
 * @module
 */
import { columnsOfRow } from '../../../db/column-names.ts';
import { changeRecords } from '../../../events/record.ts';
import { newId } from '../../../kernel/ids.ts';
import { causedBy, type OriginatingCall } from '../../../platform/cause.ts';
import { authorization } from '../../treasury/ledger/ledger.rules.ts';
import { checkoutWorkflowId } from '../checkout/checkout.messages.ts';
import { mppCredentialWorkflowId } from '../mpp-credentials/mpp-credential.messages.ts';
import { moveCredential } from '../mpp-credentials/mpp-credential.rules.ts';
import { fundingSourceOf } from '../transactions/funding-source.rules.ts';
import type { TransactionFields } from '../transactions/transaction.entity.ts';
import type { Decision } from './authorization.rules.ts';
import { changesOf, intentMove } from './authorization-events.ts';
import {
  type AuthorizationFacts,
  type ConfirmedTransaction,
  isTokenSpent,
  type OpenIntent,
  priorMessagesOf,
} from './authorization-facts.ts';
import { orphanTransactionOf, transactionOf } from './authorization-transaction.ts';
import type { AuthorizationAnswer, AuthorizationMessage } from './network.contract.ts';
import type { Received } from './received-message.ts';

/** `cause`: with the ids of the call that asked for the payment, where there is one. */
export type Writing = ReturnType<typeof writingOf>;

export function writingOf(
  authorization: Received<AuthorizationMessage>,
  facts: AuthorizationFacts,
  decision: Decision,
) {
  const linked =
    decision.outcome === 'declined'
      ? undefined
      : facts.confirmed.find(({ id }) => id === decision.candidate?.transactionId);
  const received = { ...authorization, cause: causedBy(authorization.cause, originatingCall(facts, decision, linked)) };
  const { cause, message, adapter, requestHash } = received;
  const { orphan } = facts;
  const transaction =
    orphan === null
      ? transactionOf(received, facts, decision, linked)
      : orphanTransactionOf(received, orphan, facts, decision);
  const intent = intentMove(facts, decision, { transactionId: transaction.id, at: cause.at });
  const answer: AuthorizationAnswer = {
    decision: decision.outcome,
    approvedCents: decision.approvedCents,
    transactionId: transaction.id,
    rule: decision.rule,
    reason: decision.reason,
  };
  const isKnown = linked !== undefined || orphan !== null;
  const changes = changesOf(facts, decision, { transaction, isKnown, intent });
  const payload = {
    message: {
      adapter,
      id: message.id,
      cardRef: message.cardRef,
      requestHash,
      transactionId: transaction.id,
      causeId: cause.causeId,
      requestId: authorization.cause.requestId,
      at: cause.at,
      answer,
    },
    earlySeen: facts.early.length,
    expected: decision.outcome === 'declined' ? undefined : versionsOf(facts),
    intent: intent?.write,
    linked: linked === undefined ? undefined : linkedVersions(linked),
    orphan: orphan === null ? undefined : { version: orphan.version, status: orphan.status },
    transaction: columnsOfRow(transaction),
    decision: decisionRow(received, facts, decision, transaction),
    token: tokenWrite(facts, decision),
    ...changeRecords(cause, changes),
    journals: decision.holdCents === 0 ? [] : [holdJournal(received, facts, decision, transaction.id)],
  };
  return { answer, transactionId: transaction.id, payload, cause };
}

/**
 * The call that asked for this payment: execute, mint, simulate, confirm, or the declaration of the intent that it pays
 * for.
 */
function originatingCall(
  { token, simulation, intents }: AuthorizationFacts,
  { outcome, candidate }: Decision,
  linked: ConfirmedTransaction | undefined,
): OriginatingCall | undefined {
  const declared = outcome === 'declined' ? undefined : intents.find(({ id }) => id === candidate?.id);
  return token ?? simulation ?? linked ?? declared;
}

const versionsOf = ({ agent, card, policy, revision }: AuthorizationFacts) => ({
  agentId: agent.id,
  agentVersion: agent.version,
  cardId: card.id,
  cardVersion: card.version,
  policyId: policy?.id,
  policyVersion: policy?.version,
  revision,
});

const linkedVersions = ({ version, intent }: ConfirmedTransaction) => ({
  version,
  intentId: intent.id,
  intentVersion: intent.version,
});

/** Undefined where the token changes nothing: the record has ended before. */
function tokenWrite(facts: AuthorizationFacts, { outcome, rule, reason }: Decision) {
  const { token } = facts;
  if (token === null || isTokenSpent(facts)) return undefined;
  const { kind, id, credential } = token;
  const isDeclined = outcome === 'declined';
  const why = { code: rule, reason };
  if (credential == null) {
    return { kind, id, workflowId: checkoutWorkflowId(id), status: isDeclined ? 'declined' : 'paid', ...why };
  }
  const { status: from } = credential;
  const move = moveCredential(from, isDeclined ? 'decline' : 'consume', false);
  const status = move.outcome === 'moved' ? move.next : from;
  return { kind, id, workflowId: mppCredentialWorkflowId(id), from, status, ...why };
}

/** No personal data: amounts, codes, versions and the merchant. */
function decisionRow(
  { message, cause }: Received<AuthorizationMessage>,
  facts: AuthorizationFacts,
  decision: Decision,
  transaction: TransactionFields,
) {
  const { card, agent, policy, counters, availableCents } = facts;
  const { collectedCents } = priorMessagesOf(facts, message.cardRef);
  return {
    transaction_id: transaction.id,
    owner_id: card.ownerId,
    agent_id: card.agentId,
    card_id: card.id,
    // Also of a declined charge, which belongs to no intent: if it is collected nevertheless, the intent is paid.
    intent_id: transaction.intentId ?? decision.candidate?.id ?? null,
    outcome: decision.outcome,
    rule: decision.rule,
    reason: decision.reason,
    policy_id: policy?.id ?? null,
    policy_version: policy?.version ?? null,
    facts: {
      amountCents: message.amountCents,
      kind: message.kind,
      merchant: message.merchant,
      recurring: message.recurring,
      partialSupported: message.partialSupported,
      agent: { status: agent.status, version: agent.version },
      card: { status: card.status, usage: card.usage, version: card.version },
      ...candidatesOf(facts, decision, message.amountCents),
      counters,
      availableCents,
      collectedBeforeCents: collectedCents,
      remedy: decision.remedy,
    },
    trace: decision.trace,
    at: cause.at,
  };
}

const nearestKept = 3;

/** Of the open intents: the one that paid, or those whose amounts came nearest; and how many there were. */
function candidatesOf({ intents }: AuthorizationFacts, { candidate }: Decision, amountCents: number) {
  const apart = (intent: OpenIntent): number => Math.abs(intent.expectedAmountCents - amountCents);
  const paying = intents.filter(({ id }) => id === candidate?.id);
  const kept = paying.length > 0 ? paying : intents.toSorted((a, b) => apart(a) - apart(b)).slice(0, nearestKept);
  return {
    openIntents: intents.length,
    candidates: kept.map(({ id, expectedAmountCents, version }) => ({ id, expectedAmountCents, version })),
  };
}

/** In the ledger's own words (treasury/ledger/ledger.service.ts); without a memo there is nothing to commit to. */
function holdJournal(
  { adapter, message, cause }: Received<AuthorizationMessage>,
  { card, fundingSource }: AuthorizationFacts,
  { holdCents }: Decision,
  transactionId: string,
) {
  return {
    id: newId('journal'),
    ownerId: card.ownerId,
    agentId: card.agentId,
    kind: 'authorization',
    referenceType: 'transaction',
    referenceId: transactionId,
    cause: `authorization:${adapter}:${message.id}`,
    memo: null,
    salt: null,
    memoCommitment: null,
    requestId: cause.requestId,
    runId: cause.runId ?? null,
    createdAt: cause.at,
    postings: authorization({ ownerId: card.ownerId, from: fundingSourceOf(fundingSource), amountCents: holdCents }),
  };
}
