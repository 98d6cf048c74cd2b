/** execute at targets that answer 402, from the API through both workflows to the merchant and the network and back. @module */
import { describe, expect, test } from '@jest/globals';
import { createClient, type Refused, sendTo } from '../../../src/client/client.ts';
import { checkoutArea } from '../../../src/domains/payments/checkout/checkout.contract.ts';
import { mppPaymentsArea } from '../../../src/domains/payments/mpp-payments/mpp-payment.contract.ts';
import { eventNamesOf } from '../../support/events.ts';
import { type MachinePayments, useMachinePayments } from '../../support/machine-payments.ts';
import { deliver, demand, receiptFor } from '../../support/paying-merchant.ts';
import { anIntent, balancesOf, brokenInvariants, type Payer } from '../../support/payments-world.ts';
import { eventually } from '../../support/world.ts';

let w: MachinePayments['w'];
let merchant: MachinePayments['merchant'];
let network: MachinePayments['network'];
useMachinePayments((started) => {
  ({ w, merchant, network } = started);
});

const ready = async (over: Parameters<typeof anIntent>[2] = { merchant: null }) => {
  const payer = await w.payer({ policy: { require_intent: true }, fundsCents: 5_000 });
  return { payer, intentId: await anIntent(w.world, payer, over) };
};
const execute = (token: string, intentId: string, targetUrl: string, key: string = crypto.randomUUID()) =>
  createClient(checkoutArea, sendTo(w.apiUrl, token)).executeCheckout({
    body: { intentId, targetUrl },
    headers: { 'Idempotency-Key': key },
  });
/** With the header that tells a repeat. */
async function raw(token: string, intentId: string, targetUrl: string, key: string) {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', 'Idempotency-Key': key };
  const body = JSON.stringify({ intentId, targetUrl });
  const answer = await fetch(`${w.apiUrl}/v1/checkout/execute`, { method: 'POST', headers, body });
  return { status: answer.status, isReplayed: answer.headers.has('Idempotent-Replayed'), body: await answer.json() };
}
const payments = (token: string) => createClient(mppPaymentsArea, sendTo(w.apiUrl, token));
const pay = ({ token, cardId }: Payer, intentId: string, url: string) =>
  payments(token).payAtMerchant({ body: { url, intentId, cardId } });
const rowsOf = async (intentId: string) => ({
  checkouts: await w.world.sql(
    'select id, status, outcome_code, mpp_payment_id, transaction_id from checkouts where intent_id = $1 order by created_at',
    [intentId],
  ),
  payments: await w.world.sql('select id, status from mpp_payments where intent_id = $1 order by created_at', [
    intentId,
  ]),
  transactions: await w.world.sql('select id, status, rail from transactions where intent_id = $1', [intentId]),
});
const statusOf = async (intentId: string) =>
  (await w.world.sql('select status from intents where id = $1', [intentId]))[0]?.status;

/** The merchant charges the token by the network, and delivers. */
const chargesAndDelivers = (payer: Payer) =>
  merchant.answers(async (response, { paymentToken, challengeId }) => {
    const { body } = await network.authorize(payer, { token: paymentToken });
    if (body.decision === 'approved') deliver(response, { receipt: receiptFor(challengeId) });
    else demand(response, [merchant.challenge()]);
  });

