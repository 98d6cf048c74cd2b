/**
 * The network gives back a part of a hold, or all of it. Never refused; what is no longer held gives nothing back. A
 * reversal that comes before its authorization waits for it.
 * @module
 */
import type { Database } from '../db/database.ts';
import type { Tx } from '../db/tx.ts';
import {
  type BookingAnswer,
  bookReversal,
  type CloseUsedCard,
  claimMessage,
  findByAuthorization,
  keepMessage,
  lockPayment,
  type Received,
  type ReversalMessage,
} from '../domains/payments/index.ts';

export const createReverseAuthorization =
  ({ database, closeUsedCard }: { readonly database: Database; readonly closeUsedCard: CloseUsedCard }) =>
  (received: Received<ReversalMessage>): Promise<BookingAnswer> =>
    database.write((tx) => reverse(tx, received, closeUsedCard));

async function reverse(
  tx: Tx,
  received: Received<ReversalMessage>,
  closeUsedCard: CloseUsedCard,
): Promise<BookingAnswer> {
  const known = await claimMessage(tx, received);
  if (known !== undefined) return known;
  const { adapter, message, cause } = received;
  const found = await findByAuthorization(tx, adapter, message.authorizationId);
  if (found === null) {
    const answer = { transactionId: null };
    // Also of a card that is not known: it may be about to be.
    await keepMessage(tx, received, { kind: 'reversal', transactionId: null, answer, isWaiting: true });
    return answer;
  }
  const row = await lockPayment(tx, found.id);
  const answer = { transactionId: row.id };
  await keepMessage(tx, received, { kind: 'reversal', transactionId: row.id, answer });
  await bookReversal(
    tx,
    row,
    { source: { adapter, id: message.id }, amountCents: message.amountCents },
    cause,
    closeUsedCard,
  );
  return answer;
}
