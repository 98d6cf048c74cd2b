/**
 * What follows from a card's new number for what was to be paid with it, in the transaction in which the new card
 * appears: open intents and confirmed payments that are not charged yet move to the new card. Holds stay where they
 * are.
 * @module
 */
import type { Tx } from '../../db/tx.ts';
import { reassignConfirmed } from '../../domains/payments/index.ts';
import { type CardChange, handIntentsOver } from '../../domains/spending/intents/index.ts';
import type { Cause } from '../../platform/cause.ts';

export async function reassignPayments(tx: Tx, cause: Cause, change: CardChange): Promise<void> {
  await handIntentsOver(tx, cause, change);
  await reassignConfirmed(tx, cause, change);
}
