/**
 * What follows from a decided authorization for others: the move of its intent, and the events and audit rows. Builds
 * rows only, as events/record.ts does; they are written with the decision.
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
import type { TransactionFields } from '../transactions/transaction.entity.ts';
import { transactionData } from '../transactions/transaction.wire.ts';
import type { Decision } from './authorization.rules.ts';
import { type AuthorizationFacts, type IntentFields, isTokenUsed } from './authorization-facts.ts';

export type IntentMoved = {
  readonly after: IntentFields;
  readonly event: EventName;
  readonly write: Record<string, unknown>;
};

/** Approved: its intent is matched. Declined: its own checkout's intent fails, unless that was decided before. */
export function intentMove(
  facts: AuthorizationFacts,
  decision: Decision,
  transactionId: string,
): IntentMoved | undefined {
  const isDeclined = decision.outcome === 'declined';
  if (isDeclined && isTokenUsed(facts)) return undefined;
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

export function changesOf(
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

export function recordsOf(changes: readonly EventDraft[], cause: Cause) {
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