describe('a target that answers 402', () => {
  test('is paid with one credential; the payment has the receipt and the body, and the clearing completes the intent', async () => {
    const { payer, intentId } = await ready({ merchant: 'm_sandbox_api' });
    const targetUrl = `${w.sandboxUrl}/paid/sandbox-api?amountCents=1250`;
    const answer = await execute(payer.token, intentId, targetUrl);
    expect(answer).toEqual({
      success: true,
      checkoutId: expect.stringMatching(/^chk_/),
      status: 'paid',
      transactionId: expect.stringMatching(/^tx_/),
      intentId,
      amountEuros: 12.5,
      targetUrl,
      cardId: payer.cardId,
      reason: null,
      paymentId: expect.stringMatching(/^mpay_/),
    });
    const detail = await payments(payer.token).getMppPayment({ params: { id: answer.paymentId as 'mpay_x' } });
    expect(detail).toMatchObject({
      status: 'paid',
      url: targetUrl,
      transactionId: answer.transactionId,
      receipt: { method: 'card' },
      merchantBody: { report: 'paid content', merchant: 'sandbox-api' },
    });
    await eventually(
      () => statusOf(intentId),
      (status) => status === 'completed',
    );
    expect(await balancesOf(w.world, payer)).toEqual({ available: 3_750, held: 0, receivable: 0 });
    expect(await rowsOf(intentId)).toEqual({
      checkouts: [
        {
          id: answer.checkoutId,
          status: 'handed_over',
          outcome_code: null,
          mpp_payment_id: answer.paymentId,
          transaction_id: null,
        },
      ],
      payments: [{ id: answer.paymentId, status: 'paid' }],
      transactions: [{ id: answer.transactionId, status: 'completed', rail: 'mpp' }],
    });
    const names = await eventNamesOf(w.world, payer.owner.ownerId);
    for (const name of ['mpp.payment.created', 'mpp.credential.minted', 'mpp.payment.updated'])
      expect(names.filter((one) => one === name)).toHaveLength(1);
    expect(
      await w.world.sql(
        `select from_status, to_status from transitions where row_id = $1 order by to_status = 'handed_over'`,
        [answer.checkoutId],
      ),
    ).toEqual([
      { from_status: null, to_status: 'open' },
      { from_status: 'open', to_status: 'handed_over' },
    ]);
    expect(
      await w.world.sql(`select id from workflow_runs where is_open and subject_id = any($1)`, [
        [answer.checkoutId, answer.paymentId],
      ]),
    ).toEqual([]);
  });

  test('the same key finds the same payment, and the credential is presented once', async () => {
    const { payer, intentId } = await ready();
    chargesAndDelivers(payer);
    const url = `${merchant.origin}/report`;
    const first = await execute(payer.token, intentId, url, 'one-key');
    expect(await execute(payer.token, intentId, url, 'one-key')).toEqual(first);
    expect(await raw(payer.token, intentId, url, 'one-key')).toMatchObject({ status: 200, isReplayed: true });
    expect(merchant.presentations).toHaveLength(1);
    expect((await rowsOf(intentId)).transactions).toHaveLength(1);
  });

  test('a repeat of an accepted payment answers with what became of it', async () => {
    const { payer, intentId } = await ready();
    let token = '';
    merchant.answers((response, { paymentToken }) => {
      token = paymentToken;
      deliver(response, {});
    });
    const url = `${merchant.origin}/x`;
    const first = await raw(payer.token, intentId, url, 'moves-on');
    expect(first).toMatchObject({ status: 200, isReplayed: false, body: { status: 'accepted', transactionId: null } });
    const { body: charge } = await network.authorize(payer, { token });
    expect(await raw(payer.token, intentId, url, 'moves-on')).toMatchObject({
      status: 200,
      isReplayed: true,
      body: { status: 'paid', transactionId: charge.transactionId },
    });
    expect(merchant.presentations).toHaveLength(1);
  });

  test('delivered without a charge or a receipt: accepted, and no other payment of the intent until it is settled', async () => {
    const { payer, intentId } = await ready();
    merchant.answers((response) => deliver(response, {}));
    const answer = await execute(payer.token, intentId, `${merchant.origin}/x`);
    expect(answer).toMatchObject({ success: true, status: 'accepted', transactionId: null, amountEuros: 12.5 });
    for (const again of [execute, (_token: string, ...rest: [string, string]) => pay(payer, ...rest)]) {
      await expect(again(payer.token, intentId, `${merchant.origin}/x`)).rejects.toMatchObject({
        status: 400,
        message: expect.stringContaining(`${answer.paymentId} of this intent is accepted`),
      });
    }
    expect(merchant.presentations).toHaveLength(1);
  });

  test('the merchant refuses the credential: 200 without success, and the intent stays approved', async () => {
    const { payer, intentId } = await ready();
    merchant.answers((response) => demand(response, [merchant.challenge()]));
    expect(await execute(payer.token, intentId, `${merchant.origin}/x`)).toMatchObject({
      success: false,
      status: 'declined',
      transactionId: null,
      reason: expect.any(String),
    });
    expect(await statusOf(intentId)).toBe('approved');
    // The merchant still has the credential.
    await expect(execute(payer.token, intentId, w.shop('sandbox-shop', 1_250))).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/credential mppc_\w+ of this intent is valid until/),
    });
    expect((await rowsOf(intentId)).transactions).toEqual([]);
  });

  test('an unknown outcome: 503 that names the payment, and the repeat finds what became of it', async () => {
    const { payer, intentId } = await ready();
    let token = '';
    merchant.answers((response, { paymentToken }) => {
      token = paymentToken;
      response.destroy();
    });
    const url = `${merchant.origin}/x`;
    const error = await execute(payer.token, intentId, url, 'unknown').catch((refused: Refused) => refused);
    const [payment] = (await rowsOf(intentId)).payments;
    expect(error).toMatchObject({ status: 503 });
    expect((error as Refused).headers.get('X-Service-Payment-Id')).toBe(payment?.id);
    expect((error as Refused).headers.get('Retry-After')).toMatch(/^\d+$/);
    expect(await network.authorize(payer, { token })).toMatchObject({ body: { decision: 'approved' } });
    expect(await execute(payer.token, intentId, url, 'unknown')).toMatchObject({
      success: true,
      status: 'paid',
      paymentId: payment?.id,
    });
    expect(merchant.presentations).toHaveLength(1);
    const { checkouts, transactions } = await rowsOf(intentId);
    expect([checkouts.length, transactions.length]).toEqual([1, 1]);
  });

  test('20 calls of execute and pay at once for one intent: one of them pays', async () => {
    const { payer, intentId } = await ready();
    merchant.answers(async (response, { paymentToken, challengeId }) => {
      await network.authorize(payer, { token: paymentToken });
      deliver(response, { receipt: receiptFor(challengeId) });
    });
    const shop = w.shop('sandbox-shop', 1_250);
    const answers = await Promise.allSettled(
      Array.from({ length: 20 }, async (_, index) => {
        if (index % 3 === 0) return pay(payer, intentId, `${merchant.origin}/${index}`);
        return execute(payer.token, intentId, index % 3 === 1 ? `${merchant.origin}/${index}` : shop);
      }),
    );
    const paid = answers.filter(({ status }) => status === 'fulfilled');
    expect(paid).toHaveLength(1);
    for (const answer of answers)
      if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ status: 400 });
    const rows = await rowsOf(intentId);
    expect(rows.transactions).toHaveLength(1);
    expect(rows.checkouts.length + rows.payments.length - rows.checkouts.filter((c) => c.mpp_payment_id).length).toBe(
      1,
    );
    expect(merchant.presentations.length).toBe(rows.payments.length);
  });

  test('while the checkout is open, pay is refused; with the worker back it is handed over once', async () => {
    const { payer, intentId } = await ready();
    chargesAndDelivers(payer);
    await w.stopWorker();
    const url = `${merchant.origin}/x`;
    const executing = execute(payer.token, intentId, url, 'late').catch((refused: Refused) => refused);
    await eventually(
      async () => (await rowsOf(intentId)).checkouts.length,
      (count) => count === 1,
    );
    await expect(pay(payer, intentId, url)).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/checkout chk_\w+ of this intent is under way/),
    });
    await w.startWorker();
    await executing;
    expect(await execute(payer.token, intentId, url, 'late')).toMatchObject({ success: true, status: 'paid' });
    expect(merchant.presentations).toHaveLength(1);
    expect((await rowsOf(intentId)).transactions).toHaveLength(1);
  });
});

