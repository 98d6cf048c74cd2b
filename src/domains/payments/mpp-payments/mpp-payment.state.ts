/** A row of a machine payment as the rules take it, and as its workflow follows it. No decision is made here. @module */
import type { RowState } from '../../../kernel/row-state.ts';
import type { MppPaymentRow } from './mpp-payment.entity.ts';
import type { MppPaymentView } from './mpp-payment.messages.ts';
import { type MppOutcome, payResult } from './mpp-payment.outcome.rules.ts';
import {
  givenUpAt,
  type MppPaymentDue,
  type MppPaymentFact,
  type MppPaymentProgress,
  mppPaymentFacts,
  settlementOf,
  type TwoClocks,
  waitsForCharge,
} from './mpp-payment.rules.ts';

type Row = Readonly<MppPaymentRow>;

export const progressOf = (row: Row): MppPaymentProgress => ({
  status: row.status,
  chargeOutcome: row.chargeOutcome ?? null,
  sendUntil: row.sendUntil ?? null,
  sentAt: row.sentAt ?? null,
  presentedAt: row.presentedAt ?? null,
});

/** A charge that the workflow has not recorded yet gives the reason already. */
export function outcomeOf(row: Row): MppOutcome {
  const progress = progressOf(row);
  const isCharged = settlementOf(progress) !== undefined;
  return {
    status: row.status,
    chargeOutcome: progress.chargeOutcome,
    chargeSource: row.chargeSource ?? null,
    outcomeCode: (isCharged ? declineOf(row).code : row.outcomeCode) ?? null,
    outcomeReason: (isCharged ? declineOf(row).reason : row.outcomeReason) ?? null,
    merchantStatus: row.merchantStatus ?? null,
    presentedAt: progress.presentedAt,
  };
}

/** Why the charge was declined; nothing of an approved one. */
const declineOf = ({ chargeOutcome, chargeCode, chargeReason }: Row) =>
  chargeOutcome === 'declined' ? { code: chargeCode, reason: chargeReason } : { code: null, reason: null };

export function mppPaymentState(row: Row, now: TwoClocks): RowState<MppPaymentView, MppPaymentFact, MppPaymentDue> {
  const facts = mppPaymentFacts(progressOf(row), now);
  const silentFrom = waitsForCharge(row.status) ? row.presentedAt : undefined;
  return {
    version: row.version,
    ...facts,
    view: {
      paymentId: row.id,
      intentId: row.intentId,
      agentId: row.agentId,
      status: row.status,
      amountCents: row.amountCents ?? null,
      chargeOutcome: row.chargeOutcome ?? null,
      transactionId: row.transactionId ?? null,
      merchantStatus: row.merchantStatus ?? null,
      code: row.outcomeCode ?? null,
      givenUpAt: silentFrom == null ? null : givenUpAt(silentFrom).toISOString(),
      isAnswered: payResult(outcomeOf(row)).kind !== 'unknown',
    },
  };
}
