/**
 * The effects of a decided authorization on other records: the transition of its intent, and the events. Builds only;
 * it is written with the decision.
 * @module
 */
import type { EventData, EventsLike } from '../../../events/catalog.ts';
import type { Change } from '../../../events/record.ts';
import { type Cents, cents, eurosFromCents } from '../../../kernel/money.ts';
import { intentEventData, stateOf, windowEventData } from '../../spending/intents/index.ts';
import { intentWorkflowId } from '../../spending/intents/intent.messages.ts';
import { type IntentCommandKind, isFinalIntent, moveIntent } from '../../spending/intents/intent.rules.ts';
import { scheduleOf } from '../../spending/intents/matchable-intent.rules.ts';
import { windowAt, windowNumbered } from '../../spending/intents/windows/recurrence.rules.ts';
import { consumptionOf } from '../mpp-credentials/mpp-credential.wire.ts';
import type { TransactionFields, TransactionRow } from '../transactions/transaction.entity.ts';
import { transactionData } from '../transactions/transaction.wire.ts';
import { type Decision, decidingFigures } from './authorization.rules.ts';
import { type AuthorizationFacts, chargedAt, isTokenSpent, type OpenIntent } from './authorization-facts.ts';

export type IntentMoved = {
  readonly intentId: string;
  readonly event: EventsLike<'intent.created'>;
  readonly data: EventData<'intent.created'>;
  readonly write: Record<string, unknown>;
};

/** Approved: its intent is matched. Declined: the intent of its payment token fails, unless the token was spent before. */
export function intentMove(
  facts: AuthorizationFacts,
  decision: Decision,
  { transactionId, at }: { transactionId: string; at: Date },
): IntentMoved | undefined {
  const isDeclined = decision.outcome === 'declined';
  if (isDeclined && isTokenSpent(facts)) return undefined;
  const intentId = isDeclined ? facts.token?.intentId : decision.candidate?.id;
  const before = facts.intents.find(({ id }) => id === intentId);
  if (before === undefined) return undefined;
  if (before.recurring != null) {
    // A confirm has taken its window.
    const isItsCharge = !isDeclined && decision.candidate?.transactionId === undefined;
    return isItsCharge ? windowMove(before, transactionId, chargedAt(facts, before, at)) : undefined;
  }
  const kind: IntentCommandKind = isDeclined ? 'fail' : 'match';
  const move = moveIntent(stateOf(before), kind, false);
  if (move.outcome !== 'moved') return undefined;
  const paying = isDeclined ? (before.matchedTransactionId ?? null) : transactionId;
  const deniedReason = isDeclined ? decision.reason.slice(0, 500) : null;
  const after = { ...before, status: move.next, matchedTransactionId: paying, transactionId, deniedReason };
  return {
    intentId: before.id,
    event: isDeclined ? 'intent.failed' : 'intent.matched',
    data: intentEventData(after),
    write: {
      id: before.id,
      version: before.version,
      from: before.status,
      to: move.next,
      matchedTransactionId: paying,
      transactionId,
      deniedReason,
      isFinal: isFinalIntent(move.next),
      workflowId: intentWorkflowId(before.id),
    },
  };
}

/** A recurring intent stands; its window of now is paid for, and the next one is what it waits for. */
function windowMove(before: OpenIntent, transactionId: string, at: Date): IntentMoved | undefined {
  const schedule = scheduleOf(before);
  const window = schedule === undefined ? undefined : windowAt(schedule, at);
  if (schedule === undefined || window === undefined) return undefined;
  const { id, status, version, windowNumber } = before;
  const { number, dueAt, fromAt, toAt } = window;
  // If an earlier window has not ended yet, the workflow run stores the next one when it ends.
  const nextWindow = windowNumber === number ? windowNumbered(schedule, number + 1) : undefined;
  const after = { ...before, transactionId };
  return {
    intentId: id,
    event: 'intent.matched',
    data: windowEventData(after, { ...window, status: 'matched', transactionId }),
    write: {
      id,
      version,
      from: status,
      to: status,
      matchedTransactionId: null,
      transactionId,
      deniedReason: null,
      isFinal: false,
      // While its payment is open it has no deadline.
      dueAt: before.openPaymentId == null ? (nextWindow?.toAt ?? before.expiresAt) : null,
      workflowId: intentWorkflowId(id),
      window: {
        intent_id: id,
        number,
        due_at: dueAt,
        from_at: fromAt,
        to_at: toAt,
        status: 'matched',
        transaction_id: transactionId,
      },
      shows:
        windowNumber === number
          ? {
              window_number: nextWindow?.number ?? null,
              window_due_at: nextWindow?.dueAt ?? null,
              window_from_at: nextWindow?.fromAt ?? null,
              window_to_at: nextWindow?.toAt ?? null,
            }
          : undefined,
    },
  };
}