test('the reconciliation finds an intent that is paid twice at once, and a payment for something else', async () => {
  const { payer, intentId } = await ready();
  merchant.answers((response) => deliver(response, {}));
  const { checkoutId, paymentId } = await execute(payer.token, intentId, `${merchant.origin}/x`);
  expect(await brokenInvariants(w.world)).toEqual([]);
  await w.world.sql(`update checkouts set target_url = 'https://other.example/' where id = $1`, [checkoutId]);
  await w.world.sql(
    `insert into checkouts (id, owner_id, agent_id, intent_id, card_id, target_url, status, request_id, created_at, updated_at)
     select 'chk_planted1', owner_id, agent_id, intent_id, card_id, url, 'open', 'req', now(), now()
     from mpp_payments where id = $1`,
    [paymentId],
  );
  expect(await brokenInvariants(w.world)).toEqual([
    ['payments of one intent under way', { intentId, checkoutId: 'chk_planted1', paymentId }],
    ['checkouts that were handed over', { id: checkoutId, paymentId }],
  ]);
  await w.world.sql(`delete from checkouts where id = 'chk_planted1'`);
  await w.world.sql(
    'update checkouts c set target_url = p.url from mpp_payments p where p.id = c.mpp_payment_id and c.id = $1',
    [checkoutId],
  );
});

