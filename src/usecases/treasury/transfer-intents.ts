/**
 * What transfers do to the intents that they pay for: an order matches its intent, money that leaves completes it, and an
 * order of which no money leaves opens it again. A split is one payment of its intent. In the caller's transaction.
 * @module
 */
import * as z from 'zod';
import { columnRow } from '../../db/column-row.ts';
import { idValue } from '../../db/row-values.ts';
import { rowsOf } from '../../db/statement.ts';
import type { Tx } from '../../db/tx.ts';
import { isFinalCheckout } from '../../domains/payments/checkout/checkout.rules.ts';
import { lockLiveCredentialOf } from '../../domains/payments/mpp-credentials/mpp-credential.queries.ts';
import { isPastExpiry } from '../../domains/payments/mpp-credentials/mpp-credential.rules.ts';
import { isAgentClosed } from '../../domains/payments/transactions/booking.posting.service.ts';
import type { IntentRow, PayingTransferId } from '../../domains/spending/intents/intent.entity.ts';
import { lockedIntent } from '../../domains/spending/intents/intent.lock.service.ts';
import { applyToIntent } from '../../domains/spending/intents/intent.service.ts';
import { refuseUnpayable } from '../../domains/spending/intents/intent.state.service.ts';
import type { IntentFacts } from '../../domains/spending/policies/policy.rules.ts';
import { saveSteps, type TransferStep } from '../../domains/treasury/transfers/bank-transfer.service.ts';
import { intentMoveOf, transferStatuses } from '../../domains/treasury/transfers/transfer.rules.ts';
import { DomainError } from '../../kernel/errors.ts';
import type { Id } from '../../kernel/ids.ts';
import type { Cause } from '../../platform/cause.ts';
import { surroundingsOf } from '../payments/payment-surroundings.ts';
import { refuseOpen } from '../payments/refuse-open-payment.ts';

/** Locks the intent, and refuses one that nothing may pay for now. The agent's spending is locked. */
export async function intentToPayFor(tx: Tx, intentId: Id<'intent'>, at: Date): Promise<IntentFacts> {
  const intent = await lockedIntent(tx, intentId);
  if (intent.recurring != null) {
    const why = 'is recurring: its windows are paid for with a card; declare an intent of one payment';
    throw new DomainError('invalid_state', `body.intentId: intent ${intentId} ${why}`);
  }
  refuseUnpayable(intent, at);
  await refuseOtherPayment(tx, intent);
  return {
    id: intent.id,
    expectedAmountCents: intent.expectedAmountCents,
    expectedMerchant: intent.expectedMerchant ?? null,
    status: intent.status,
    autoApproved: intent.isAutoApproved,
    attestedAt: intent.attestedAt ?? null,
  };
}

/** A machine payment, its credential or a checkout may still charge the card. */
async function refuseOtherPayment(tx: Tx, { id }: Readonly<IntentRow>): Promise<void> {
  const { payment, credentialId, checkout } = await surroundingsOf(tx, id);
  refuseOpen(payment);
  // The intent is locked, so where there is none now, none is made.
  const live = credentialId === null ? null : await lockLiveCredentialOf(tx, id);
  if (live !== null && !isPastExpiry(live, new Date())) {
    const until = live.expiresAt.toISOString();
    throw new DomainError('invalid_state', `credential ${live.id} of this intent is valid until ${until}`);
  }
  if (checkout !== null && !isFinalCheckout(checkout.status)) {
    throw new DomainError('invalid_state', `checkout ${checkout.id} of this intent is under way`);
  }
}

/** From now on nothing else pays for it, and it neither expires nor is cancelled. */
export async function matchIntent(
  tx: Tx,
  intentId: Id<'intent'> | undefined,
  transferId: PayingTransferId,
  cause: Cause,
): Promise<void> {
  if (intentId === undefined) return;
  const matched = { ...cause, causeId: `${cause.causeId}:match` };
  await applyToIntent(tx, intentId, { kind: 'match', transferId }, matched);
}

const payingRow = columnRow({
  id: idValue('intent'),
  payer: z.string(),
  statuses: z.array(z.enum(transferStatuses)),
});

/**
 * After transfers have moved: completes what they paid for, and opens again what they did not; what is open again of an
 * agent that was closed meanwhile is cancelled. By intent: what moved. Some statements for each intent that moves.
 */
export async function tellIntents(tx: Tx, causes: ReadonlyMap<Id<'intent'>, Cause>): Promise<void> {
  if (causes.size === 0) return;
  const paying = await rowsOf(
    tx,
    payingRow,
    `select i.id, i.transfer_id as payer, array_agg(t.status) as statuses from intents i
     join transfers t on t.intent_id = i.id and coalesce(t.split_id, t.id) = i.transfer_id
     where i.id = any($1::text[]) and i.status = 'approved' group by i.id order by i.id`,
    [[...causes.keys()]],
  );
  for (const { id, payer, statuses } of paying) {
    const kind = intentMoveOf(statuses);
    const cause = causes.get(id);
    if (kind === undefined || cause === undefined) continue;
    // An answer of the bank may be the cause of several transfers of one intent.
    const moved = { ...cause, causeId: `${cause.causeId}:${payer}:${kind}` };
    if (kind === 'complete') {
      await applyToIntent(tx, id, { kind, transactionId: null }, moved);
      continue;
    }
    const intent = await applyToIntent(tx, id, { kind }, moved);
    // What the agent's close left to the transfer: nothing pays for it any more.
    if (await isAgentClosed(tx, intent)) {
      await applyToIntent(tx, id, { kind: 'cancel' }, { ...moved, causeId: `${moved.causeId}/agent-closed` });
    }
  }
}

/** Saves the steps of transfers, with what follows for their intents. The caller holds the locks of both. */
export async function moveTransfers(tx: Tx, steps: readonly TransferStep[], options: { isOwnStep?: boolean } = {}) {
  await saveSteps(tx, steps, options);
  await tellIntents(
    tx,
    new Map(steps.flatMap(({ after: { intentId }, cause }) => (intentId === null ? [] : [[intentId, cause] as const]))),
  );
}
