/**
 * Releases an intent from the machine payment that it was kept for (`open_mpp_payment`) when the payment has ended:
 * meanwhile it neither expires nor is cancelled, and nothing else pays for it. In the caller's transaction.
 * @module
 */
import { db } from '../../../db/db.ts';
import type { Tx } from '../../../db/tx.ts';
import type { Cause } from '../../../platform/cause.ts';
import { wakeWorkflowRun } from '../../../platform/workflow-runs.ts';
import type { IntentRow } from './intent.entity.ts';
import { intentWorkflowId } from './intent.messages.ts';
import { isBeingPaid, isFinalIntent } from './intent.rules.ts';
import { stateOf } from './intent.state.service.ts';
import { dueAt } from './windows/current-window.ts';

type OpenPayment = { readonly id: string; readonly intentId: string };

/** The payment waits for its charge, perhaps for days: the run of the intent says so. */
export const tellOfOpenPayment = (tx: Tx, { intentId }: Pick<OpenPayment, 'intentId'>): Promise<void> =>
  wakeWorkflowRun(tx, intentWorkflowId(intentId as IntentRow['id']), null);

/**
 * The payment has ended, and the intent is locked. Its deadline and the ends of its windows count again. Answers whether
 * nothing pays for it now.
 */
export async function releaseFromPayment(tx: Tx, { id, intentId }: OpenPayment, { at }: Cause): Promise<boolean> {
  const released = await db(tx)
    .updateTable('intents')
    .set({ openPaymentId: null, openPaymentAt: null, updatedAt: at })
    .where('id', '=', intentId as IntentRow['id'])
    .where('openPaymentId', '=', id)
    .returning([
      'id',
      'status',
      'matchedTransactionId',
      'transferId',
      'openPaymentId',
      'recurring',
      'windowToAt',
      'expiresAt',
      'allowsOnceOf',
    ])
    .executeTakeFirst();
  if (released === undefined || isFinalIntent(released.status) || isBeingPaid(stateOf(released))) return false;
  await wakeWorkflowRun(tx, intentWorkflowId(released.id), dueAt(released));
  return true;
}
