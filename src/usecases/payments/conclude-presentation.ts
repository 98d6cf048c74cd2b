/**
 * Records what the merchant answered to a presented credential, or that it gave no answer in time. The charge settles the
 * payment where it is known; without one a receipt completes the intent, and any other answer leaves it open or refused.
 * @module
 */
import type { Tx } from '../../db/tx.ts';
import { jsonOf } from '../../domains/payments/mpp/challenge.wire.ts';
import { longestReceiptBytes, readReceipt } from '../../domains/payments/mpp/credential.wire.ts';
import { merchantBodyWire } from '../../domains/payments/mpp-payments/merchant-body.wire.ts';
import type { MppPaymentRow } from '../../domains/payments/mpp-payments/mpp-payment.entity.ts';
import { mppPaymentOf } from '../../domains/payments/mpp-payments/mpp-payment.queries.ts';
import {
  answerDueAt,
  commandAfterAnswer,
  type MerchantSays,
  merchantSays,
  takesReceipt,
} from '../../domains/payments/mpp-payments/mpp-payment.rules.ts';
import {
  bodyContext,
  changeMppPayment,
  changeMppPaymentAtOnce,
  type KeptReceipt,
  keepMerchantAnswer,
  lockMppPaymentWithIntent,
  type MerchantAnswer,
  receiptContext,
} from '../../domains/payments/mpp-payments/mpp-payment.service.ts';
import type { PresentedAnswer } from '../../domains/payments/mpp-payments/paid-resource.port.ts';
import { untimelyMessageOfNow } from '../../domains/payments/network/network-clock.service.ts';
import { lockIntent } from '../../domains/spending/intents/intent.lock.service.ts';
import { newId } from '../../kernel/ids.ts';
import { lengthInWords } from '../../kernel/instant.ts';
import type { Cause } from '../../platform/cause.ts';
import { completePaidIntent } from './complete-paid-intent.ts';
import { causeOfStep, refusal, type StepDeps } from './mpp-payment-step.ts';

type Row = Readonly<MppPaymentRow>;
export type Presented = { readonly answer: PresentedAnswer; readonly challengeId: string };

/** The first answer of the merchant stays. */
export async function recordAnswer(deps: StepDeps, row: Row, { answer, challengeId }: Presented): Promise<Row> {
  if (answer.outcome === 'answered') {
    const receipt = receiptOf(answer, challengeId);
    const [sealed, found, cause] = await Promise.all([
      seal(deps, row.id, answer, receipt),
      mppPaymentOf(deps.database.read(), row.id),
      causeOfStep(deps, row, 'answer'),
    ]);
    const says = merchantSays(answer.status, receipt?.receipt != null);
    const settled = await settleAtOnce(deps, found, sealed, cause);
    if (settled !== undefined) return settled;
    return deps.database.write(async (tx) => {
      const locked = await lockMppPaymentWithIntent(tx, row);
      return conclude(tx, locked, says, { cause, real: new Date(), answer: sealed });
    });
  }
  const cause = await causeOfStep(deps, row, 'no_answer');
  return deps.database.write(async (tx) => {
    const locked = await lockMppPaymentWithIntent(tx, row);
    const real = new Date();
    if (answer.outcome === 'no_answer') return conclude(tx, locked, 'nothing', { cause, real });
    const why = refusal(answer.reason, unsentInWords[answer.reason]);
    // Nothing has left Bursar, so no one can have charged.
    return changeMppPayment(tx, locked, 'withhold', why, cause, { real });
  });
}

/** Mostly the network has approved the charge before the merchant answers: then one statement settles the payment. */
async function settleAtOnce(
  { database }: StepDeps,
  row: Row,
  answer: MerchantAnswer,
  cause: Cause,
): Promise<Row | undefined> {
  if (row.status !== 'presenting' || row.chargeOutcome !== 'approved') return undefined;
  return changeMppPaymentAtOnce(database.read(), row, 'pay', {}, cause, { real: new Date(), answer });
}

const unsentInWords = {
  address_refused: 'the address of the merchant may not be connected to any more',
  unreachable: 'the merchant could not be connected to',
} as const;

type Answered = Extract<PresentedAnswer, { outcome: 'answered' }>;

/** Only with a delivery; on a refusal it means nothing. */
const receiptOf = ({ status, receipt }: Answered, challengeId: string): KeptReceipt | undefined =>
  merchantSays(status, false) === 'delivered' ? keptReceipt(receipt ?? '', challengeId) : undefined;

