/**
 * Settles a machine payment whose credential was presented: by the charge that the network's authorization or the
 * merchant's verify wrote to the row, or by seven days of silence. Sends nothing.
 * @module
 */
import type { MppPaymentRow } from '../../domains/payments/mpp-payments/mpp-payment.entity.ts';
import { mppPaymentOf } from '../../domains/payments/mpp-payments/mpp-payment.queries.ts';
import { givenUpAt, settlementOf } from '../../domains/payments/mpp-payments/mpp-payment.rules.ts';
import { changeMppPayment, lockMppPaymentWithIntent } from '../../domains/payments/mpp-payments/mpp-payment.service.ts';
import { progressOf } from '../../domains/payments/mpp-payments/mpp-payment.state.ts';
import { causeOfStep, type StepDeps } from './mpp-payment-step.ts';

type Row = Readonly<MppPaymentRow>;

/** The charge is on the row already. This makes it the state of the payment, with its event. */
export const recordCharge =
  (deps: StepDeps) =>
  async (paymentId: string): Promise<Row> => {
    const found = await mppPaymentOf(deps.database.read(), paymentId);
    const cause = await causeOfStep(deps, found, 'charge', { kind: 'network' });
    return deps.database.write(async (tx) => {
      const row = await lockMppPaymentWithIntent(tx, found);
      const command = settlementOf(progressOf(row));
      if (command === undefined) return row;
      const why =
        command === 'decline'
          ? { outcomeCode: row.chargeCode ?? null, outcomeReason: row.chargeReason ?? null }
          : { outcomeCode: null, outcomeReason: null };
      // A declined payment can be charged later: the second settlement has a separate cause.
      const own = { ...cause, causeId: `${cause.causeId}:${command}` };
      return changeMppPayment(tx, row, command, why, own, { real: new Date() });
    });
  };

/** No one has said anything for seven days after the credential's end: it counts as not paid. */
export const endSilence =
  (deps: StepDeps) =>
  async (paymentId: string): Promise<Row> => {
    const found = await mppPaymentOf(deps.database.read(), paymentId);
    const cause = await causeOfStep(deps, found, 'silence', { kind: 'deadline' });
    return deps.database.write(async (tx) => {
      const row = await lockMppPaymentWithIntent(tx, found);
      const isDue = row.presentedAt != null && givenUpAt(row.presentedAt) <= cause.at;
      if (!isDue || settlementOf(progressOf(row)) !== undefined) return row;
      const outcomeReason = 'neither the network nor the merchant reported a charge within seven days';
      return changeMppPayment(tx, row, 'giveUp', { outcomeCode: 'not_paid', outcomeReason }, cause, {
        real: new Date(),
      });
    });
  };
