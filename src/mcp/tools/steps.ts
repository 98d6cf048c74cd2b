/** What an agent does next after each state of an intent, a checkout and a machine payment. Reads states and ids only. @module */
import type { Next } from '../answer.ts';
import type { Answer, Arguments } from '../tool.ts';

type Body = Answer['body'];

const refOf = ({ clientIntentId }: Body, { purchaseRef }: Arguments): unknown => purchaseRef ?? clientIntentId;

export function afterIntent(intent: Body, given: Arguments): Next {
  const { id: intentId, status } = intent;
  const ref = refOf(intent, given);
  const payment = { intentId, ...(typeof ref === 'string' ? { purchaseRef: ref } : {}) };
  if (status === 'pending_approval')
    return {
      do: 'A person has to approve this. Tell them so, and wait; nobody but the person can approve it.',
      tool: 'intents_wait',
      arguments: { intentId },
    };
  if (status === 'approved' && typeof intent.openPaymentId === 'string')
    return {
      do: 'A payment for it is under way. Ask how it goes; do not pay again.',
      tool: 'payments_status',
      arguments: { paymentId: intent.openPaymentId },
    };
  if (status === 'approved' && typeof intent.transferId === 'string')
    return { do: 'A bank transfer that pays for it is under way. Do not pay again.' };
  if (status === 'approved')
    return {
      do: 'Approved. Pay now, with the address of the shop as targetUrl.',
      tool: 'checkout_execute',
      arguments: payment,
    };
  if (status === 'completed' && typeof intent.transactionId === 'string')
    return {
      do: 'Paid. Nothing is left to do; do not pay again.',
      tool: 'transactions_get',
      arguments: { transactionId: intent.transactionId },
    };
  return { do: ended[String(status)] ?? 'Nothing is left to do.' };
}

const ended: Readonly<Record<string, string>> = {
  completed: 'Paid. Nothing is left to do; do not pay again.',
  denied: 'Denied. Do not repeat it and do not split the payment; tell the person.',
  failed: 'The charge was declined, and nothing was taken. Tell the person before you try anything else.',
  expired: 'It expired before it was paid. Declare anew, with a new purchaseRef, only if it is still wanted.',
  cancelled: 'Cancelled. Nothing will be paid for it.',
};

/** An attempt that took nothing ends here: its intent may still be approved, and would lead to the same attempt again. */
export function afterCheckout({ status, transactionId, paymentId }: Body, { targetUrl }: Arguments): Next {
  if (status === 'paid' && typeof transactionId === 'string')
    return {
      do: 'Paid. Do not pay again; read the transaction for the receipt.',
      tool: 'transactions_get',
      arguments: { transactionId },
    };
  if (status === 'accepted' && typeof paymentId === 'string')
    return {
      do: 'The merchant delivered; the charge follows. Do not pay again.',
      tool: 'payments_status',
      arguments: { paymentId },
    };
  if (status === 'declined') return { do: 'The charge was declined, and nothing was taken. Tell the person.' };
  if (status === 'failed')
    return {
      do: `The shop took nothing. The intent stays approved: you may try again with a new purchaseRef${targetUrl === undefined ? '' : ', or at another address of the shop'}.`,
    };
  return { do: 'Nothing is left to do.' };
}

export function afterPayment({ id, payment_id: paidId, status, transactionId, transaction_id: paidBy }: Body): Next {
  const transaction = transactionId ?? paidBy;
  const paymentId = id ?? paidId;
  if (status === 'paid' && typeof transaction === 'string')
    return { do: 'Paid. Do not pay again.', tool: 'transactions_get', arguments: { transactionId: transaction } };
  if (status === 'paid') return { do: 'Paid. Do not pay again.' };
  if (status === 'accepted' || status === 'unknown')
    return {
      do: 'The outcome is not final. Do not pay again; ask again in a few seconds.',
      tool: 'payments_status',
      arguments: { paymentId },
    };
  if (status === 'declined') return { do: 'The charge was declined, and nothing was taken. Tell the person.' };
  if (status === 'refused' || status === 'not_paid')
    return { do: 'Nothing was paid. Read why; a further try needs a new purchaseRef.' };
  return {
    do: 'The payment is under way. Ask again in a few seconds.',
    tool: 'payments_status',
    arguments: { paymentId },
  };
}

/** Of an intent that is approved and has no payment under way. */
export const afterDeclined = ({ id: paymentId }: Body): Next => ({
  do: 'The last payment for it was declined and took nothing, and the same purchaseRef finds that payment again. Read why, and tell the person; try once more, with a new purchaseRef, only if they want it.',
  tool: 'payments_status',
  arguments: { paymentId },
});

export const nothingNext = (): Next => ({ do: 'Nothing is left to do.' });

/** For lists: the next page, or one of the records. */
export const afterList =
  (tool: string, one: string) =>
  (body: Body, given: Arguments): Next =>
    body.hasMore === true
      ? {
          do: 'There are more. Ask for the next page only if you need it.',
          tool,
          arguments: { ...given, cursor: body.nextCursor },
        }
      : { do: `These are all. ${one}` };
