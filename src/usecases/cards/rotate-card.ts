/**
 * Moves open intents and confirmed, uncharged payments to the new card, in the transaction in which that card appears.
 * Holds stay with the old card.
 * @module
 */
import type { Tx } from '../../db/tx.ts';
import { reassignConfirmed } from '../../domains/payments/transactions/confirm.service.ts';
import { type CardChange, reassignIntents } from '../../domains/spending/intents/intent.reassign.service.ts';
import type { Cause } from '../../platform/cause.ts';

export async function reassignPayments(tx: Tx, cause: Cause, change: CardChange): Promise<void> {
  await reassignIntents(tx, cause, change);
  await reassignConfirmed(tx, cause, change);
}