describe('nothing is sent', () => {
  const refused = async (
    { payer, intentId }: Awaited<ReturnType<typeof ready>>,
    [message, status = 400]: readonly [RegExp, number?],
    url = `${merchant.origin}/x`,
  ) => {
    await expect(execute(payer.token, intentId, url)).rejects.toMatchObject({
      status,
      message: expect.stringMatching(message),
    });
    expect(merchant.presentations).toEqual([]);
    expect((await rowsOf(intentId)).transactions).toEqual([]);
    expect(await balancesOf(w.world, payer)).toEqual({ available: 5_000, held: 0, receivable: 0 });
    expect(await statusOf(intentId)).toBe('approved');
  };

  test('for a higher price than the intent allows: the payment says so, and the intent can be paid again', async () => {
    const order = await ready();
    merchant.demands(() => [merchant.challenge({ amount: '1251' })]);
    await refused(order, [/expects 12\.50, asked 12\.51/]);
    expect((await rowsOf(order.intentId)).payments).toMatchObject([{ status: 'refused' }]);
  });

  test('where a rule of the policy forbids it: 403', async () => {
    const order = await ready();
    await w.world.sql('update policies set daily_limit_cents = 1249, version = version + 1 where id = $1', [
      order.payer.policyId,
    ]);
    await refused(order, [/rule daily_limit/, 403]);
  });

  test('for a 402 without a challenge by card: no payment is begun', async () => {
    const order = await ready();
    merchant.demands(() => [merchant.challenge({ method: 'tempo' })]);
    await refused(order, [/offers only tempo\/charge; Bursar pays with card\/charge/]);
    merchant.demands(() => [merchant.challenge({ expires: '2020-01-01T00:00:00Z' })]);
    await refused(order, [/expired/]);
    merchant.demands(() => ['Basic realm="shop"']);
    await refused(order, [/offers no payment method Bursar speaks/]);
    merchant.respondsWith((_request, response) => void response.writeHead(402).end('{"x402Version":1,"accepts":[]}'));
    await refused(order, [/offers only x402 \(a cryptocurrency\)/]);
    const { payments: begun, checkouts } = await rowsOf(order.intentId);
    expect(begun).toEqual([]);
    expect(checkouts.map(({ outcome_code: code }) => code)).toEqual([
      ...['other_method', 'no_challenge', 'not_an_offer'],
      'other_method',
    ]);
  });

  test('where the intent has had as many payments as the limit allows', async () => {
    const order = await ready();
    await w.world.sql(
      `insert into owner_limits (owner_id, name, most, updated_at) values ($1, 'mpp_payments', 1, now())`,
      [order.payer.owner.ownerId],
    );
    merchant.demands(() => [merchant.challenge({ amount: '1251' })]);
    await refused(order, [/expects 12\.50/]);
    await refused(order, [/1 machine payments of this intent, and 1 is the limit/]);
    expect((await rowsOf(order.intentId)).checkouts).toMatchObject([
      { status: 'handed_over' },
      { status: 'refused', outcome_code: 'payment_limit' },
    ]);
  });
});

test('another agent of the owner, and another owner, reach neither the intent nor the payment', async () => {
  const { payer, intentId } = await ready();
  chargesAndDelivers(payer);
  const { paymentId } = await execute(payer.owner.key, intentId, `${merchant.origin}/x`);
  const sibling = await w.payer({ owner: payer.owner });
  const stranger = await w.payer();
  const params = { id: paymentId as 'mpay_x' };
  await expect(execute(sibling.token, intentId, `${merchant.origin}/x`)).rejects.toMatchObject({ status: 403 });
  await expect(execute(stranger.token, intentId, `${merchant.origin}/x`)).rejects.toMatchObject({ status: 404 });
  await expect(payments(sibling.token).getMppPayment({ params })).rejects.toMatchObject({ status: 403 });
  await expect(payments(stranger.token).getMppPayment({ params })).rejects.toMatchObject({ status: 404 });
});