async function seal(
  { vault }: StepDeps,
  id: string,
  { status, body }: Answered,
  receipt: KeptReceipt | undefined,
): Promise<MerchantAnswer> {
  return {
    merchantStatus: status,
    sealedReceipt: receipt === undefined ? null : await vault.seal(JSON.stringify(receipt), receiptContext(id)),
    sealedBody: await vault.seal(JSON.stringify(merchantBodyWire(body)), bodyContext(id)),
  };
}

/**
 * A receipt that Bursar cannot decode is kept as it is; one that is for another payment proves nothing about this one,
 * and is not kept.
 */
function keptReceipt(raw: string, challengeId: string): KeptReceipt | undefined {
  if (raw === '' || raw.length > longestReceiptBytes) return undefined;
  const reading = readReceipt(raw, challengeId);
  if (reading.ok) return { raw, receipt: reading.receipt };
  return jsonOf(raw) === undefined ? { raw, receipt: null } : undefined;
}

/** `answer`: as it is kept; undefined where none came. */
type Conclusion = { readonly cause: Cause; readonly real: Date; readonly answer?: MerchantAnswer };

async function conclude(tx: Tx, row: Row, says: MerchantSays, conclusion: Conclusion): Promise<Row> {
  const chargeOutcome = row.chargeOutcome ?? null;
  const { cause, ...options } = conclusion;
  if (says === 'receipted' && chargeOutcome === null) {
    return takesReceipt({ status: row.status, chargeOutcome })
      ? settleByReceipt(tx, row, conclusion)
      : keepMerchantAnswer(tx, row, cause, options);
  }
  const command = commandAfterAnswer(chargeOutcome, says);
  const merchantStatus = row.merchantStatus ?? options.answer?.merchantStatus ?? null;
  const reason = await reasonOf(tx, { ...row, merchantStatus }, command);
  return changeMppPayment(tx, row, command, reason, cause, options);
}

/** The network has not asked yet. Its charge is linked to the transaction when it comes. */
async function settleByReceipt(tx: Tx, row: Row, { cause, ...options }: Conclusion): Promise<Row> {
  const { amountCents = null, credentialId } = row;
  const paid = { id: newId('transaction'), credentialId, amountCents };
  const transactionId = await completePaidIntent(tx, await lockIntent(tx, row.intentId), paid, cause);
  const change = { chargeOutcome: 'approved', chargeSource: 'receipt', transactionId } as const;
  return changeMppPayment(tx, row, 'pay', change, cause, options);
}

/** The charge says why it was declined; without a charge it was the merchant, or the network could not be heard. */
async function reasonOf(tx: Tx, row: Row, command: ReturnType<typeof commandAfterAnswer>) {
  if (command === 'lose') {
    const outcomeReason = await whyUnheard(tx);
    return outcomeReason === undefined ? {} : { outcomeCode: 'network_unheard', outcomeReason };
  }
  if (command !== 'decline') return {};
  if (row.chargeOutcome != null)
    return { outcomeCode: row.chargeCode ?? null, outcomeReason: row.chargeReason ?? null };
  const answered = `the merchant answered ${row.merchantStatus} to the credential`;
  const unheard = await whyUnheard(tx);
  return {
    outcomeCode: 'merchant_declined',
    outcomeReason: unheard === undefined ? answered : `${answered}; ${unheard}`,
  };
}

/** Its authorization may have been among the messages that the API refused. */
async function whyUnheard(tx: Tx): Promise<string | undefined> {
  const apartMs = await untimelyMessageOfNow(tx);
  if (apartMs === undefined) return undefined;
  const apart = `${lengthInWords(Math.abs(apartMs))} ${apartMs > 0 ? 'ahead of' : 'behind'}`;
  return `meanwhile a message of the card network was refused, because the clock of the API is ${apart} the network's`;
}

/** The merchant's time to answer is up. A credential that was not sent by now is not sent any more. */
export const endPresentation =
  (deps: StepDeps) =>
  async (paymentId: string): Promise<Row> => {
    const row = await mppPaymentOf(deps.database.read(), paymentId);
    const cause = await causeOfStep(deps, row, 'no_answer');
    return deps.database.write(async (tx) => {
      const locked = await lockMppPaymentWithIntent(tx, row);
      const real = new Date();
      const dueAt = answerDueAt({ sentAt: locked.sentAt ?? null, sendUntil: locked.sendUntil ?? null });
      if (locked.status !== 'presenting' || dueAt === null || dueAt > real.getTime()) return locked;
      if (locked.sentAt != null) return conclude(tx, locked, 'nothing', { cause, real });
      const why = refusal('not_sent', 'the credential was not sent in time');
      return changeMppPayment(tx, locked, 'withhold', why, cause, { real });
    });
  };
