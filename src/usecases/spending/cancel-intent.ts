/**
 * Cancels an intent for the caller, and revokes what was minted for it, in one transaction: from its commit on,
 * no merchant is paid with a credential of the intent. Needs nothing outside, because it only takes authority away.
 * @module
 */
import type { Tx } from '../../db/tx.ts';
import { revokeCredentialsOf } from '../../domains/payments/mpp-credentials/mpp-credential.service.ts';
import type { IntentRow } from '../../domains/spending/intents/intent.entity.ts';
import { revokeIntent } from '../../domains/spending/intents/intent.service.ts';
import type { ReachedId } from '../../http/reaches.ts';
import type { Cause } from '../../platform/cause.ts';

type Order = { readonly id: ReachedId<'intent'>; readonly ownerId: string };

/** An authorization that comes first keeps the intent from being cancelled; one that comes later is declined. */
export async function cancelIntent(tx: Tx, order: Order, cause: Cause): Promise<IntentRow> {
  const row = await revokeIntent(tx, order, { kind: 'cancel' }, cause);
  await revokeCredentialsOf(tx, [row.id], cause);
  return row;
}
