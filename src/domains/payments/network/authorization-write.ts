/**
 * What a decided authorization writes, as one payload for one statement: message, transaction, intent, hold, decision,
 * events and audit. Builds rows only; the database checks that nothing they were made from has changed.
 * @module
 */
import { type EventName, parseEventData } from '../../../events/catalog.ts';
import { newId } from '../../../kernel/ids.ts';
import { actorInWords, type Cause } from '../../../platform/cause.ts';
import {
  type IntentCommandKind,
  type IntentRow,
  intentProcessId,
  intentWire,
  isFinalIntent,
  moveIntent,
} from '../../spending/intents/index.ts';
import { authorization } from '../../treasury/ledger/ledger.rules.ts';
import { checkoutProcessId } from '../checkout/checkout.messages.ts';
import { blankTransaction } from '../transactions/blank-transaction.ts';
import { purseOf } from '../transactions/purse.rules.ts';
import type { TransactionFields } from '../transactions/transaction.entity.ts';
import { holdExpiry } from '../transactions/transaction.rules.ts';
import { transactionData } from '../transactions/transaction.wire.ts';
import type { Decision } from './authorization.rules.ts';
import type { AuthorizationFacts, IntentFields } from './authorization-facts.ts';
import type { AuthorizationAnswer, AuthorizationMessage } from './network.contract.ts';
import type { Received } from './network.routes.ts';

export type Writing = {
  readonly answer: AuthorizationAnswer;
  readonly transactionId: string;
  readonly payload: Record<string, unknown>;
};

export function writingOf(
  received: Received<AuthorizationMessage>,
  facts: AuthorizationFacts,
  decision: Decision,
): Writing {
  const { cause, message, adapter, requestHash } = received;
  const adopted =
    decision.outcome === 'declined'
      ? undefined
      : facts.confirmed.find(({ id }) => id === decision.candidate?.transactionId);
  const transaction = transactionOf(received, facts, decision, adopted);
  const intent = intentMove(facts, decision, transaction.id);
  const answer: AuthorizationAnswer = {
    decision: decision.outcome,
    approvedCents: decision.approvedCents,
    transactionId: transaction.id,
    rule: decision.rule,
    reason: decision.reason,
  };
  const changes = changesOf(facts, decision, { transaction, adopted, intent, cause });
  const payload = {
    message: {
      adapter,
      id: message.id,
      cardRef: message.cardRef,
      requestHash,
      transactionId: transaction.id,
      causeId: cause.causeId,
      at: cause.at,
      answer,
    },
    earlySeen: facts.early.length,
    expected: decision.outcome === 'declined' ? undefined : versionsOf(facts),
    intent: intent?.write,
    adopted: adopted === undefined ? undefined : { version: adopted.version },
    transaction: columnsOf(transaction),
    decision: decisionRow(received, facts, decision, transaction),
    checkout: checkoutWrite(facts, decision),
    ...recordsOf(changes, cause),
    journals: decision.holdCents === 0 ? [] : [holdJournal(received, facts, decision, transaction.id)],
  };
  return { answer, transactionId: transaction.id, payload };
}

function transactionOf(
  { adapter, message, cause }: Received<AuthorizationMessage>,
  { card, agent, purse, checkout }: AuthorizationFacts,
  { outcome, approvedCents, holdCents, rule, reason, candidate }: Decision,
  adopted: TransactionFields | undefined,
): TransactionFields {
  const isDeclined = outcome === 'declined';
  const isVerification = message.kind === 'verification';
  return blankTransaction({
    id: adopted?.id ?? newId('transaction'),
    ownerId: card.ownerId,
    agentId: card.agentId,
    cardId: card.id,
    // A declined charge belongs to no intent, unless it was the checkout's own.
    intentId: isDeclined ? (checkout?.intentId ?? null) : (candidate?.id ?? null),
    walletId: agent.walletId,
    adapter,
    authorizationId: message.id,
    purse,
    status: isDeclined ? 'failed' : isVerification ? 'completed' : 'pending',
    amountCents: isDeclined ? message.amountCents : approvedCents,
    requestedCents: message.amountCents,
    approvedCents,
    heldCents: holdCents,
    merchantId: message.merchant.id,
    merchant: message.merchant.name,
    merchantMcc: message.merchant.mcc,
    merchantCountry: message.merchant.country,
    merchantAmount: message.merchantAmount ?? null,
    merchantCurrency: message.merchantCurrency ?? null,
    isVerification,
    isRecurring: message.recurring,
    declineRule: isDeclined ? rule : null,
    declineReason: isDeclined ? reason : null,
    holdExpiresAt: holdCents === 0 ? null : expiryOf(message, cause),
    confirmedAt: adopted?.confirmedAt ?? null,
    confirmCause: adopted?.confirmCause ?? null,
    authorizedAt: isDeclined ? null : cause.at,
    completedAt: isVerification && !isDeclined ? cause.at : null,
    requestId: adopted?.requestId ?? cause.requestId,
    runId: adopted?.runId ?? cause.runId ?? null,
    version: (adopted?.version ?? 0) + 1,
    createdAt: adopted?.createdAt ?? cause.at,
    updatedAt: cause.at,
  });
}

const expiryOf = ({ merchant, expiresAt }: AuthorizationMessage, { at }: Cause): Date =>
  holdExpiry({ mcc: merchant.mcc, at, networkExpiresAt: expiresAt === undefined ? undefined : new Date(expiresAt) });

const versionsOf = ({ agent, card, policy, revision }: AuthorizationFacts) => ({
  agentId: agent.id,
  agentVersion: agent.version,
  cardId: card.id,
  cardVersion: card.version,
  policyId: policy?.id,
  policyVersion: policy?.version,
  revision,
});