function decidedBy(
  decision: Decision,
  { requestedCents }: TransactionFields,
): EventData<'transaction.declined'>['decision'] {
  const { allowedOnceOf } = decidingFigures(decision);
  return {
    ...ruleAndFigures(decision, requestedCents),
    allowedOnceOf: typeof allowedOnceOf === 'string' ? allowedOnceOf : null,
  };
}

/** More was asked for a payment; `askedCents` without what it had before. */
export const incrementDecided = (
  row: TransactionRow,
  decision: Decision,
  { networkId, askedCents }: { readonly networkId: string; readonly askedCents: Cents },
): Change => {
  const { outcome, rule, approvedCents } = decision;
  const { ownerId, agentId, id: subjectId } = row;
  const approvedEuros = eurosFromCents(approvedCents);
  return {
    ...{ event: 'transaction.updated', ownerId, agentId, subjectId },
    data: { ...transactionData(row), increment: { outcome, ...ruleAndFigures(decision, askedCents), approvedEuros } },
    details: { increment: networkId, outcome, rule, askedCents, approvedCents },
  };
};

/** Codes and amounts of the rule that decided; its words may name people. */
function ruleAndFigures(decision: Decision, askedCents: Cents) {
  const { limitCents, spentCents, availableCents } = decidingFigures(decision);
  const eurosOf = (figure: unknown) => (typeof figure === 'number' ? eurosFromCents(cents(figure)) : null);
  return {
    rule: decision.rule,
    askedEuros: eurosFromCents(askedCents),
    limitEuros: eurosOf(limitCents),
    spentEuros: eurosOf(spentCents),
    availableEuros: eurosOf(availableCents),
  };
}

type Happened = {
  transaction: TransactionFields;
  /** It was there before the authorization came. */
  isKnown: boolean;
  intent: IntentMoved | undefined;
};

export function changesOf(
  facts: AuthorizationFacts,
  decision: Decision,
  { transaction, isKnown, intent }: Happened,
): Change[] {
  const isDeclined = decision.outcome === 'declined';
  const details = { outcome: decision.outcome, rule: decision.rule };
  const { agentId, ownerId } = transaction;
  const data = transactionData(transaction);
  const about = { ownerId, agentId, subjectId: transaction.id };
  const used = isDeclined || isTokenSpent(facts) ? undefined : facts.token?.credential;
  const { mismatch } = decision;
  const near = mismatch === undefined ? undefined : facts.intents.find(({ id }) => id === mismatch.intentId);
  return [
    ...(isKnown ? [] : [{ event: 'transaction.created' as const, ...about, data, details, audited: false }]),
    {
      event: isDeclined ? 'transaction.declined' : 'transaction.authorization',
      ...about,
      data: { ...data, decision: decidedBy(decision, transaction) },
      details: {
        ...details,
        ...(decision.candidate?.allows === undefined ? {} : { allowedOnceOf: decision.candidate.allows.transactionId }),
      },
    },
    ...(intent === undefined
      ? []
      : [
          {
            event: intent.event,
            ownerId,
            agentId,
            subjectId: intent.intentId,
            data: intent.data,
            details: { transactionId: transaction.id },
          },
        ]),
    ...(used?.status === 'minted' ? [consumptionOf(used, transaction.id)] : []),
    ...(near === undefined || mismatch === undefined
      ? []
      : [
          {
            event: 'intent.mismatched' as const,
            ownerId,
            agentId,
            subjectId: near.id,
            data: {
              ...intentEventData(near),
              transactionId: transaction.id,
              misfits: [...mismatch.misfits],
              askedEuros: eurosFromCents(mismatch.askedCents),
              maxChargeEuros: eurosFromCents(mismatch.maxChargeCents),
            },
            details: { transactionId: transaction.id },
          },
        ]),
  ];
}
