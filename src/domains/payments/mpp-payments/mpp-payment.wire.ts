/** Machine payments as callers and subscribers see them. Shapes only. @module */
import type { EventData } from '../../../events/catalog.ts';
import { type Cents, eurosFromCents } from '../../../kernel/money.ts';
import type { Receipt } from '../mpp/credential.wire.ts';
import type { MerchantBodyWire } from './merchant-body.wire.ts';
import type { MppPaymentDetailWire, MppPaymentWire, PayWire } from './mpp-payment.contract.ts';
import type { MppPaymentRow } from './mpp-payment.entity.ts';
import { knownInWords, nextInWords, statusShown } from './mpp-payment.outcome.rules.ts';
import { isPast, type MppPaymentStatus } from './mpp-payment.rules.ts';
import { outcomeOf } from './mpp-payment.state.ts';

type Row = Readonly<MppPaymentRow>;

/** What only the caller of one payment gets, opened. */
export type OpenedAnswer = {
  /** As the merchant sent it; empty without one. */
  readonly receipt: string;
  /** Null without one, and for one that could not be decoded. */
  readonly decoded: Receipt | null;
  /** Null where the merchant gave no answer, or where it is not kept any more. */
  readonly body: MerchantBodyWire | null;
};

const eurosOrNull = (amountCents: Cents | null | undefined) =>
  amountCents == null ? null : eurosFromCents(amountCents);

/** A credential exists from its mint on. */
const credentialOf = (row: Row, status: MppPaymentStatus = row.status): string | null =>
  status === 'refused'
    ? row.sendCause == null
      ? null
      : row.credentialId
    : isPast(status, 'allowed')
      ? row.credentialId
      : null;

/** Without addresses and texts. */
export const mppPaymentData = (row: Row): EventData<'mpp.payment.updated'> => ({
  id: row.id,
  ownerId: row.ownerId,
  agentId: row.agentId,
  intentId: row.intentId,
  cardId: row.cardId,
  credentialId: credentialOf(row),
  amountEuros: eurosOrNull(row.amountCents),
  currency: row.currency ?? null,
  status: statusShown(outcomeOf(row)),
  merchantStatus: row.merchantStatus ?? null,
  transactionId: row.transactionId ?? null,
  reasonCode: outcomeOf(row).outcomeCode,
  createdAt: row.createdAt.toISOString(),
});

export function mppPaymentWire(row: Row): MppPaymentWire {
  const outcome = outcomeOf(row);
  return {
    ...mppPaymentData(row),
    amountEuros: eurosOrNull(row.amountCents),
    status: statusShown(outcome),
    url: row.url,
    tool: row.toolName ?? null,
    reason: outcome.outcomeReason,
    known: knownInWords(outcome),
    next: nextInWords(outcome),
    updatedAt: row.updatedAt.toISOString(),
  };
}

export const payWire = (row: Row, { receipt, body }: OpenedAnswer): PayWire => ({
  credential_id: row.credentialId,
  merchant_status: row.merchantStatus ?? 0,
  receipt,
  merchant_body: body ?? {},
  payment_id: row.id,
  status: statusShown(outcomeOf(row)),
  transaction_id: row.transactionId ?? null,
  reason: outcomeOf(row).outcomeReason,
});

export const mppPaymentDetailWire = (row: Row, { decoded, body }: OpenedAnswer): MppPaymentDetailWire => ({
  ...mppPaymentWire(row),
  receipt: decoded,
  merchantBody: body,
});
