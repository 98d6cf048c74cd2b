/**
 * Records that a payment form was filled outside of Bursar: completes the intent and links it to its transaction. Posts
 * nothing. Without an authorization it creates a pending transaction, which an authorization may be linked to.
 * @module
 */
import type { Database } from '../../db/database.ts';
import type { Tx } from '../../db/tx.ts';
import { latestCheckout } from '../../domains/payments/checkout/checkout.queries.ts';
import { isFinalCheckout } from '../../domains/payments/checkout/checkout.rules.ts';
import { whyCredentialLives } from '../../domains/payments/mpp-credentials/mpp-credential.queries.ts';
import { insertConfirmed, noteConfirmed } from '../../domains/payments/transactions/confirm.service.ts';
import { lockSpending } from '../../domains/payments/transactions/payment-lock.service.ts';
import type { TransactionRow } from '../../domains/payments/transactions/transaction.entity.ts';
import {
  findConfirmedBy,
  findPayingFor,
  findTransaction,
  lockTransaction,
} from '../../domains/payments/transactions/transaction.queries.ts';
import type { IntentRow } from '../../domains/spending/intents/intent.entity.ts';
import { lockIntent } from '../../domains/spending/intents/intent.lock.service.ts';
import { findIntent } from '../../domains/spending/intents/intent.queries.ts';
import { onlyAllows } from '../../domains/spending/intents/intent.rules.ts';
import { applyToIntent } from '../../domains/spending/intents/intent.service.ts';
import { refusePastDeadline } from '../../domains/spending/intents/intent.state.service.ts';
import {
  isBetweenWindows,
  refuseBetweenWindows,
  windowOfNow,
} from '../../domains/spending/intents/windows/window.now.service.ts';
import { latestMatchedWindow } from '../../domains/spending/intents/windows/window.queries.ts';
import { completeWindowNow, settleWindow } from '../../domains/spending/intents/windows/window.service.ts';
import { type Call, mayReach, ownOf } from '../../http/caller.ts';
import type { ReachedId } from '../../http/reaches.ts';
import { DomainError } from '../../kernel/errors.ts';
import type { Id } from '../../kernel/ids.ts';
import { inRunOf } from '../../platform/cause.ts';
import { assertAgentAndCardActive } from '../spending/assert-active.ts';
import { refuseOpenPayment } from './refuse-open-payment.ts';

export type Confirmed = { readonly intentId: string; readonly transactionId: string };

export const confirmCheckout =
  ({ database }: { readonly database: Database }) =>
  ({ intentId }: { readonly intentId: ReachedId<'intent'> }, call: Call): Promise<Confirmed> => {
    const id = call.newId('transaction');
    return database.write((tx) => confirm(tx, intentId, id, call));
  };

async function confirm(tx: Tx, intentId: ReachedId<'intent'>, id: Id<'transaction'>, call: Call): Promise<Confirmed> {
  const found = mayReach(ownOf(call), 'intent', intentId, await findIntent(tx, intentId));
  await lockSpending(tx, found.agentId); // From here on nothing of this agent's payments moves.
  const intent = await lockIntent(tx, intentId);
  const cause = inRunOf(call.cause, intent);
  const known = await findConfirmedBy(tx, intentId, cause.causeId);
  if (known !== null) return { intentId, transactionId: known.id };
  const seen = await payingFor(tx, intent, cause.at);
  const paying = seen === null ? null : await lockTransaction(tx, seen.id); // A memo may come in meanwhile.
  await refuse(tx, intent, paying, cause.at);
  const transaction = paying ?? (await insertConfirmed(tx, intent, id, cause));
  if (paying !== null) await noteConfirmed(tx, paying, cause);
  if (intent.recurring != null) {
    await (paying === null
      ? completeWindowNow(tx, intent, transaction.id, cause)
      : settleWindow(tx, intentId, transaction.id, 'complete', cause));
  } else if (intent.status === 'approved') {
    await applyToIntent(tx, intentId, { kind: 'complete', transactionId: transaction.id }, cause);
  }
  return { intentId, transactionId: transaction.id };
}

/** Of a recurring intent: for its window of now; between two windows for the one whose clearing has not come. */
async function payingFor(tx: Tx, intent: IntentRow, at: Date): Promise<TransactionRow | null> {
  if (intent.recurring == null) return findPayingFor(tx, intent.id);
  const isBetween = isBetweenWindows(intent, at);
  const window = isBetween ? await latestMatchedWindow(tx, intent.id) : await windowOfNow(tx, intent, at);
  return window?.transactionId == null ? null : findTransaction(tx, window.transactionId);
}

async function refuse(tx: Tx, intent: IntentRow, paying: TransactionRow | null, at: Date): Promise<void> {
  const refused = (why: string) => new DomainError('invalid_state', why);
  if (intent.allowsOnceOf != null) throw refused(onlyAllows(intent.allowsOnceOf));
  if (intent.status === 'completed') {
    // The clearing was faster than the confirm; a second confirm is another matter.
    if (paying?.confirmedAt != null) throw refused(`the intent was confirmed before, with transaction ${paying.id}`);
    if (paying !== null) return;
  }
  if (intent.status !== 'approved')
    throw refused(`the intent is ${intent.status}; only an approved one can be confirmed`);
  if (intent.recurring != null && paying?.confirmedAt != null) {
    throw refused(`the window of now was confirmed before, with transaction ${paying.id}`);
  }
  if (paying === null) {
    refusePastDeadline(intent, at);
    refuseBetweenWindows(intent, at);
  }
  await refuseOpenPayment(tx, intent.id);
  const checkout = await latestCheckout(tx, intent.id);
  if (checkout !== null && !isFinalCheckout(checkout.status))
    throw refused(`checkout ${checkout.id} of this intent is under way`);
  const credential = paying === null ? await whyCredentialLives(tx, intent.id, new Date()) : undefined;
  if (credential !== undefined) throw refused(credential);
  // Once the network has asked, the payment is there, and the confirm only says so.
  if (paying === null) await assertAgentAndCardActive(tx, intent);
}
