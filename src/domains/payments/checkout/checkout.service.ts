/**
 * Checkout writes: lock the row, decide by the rules, save, record the transition, and update its workflow run, all in
 * the caller's transaction. `paid` and `declined` are written with the network's authorization instead.
 * @module
 */
import { LockMode } from '@mikro-orm/core';
import type { Tx } from '../../../db/tx.ts';
import { notFound } from '../../../kernel/errors.ts';
import { assertBelowLimit } from '../../../platform/assert-limit.ts';
import type { Cause } from '../../../platform/cause.ts';
import { recordTransition } from '../../../platform/transitions.ts';
import { closeWorkflowRun, openWorkflowRun, setWorkflowRunDue } from '../../../platform/workflow-runs.ts';
import type { IntentRow } from '../../spending/intents/index.ts';
import { CheckoutRow } from './checkout.entity.ts';
import { checkoutWorkflow, checkoutWorkflowId } from './checkout.messages.ts';
import { type CheckoutCommand, isFinalCheckout, moveCheckout } from './checkout.rules.ts';

export type NewCheckout = { readonly id: CheckoutRow['id']; readonly intent: IntentRow; readonly targetUrl: string };

export async function openCheckout(tx: Tx, { id, intent, targetUrl }: NewCheckout, cause: Cause): Promise<CheckoutRow> {
  const counted = { ownerId: intent.ownerId, subject: intent.id, at: cause.at };
  await assertBelowLimit(tx, 'checkouts', counted, { isLocked: true }); // By the intent's row.
  const row = tx.create(CheckoutRow, {
    id,
    ownerId: intent.ownerId,
    agentId: intent.agentId,
    intentId: intent.id,
    cardId: intent.cardId,
    targetUrl,
    status: 'open',
    orderId: null,
    amountCents: null,
    merchant: null,
    payUrl: null,
    ceilingCents: null,
    tokenHash: null,
    transactionId: null,
    mppPaymentId: null,
    outcomeCode: null,
    outcomeReason: null,
    payAttempts: 0,
    nextAttemptAt: null,
    payingSince: null,
    requestId: cause.requestId,
    runId: cause.runId ?? null,
    actor: cause.actor,
    createdAt: cause.at,
    updatedAt: cause.at,
  });
  await tx.flush();
  await recordTransition(tx, 'checkout', id, { from: null, to: 'open' }, cause);
  await openItsWorkflowRun(tx, row, intent.expectedAmountCents, cause);
  return row;
}

/** The offer of the shop is not read yet, so the amount is that of the intent. */
async function openItsWorkflowRun(
  tx: Tx,
  { id, ownerId, agentId }: CheckoutRow,
  amountCents: number,
  { at }: Cause,
): Promise<void> {
  const run = {
    id: checkoutWorkflowId(id),
    workflow: checkoutWorkflow,
    subjectId: id,
    ownerId,
    agentId,
    stage: 'open',
    amountCents,
  };
  await openWorkflowRun(tx, { ...run, dueAt: at, at });
}

export async function lockCheckout(tx: Tx, id: string): Promise<CheckoutRow> {
  const options = { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true } as const;
  const row = await tx.findOne(CheckoutRow, { id: id as CheckoutRow['id'] }, options);
  if (row === null) throw notFound('checkout', id);
  return row;
}

type Changeable = 'orderId' | 'amountCents' | 'merchant' | 'payUrl' | 'ceilingCents' | 'outcomeCode' | 'outcomeReason';
type Linked = 'mppPaymentId';
type Timed = 'payAttempts' | 'nextAttemptAt' | 'payingSince' | 'tokenHash';
export type CheckoutChange = Partial<Pick<CheckoutRow, Changeable | Linked | Timed>>;

/** A command that the row no longer takes changes nothing: the network was faster, and the row says how it went. */
export async function changeCheckout(
  tx: Tx,
  row: CheckoutRow,
  command: CheckoutCommand,
  change: CheckoutChange,
  cause: Cause,
): Promise<CheckoutRow> {
  const move = moveCheckout(row.status, command);
  if (move.outcome !== 'moved') return row;
  const from = row.status;
  Object.assign(row, change, { status: move.next, updatedAt: cause.at });
  await tx.flush();
  if (row.status !== from) await recordTransition(tx, 'checkout', row.id, { from, to: row.status }, cause);
  const workflowId = checkoutWorkflowId(row.id);
  if (isFinalCheckout(row.status)) await closeWorkflowRun(tx, workflowId, { isOwnStep: true });
  else await setWorkflowRunDue(tx, workflowId, row.nextAttemptAt ?? cause.at);
  return row;
}
