/**
 * Writes to a machine payment that its merchant has verified the credential, as the network's authorization writes its
 * charge. The workflow run of the payment makes it the state of the payment.
 * @module
 */
import * as z from 'zod';
import { firstRowOf, runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import type { Cause } from '../../../platform/cause.ts';
import { mppPaymentWorkflowId } from './mpp-payment.messages.ts';

/** Of a credential that no payment minted, nothing is written. A charge that was approved before stays. */
export async function recordVerifiedCharge(
  tx: Tx,
  { credentialId, transactionId }: { readonly credentialId: string; readonly transactionId: string },
  { at }: Cause,
): Promise<void> {
  const changed = await firstRowOf(
    tx,
    z.object({ id: z.string() }),
    `update mpp_payments set charge_source = 'verify', charge_outcome = 'approved', transaction_id = $2,
       charge_code = null, charge_reason = null, updated_at = $3
     where credential_id = $1 and charge_outcome is distinct from 'approved' returning id`,
    [credentialId, transactionId, at],
  );
  if (changed === undefined) return;
  // Opened again where it had ended, as by a late charge.
  await runSql(
    tx,
    `update workflow_runs set is_open = true, wanted_wake = true, due_at = $2,
       started_epoch = case when is_open then started_epoch end
     where id = $1`,
    [mppPaymentWorkflowId(changed.id), at],
  );
}