type IntentMoved = { readonly after: IntentFields; readonly event: EventName; readonly write: Record<string, unknown> };

/** Approved: its intent is matched. Declined: only the intent of its own checkout fails. By the intent's own rules. */
function intentMove(facts: AuthorizationFacts, decision: Decision, transactionId: string): IntentMoved | undefined {
  const isDeclined = decision.outcome === 'declined';
  const intentId = isDeclined ? facts.checkout?.intentId : decision.candidate?.id;
  const before = facts.intents.find(({ id }) => id === intentId);
  if (before === undefined) return undefined;
  const kind: IntentCommandKind = isDeclined ? 'fail' : 'match';
  const state = { status: before.status, matchedTransactionId: null, isRecurring: before.recurring != null };
  const move = moveIntent(state, kind, false);
  if (move.outcome !== 'moved') return undefined;
  const paying = isDeclined ? null : transactionId;
  const deniedReason = isDeclined ? decision.reason.slice(0, 500) : null;
  const after = { ...before, status: move.next, matchedTransactionId: paying, transactionId, deniedReason };
  return {
    after,
    event: isDeclined ? 'intent.failed' : 'intent.matched',
    write: {
      id: before.id,
      version: before.version,
      from: before.status,
      to: move.next,
      matchedTransactionId: paying,
      transactionId,
      deniedReason,
      isFinal: isFinalIntent(move.next),
      processId: intentProcessId(before.id),
    },
  };
}

function checkoutWrite({ checkout }: AuthorizationFacts, { outcome, rule, reason }: Decision) {
  if (checkout === null) return undefined;
  const status = outcome === 'declined' ? 'declined' : 'paid';
  return { id: checkout.id, processId: checkoutProcessId(checkout.intentId), status, code: rule, reason };
}

type EventDraft = {
  event: EventName;
  agentId: string;
  subjectId: string;
  data: Record<string, unknown>;
  details: Record<string, unknown>;
  audited: boolean;
};
type Happened = {
  transaction: TransactionFields;
  adopted: TransactionFields | undefined;
  intent: IntentMoved | undefined;
  cause: Cause;
};

function changesOf(
  facts: AuthorizationFacts,
  decision: Decision,
  { transaction, adopted, intent }: Happened,
): EventDraft[] {
  const isDeclined = decision.outcome === 'declined';
  const said = { outcome: decision.outcome, rule: decision.rule };
  const { agentId } = transaction;
  const data = transactionData(transaction);
  const ofTransaction = (event: EventName, audited: boolean): EventDraft => ({
    event,
    agentId,
    subjectId: transaction.id,
    data,
    details: said,
    audited,
  });
  const near =
    decision.mismatch === undefined ? undefined : facts.intents.find(({ id }) => id === decision.mismatch?.intentId);
  return [
    ...(adopted === undefined ? [ofTransaction('transaction.created', false)] : []),
    ofTransaction(isDeclined ? 'transaction.declined' : 'transaction.authorization', true),
    ...(intent === undefined
      ? []
      : [
          {
            event: intent.event,
            agentId,
            subjectId: intent.after.id,
            data: wireOf(intent.after),
            details: { transactionId: transaction.id },
            audited: true,
          },
        ]),
    ...(near === undefined
      ? []
      : [
          {
            event: 'intent.mismatched' as const,
            agentId,
            subjectId: near.id,
            data: { ...wireOf(near), transactionId: transaction.id, reason: decision.mismatch?.reason },
            details: { transactionId: transaction.id },
            audited: true,
          },
        ]),
  ];
}

/** The wire shape looks at columns only. */
const wireOf = (intent: IntentFields): Record<string, unknown> => intentWire(intent as IntentRow);

function recordsOf(changes: readonly EventDraft[], cause: Cause) {
  const common = { request_id: cause.requestId, created_at: cause.at };
  const ownerOf = (draft: EventDraft): unknown => draft.data.ownerId;
  return {
    events: changes.map((draft) => ({
      ...common,
      id: newId('event'),
      owner_id: ownerOf(draft),
      agent_id: draft.agentId,
      subject_id: draft.subjectId,
      name: draft.event,
      data: parseEventData(draft.event, draft.data),
      run_id: cause.runId ?? null,
    })),
    audits: changes
      .filter(({ audited }) => audited)
      .map((draft) => ({
        ...common,
        id: newId('audit'),
        owner_id: ownerOf(draft),
        agent_id: draft.agentId,
        actor: actorInWords(cause.actor),
        action: draft.event,
        subject_id: draft.subjectId,
        details: draft.details,
      })),
  };
}

/** No personal data: amounts, codes, versions and the merchant. */
function decisionRow(
  { message, cause }: Received<AuthorizationMessage>,
  facts: AuthorizationFacts,
  decision: Decision,
  transaction: TransactionFields,
) {
  const { card, agent, policy, counters, availableCents } = facts;
  return {
    transaction_id: transaction.id,
    owner_id: card.ownerId,
    agent_id: card.agentId,
    card_id: card.id,
    intent_id: transaction.intentId,
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
      candidates: facts.intents.map(({ id, expectedAmountCents, version }) => ({ id, expectedAmountCents, version })),
      counters,
      availableCents,
    },
    trace: decision.trace,
    at: cause.at,
  };
}

/** In the ledger's own words (treasury/ledger/ledger.service.ts); without a memo there is nothing to commit to. */
function holdJournal(
  { adapter, message, cause }: Received<AuthorizationMessage>,
  { card, purse }: AuthorizationFacts,
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
    postings: authorization({ ownerId: card.ownerId, from: purseOf(purse), amountCents: holdCents }),
  };
}

const columnsOf = (fields: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  );
