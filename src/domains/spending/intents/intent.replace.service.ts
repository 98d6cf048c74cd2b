/**
 * A permission to let a declined charge pass once takes the place of what is open for the same charge: the declared
 * intent that it was for, and requests to a person about it. So one purchase has one grant. The caller has locked the
 * intents of the card.
 * @module
 */
import * as z from 'zod';
import { rowsOf } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { DomainError } from '../../../kernel/errors.ts';
import type { Cause } from '../../../platform/cause.ts';
import { type Attestation, applyToIntent } from './intent.service.ts';

export type AllowedCharge = {
  readonly transactionId: string;
  readonly agentId: string;
  readonly cardId: string;
  readonly merchantId: string;
  readonly amountCents: number;
  /** The intent that the charge was for, as its decision says. */
  readonly intentId: string | null;
};

const openIntent = z.object({
  id: z.string(),
  status: z.enum(['pending_approval', 'approved']),
  attestedAt: z.date().nullable(),
  attestedBy: z.string().nullable(),
});

/** Answers with the attestation of the declared intent, which the permission inherits. */
export async function giveWayTo(tx: Tx, charge: AllowedCharge, cause: Cause): Promise<Attestation> {
  const { agentId, cardId, merchantId, amountCents, intentId } = charge;
  // What pays already keeps its payment, and a recurring intent its later charges.
  const open = await rowsOf(
    tx,
    openIntent,
    `select id, status, attested_at as "attestedAt", attested_by as "attestedBy" from intents
     where agent_id = $1 and card_id = $2 and status in ('pending_approval', 'approved') and expires_at > $3
       and allows_once_of is null and recurring is null
       and matched_transaction_id is null and transfer_id is null and open_payment_id is null
       and (id = $4 or expected_amount_cents = $5 and declined_charge -> 'merchant' ->> 'id' = $6)
     order by id`,
    [agentId, cardId, cause.at, intentId, amountCents, merchantId],
  );
  const approved = open.find(({ id, status }) => status === 'approved' && id !== intentId);
  if (approved !== undefined) {
    throw new DomainError('invalid_state', `intent ${approved.id} already lets the next attempt pass`);
  }
  const reason = `transaction ${charge.transactionId} is allowed once: the permission takes the place of this intent`;
  const ended = { ...cause, causeId: `${cause.causeId}/allowed-once` };
  for (const { id } of open) await applyToIntent(tx, id, { kind: 'cancel', reason }, ended);
  const declared = open.find(({ id }) => id === intentId);
  return { attestedAt: declared?.attestedAt ?? null, attestedBy: declared?.attestedBy ?? null };
}
