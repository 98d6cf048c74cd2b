/**
 * Refuses to pay an intent that has a machine payment under way: its outcome may be unknown, and it is never paid a
 * second time. The caller has locked the intent.
 * @module
 */
import type { Tx } from '../../db/tx.ts';
import { openMppPaymentOf } from '../../domains/payments/mpp-payments/mpp-payment.queries.ts';
import { DomainError } from '../../kernel/errors.ts';

export async function refuseOpenPayment(tx: Tx, intentId: string): Promise<void> {
  refuseOpen(await openMppPaymentOf(tx, intentId));
}

/** The same of a payment that the caller has read. */
export function refuseOpen(open: { readonly id: string; readonly status: string } | null): void {
  if (open === null) return;
  throw new DomainError(
    'invalid_state',
    `payment ${open.id} of this intent is ${open.status}; read it, or repeat the request that began it with its Idempotency-Key`,
  );
}
