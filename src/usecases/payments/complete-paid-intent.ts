/**
 * Completes an intent with a machine payment that a receipt or an operator has confirmed before the network asked: a
 * pending transaction, which the authorization with the payment's token is linked to. Posts nothing.
 * @module
 */
import type { Tx } from '../../db/tx.ts';
import { lockMppCredential } from '../../domains/payments/mpp-credentials/mpp-credential.queries.ts';
import { markPaid } from '../../domains/payments/mpp-credentials/mpp-credential.service.ts';
import { insertConfirmed } from '../../domains/payments/transactions/confirm.service.ts';
import type { TransactionRow } from '../../domains/payments/transactions/transaction.entity.ts';
import type { IntentRow } from '../../domains/spending/intents/intent.entity.ts';
import { whyUnpayable } from '../../domains/spending/intents/intent.rules.ts';
import { applyToIntent } from '../../domains/spending/intents/intent.service.ts';
import { stateOf } from '../../domains/spending/intents/intent.state.service.ts';
import { isBetweenWindows, windowOfNow } from '../../domains/spending/intents/windows/window.now.service.ts';
import { completeWindowNow } from '../../domains/spending/intents/windows/window.service.ts';
import type { Cents } from '../../kernel/money.ts';
import type { Cause } from '../../platform/cause.ts';

export type SettledPayment = {
  /** Of the transaction. */
  readonly id: TransactionRow['id'];
  readonly credentialId: string;
  /** Null where the challenge was not read; then it is that of the intent. */
  readonly amountCents: Cents | null;
};

/**
 * Intent and credential are locked. Where the intent takes no payment any more, the transaction is written and the
 * intent stays as it is. Returns the id of the transaction.
 */
export async function completePaidIntent(
  tx: Tx,
  intent: IntentRow,
  { id, credentialId, ...settled }: SettledPayment,
  cause: Cause,
): Promise<string> {
  const takesPayment = await isOpen(tx, intent, cause.at);
  const credential = await lockMppCredential(tx, credentialId);
  const amountCents = settled.amountCents ?? intent.expectedAmountCents;
  const merchantId = credential.recipient ?? null;
  const merchant = intent.expectedMerchant ?? credential.host ?? merchantId;
  const known = { rail: 'mpp', amountCents, requestedCents: amountCents, merchantId, merchant } as const;
  const transaction = await insertConfirmed(tx, intent, id, cause, known);
  await markPaid(tx, credential, transaction.id, { ...cause, causeId: `${cause.causeId}:credential` });
  if (!takesPayment) return transaction.id;
  if (intent.recurring != null) await completeWindowNow(tx, intent, transaction.id, cause);
  else await applyToIntent(tx, intent.id, { kind: 'complete', transactionId: transaction.id }, cause);
  return transaction.id;
}

async function isOpen(tx: Tx, intent: IntentRow, at: Date): Promise<boolean> {
  if (whyUnpayable(stateOf(intent), at) !== undefined || isBetweenWindows(intent, at)) return false;
  return (await windowOfNow(tx, intent, at))?.transactionId == null;
}
