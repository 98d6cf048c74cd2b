/**
 * Goal: a machine payment whose outcome is unknown is never paid again, and ends by the network, an operator or time.
 * Method: the API, the real workflow and database; the merchant is the test's, and lost runs are arranged in the rows.
 * @module
 */
import { describe, expect, test } from '@jest/globals';
import { createClient, type Refused, sendTo } from '../../../src/client/client.ts';
import { checkoutArea } from '../../../src/domains/payments/checkout/checkout.contract.ts';
import { purgeMppBodies } from '../../../src/domains/payments/mpp-payments/mpp-body.purge.ts';
import { mppPaymentsArea } from '../../../src/domains/payments/mpp-payments/mpp-payment.contract.ts';
import { credentialLivesMs, silenceMs } from '../../../src/domains/payments/mpp-payments/mpp-payment.rules.ts';
import { intentsArea } from '../../../src/domains/spending/intents/intent.contract.ts';
import { hour } from '../../../src/kernel/instant.ts';
import { eventNamesOf } from '../../support/events.ts';
import { type MachinePayments, useMachinePayments } from '../../support/machine-payments.ts';
import { deliver, receiptFor } from '../../support/paying-merchant.ts';
import { anIntent, balancesOf, inDatabase, type Payer } from '../../support/payments-world.ts';
import { eventually } from '../../support/world.ts';

let w: MachinePayments['w'];
let merchant: MachinePayments['merchant'];
let network: MachinePayments['network'];
useMachinePayments((started) => {
  ({ w, merchant, network } = started);
});

type Paid = { readonly payer: Payer; readonly intentId: `int_${string}`; readonly key: string };

const client = (token: string) => createClient(mppPaymentsArea, sendTo(w.apiUrl, token));
const aPayment = async (): Promise<Paid> => {
  const payer = await w.payer({ policy: { require_intent: true }, fundsCents: 5_000 });
  return { payer, intentId: await anIntent(w.world, payer, { merchant: null }), key: crypto.randomUUID() };
};
const aRecurringPayment = async (): Promise<Paid> => {
  const { payer, key } = await aPayment();
  const purchase = { purpose: 'music', expectedAmountEuros: 12.5, recurring: { cadence: 'monthly' } } as const;
  const { id } = await createClient(intentsArea, sendTo(w.apiUrl, payer.token)).declareIntent({ body: purchase });
  return { payer, intentId: id as Paid['intentId'], key };
};
const pay = ({ payer, intentId, key }: Paid) =>
  client(payer.token)
    .payAtMerchant({
      body: { url: `${merchant.origin}/report`, intentId, cardId: payer.cardId },
      headers: { 'Idempotency-Key': key },
    })
    .catch((error: Refused) => error);
const paymentOf = async ({ payer, intentId }: Paid) => {
  const { data } = await client(payer.token).listMppPayments({ query: { intentId } });
  return data[0];
};
const reaching = (paid: Paid, status: string) =>
  eventually(
    () => paymentOf(paid),
    (payment) => payment?.status === status,
  );
const resolveAs = async ({ payer }: Pick<Paid, 'payer'>, id: string, outcome: 'paid' | 'not-paid') => {
  const answer = await fetch(`${w.apiUrl}/v1/mpp/payments/${id}/resolve`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'X-Dashboard-Secret': w.world.dashboardSecret,
      'X-Owner-Id': payer.owner.ownerId,
    },
    body: JSON.stringify({ outcome, reason: 'the merchant wrote so' }),
  });
  return {
    status: answer.status,
    body: (await answer.json()) as { status: string; transactionId?: string; error?: string },
  };
};
const resolve = async (paid: Paid, outcome: 'paid' | 'not-paid') =>
  resolveAs(paid, (await paymentOf(paid))?.id ?? '', outcome);
const transactionsOf = ({ intentId }: Paid) =>
  w.world.sql('select id, status, held_cents from transactions where intent_id = $1', [intentId]);
const windowsOf = async ({ payer, intentId }: Paid) => {
  const intents = createClient(intentsArea, sendTo(w.apiUrl, payer.token));
  const { data } = await intents.listIntentWindows({ params: { id: intentId } });
  return data.map(({ status, transactionId }) => [status, transactionId]);
};
/** As if five minutes had passed, after which an intent may have another credential. */
const endCredentials = ({ intentId }: Paid) =>
  w.world.sql(`update mpp_credentials set expires_at = now() - interval '1 second' where intent_id = $1`, [intentId]);
const intentStatus = async ({ intentId }: Paid) =>
  (await w.world.sql('select status from intents where id = $1', [intentId]))[0]?.status;
const countOf = async ({ payer }: Paid, name: string) =>
  (await eventNamesOf(w.world, payer.owner.ownerId)).filter((one) => one === name).length;
const hangsUp = () => merchant.answers((response) => response.destroy());
const deliversUncharged = () => merchant.answers((response) => deliver(response, {}));

describe('a merchant that takes the credential and hangs up', () => {
  test('is 503 with the payment’s id; the intent is paid in no other way; the network settles it', async () => {
    const paid = await aPayment();
    hangsUp();
    const refusal = (await pay(paid)) as Refused;
    const open = await paymentOf(paid);
    expect(refusal).toMatchObject({ status: 503, message: expect.stringContaining(`${open?.id} is not known yet`) });
    expect(refusal.headers.get('x-service-payment-id')).toBe(open?.id);
    expect(Number(refusal.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(open).toMatchObject({
      status: 'unknown',
      merchantStatus: null,
      known: 'The merchant gave no answer, so it is not known whether it charged the card.',
      next: expect.stringMatching(/counts as not paid on 20.*It is never paid again/),
    });

    const { payer, intentId } = paid;
    const other = { ...paid, key: crypto.randomUUID() };
    expect(await pay(other)).toMatchObject({ status: 400, message: expect.stringContaining(open?.id ?? '-') });
    const checkout = createClient(checkoutArea, sendTo(w.apiUrl, payer.token));
    const targetUrl = w.shop('sandbox-shop', 1_250);
    await expect(checkout.executeCheckout({ body: { intentId, targetUrl } })).rejects.toMatchObject({ status: 400 });
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    await expect(checkout.confirmCheckout({ body: { intentId }, headers })).rejects.toMatchObject({ status: 400 });
    expect(merchant.presentations).toHaveLength(1);

    await network.authorize(payer, { token: merchant.presentations[0]?.paymentToken });
    await reaching(paid, 'paid');
    expect(await pay(paid)).toMatchObject({ status: 'paid', merchant_status: 0, receipt: '', merchant_body: {} });
    expect(await transactionsOf(paid)).toHaveLength(1);
    expect(merchant.presentations).toHaveLength(1);
    await eventually(
      () => countOf(paid, 'mpp.payment.updated'),
      (count) => count === 2,
    );
  });

  test('a declined charge settles it as declined', async () => {
    const paid = await aPayment();
    hangsUp();
    void pay(paid);
    await reaching(paid, 'unknown');
    await network.authorize(paid.payer, { token: merchant.presentations[0]?.paymentToken, amountCents: 1_251 });
    await reaching(paid, 'declined');
    expect((await paymentOf(paid))?.reason).toMatch(/12\.50, asked 12\.51/);
    expect(await balancesOf(w.world, paid.payer)).toEqual({ available: 5_000, held: 0, receivable: 0 });
  });
});

describe('an operator', () => {
  test('resolves as not paid: the intent can be paid again, and a charge that comes late still counts once', async () => {
    const paid = await aPayment();
    deliversUncharged();
    expect(await pay(paid)).toMatchObject({ status: 'accepted', receipt: '', merchant_status: 200 });
    expect(await resolve(paid, 'not-paid')).toMatchObject({ status: 200, body: { status: 'not_paid' } });
    expect(await resolve(paid, 'not-paid')).toMatchObject({ status: 400 });
    expect(await intentStatus(paid)).toBe('approved');
    expect(await countOf(paid, 'mpp.payment.resolved')).toBe(1);
    const [audit] = await w.world.sql(
      `select actor, details from audit where owner_id = $1 and action = 'mpp.payment.resolved'`,
      [paid.payer.owner.ownerId],
    );
    expect(audit).toMatchObject({ actor: 'dashboard', details: { status: 'not_paid', note: 'the merchant wrote so' } });
    const late = await network.authorize(paid.payer, { token: merchant.presentations[0]?.paymentToken });
    expect(late.body.decision).toBe('approved');
    await reaching(paid, 'paid');
    expect(await transactionsOf(paid)).toHaveLength(1);
  });

  test('resolves what was answered as delivered: a repeat is refused from then on, and never begins another payment', async () => {
    const paid = await aPayment();
    deliversUncharged();
    expect(await pay(paid)).toMatchObject({ status: 'accepted' });
    expect(await resolve(paid, 'not-paid')).toMatchObject({ status: 200, body: { status: 'not_paid' } });
    await endCredentials(paid);
    for (let repeat = 0; repeat < 3; repeat++) expect(await pay(paid)).toMatchObject({ status: 400 });
    expect(merchant.presentations).toHaveLength(1);
    const { data } = await client(paid.payer.token).listMppPayments({ query: { intentId: paid.intentId } });
    expect(data.map(({ status }) => status)).toEqual(['not_paid']);
  });

  test('resolves as paid: the intent is completed, and the charge is linked, not counted twice', async () => {
    const paid = await aPayment();
    deliversUncharged();
    await pay(paid);
    const { body } = await resolve(paid, 'paid');
    expect(body).toMatchObject({ status: 'paid', transactionId: expect.stringMatching(/^tx_/) });
    expect(await intentStatus(paid)).toBe('completed');
    expect(await balancesOf(w.world, paid.payer)).toEqual({ available: 5_000, held: 0, receivable: 0 });
    const charge = await network.authorize(paid.payer, { token: merchant.presentations[0]?.paymentToken });
    expect(charge.body.decision).toBe('approved');
    expect(await transactionsOf(paid)).toEqual([expect.objectContaining({ held_cents: '1250' })]);
    expect(await paymentOf(paid)).toMatchObject({ status: 'paid', transactionId: charge.body.transactionId });
  });

  test('resolves a payment of a recurring intent: its window is paid for or stays open, and the intent goes on', async () => {
    const paid = await aRecurringPayment();
    deliversUncharged();
    expect(await pay(paid)).toMatchObject({ status: 'accepted' });
    expect(await resolve(paid, 'not-paid')).toMatchObject({ status: 200, body: { status: 'not_paid' } });
    expect(await windowsOf(paid)).toEqual([]);
    await endCredentials(paid);
    const again = { ...paid, key: crypto.randomUUID() };
    expect(await pay(again)).toMatchObject({ status: 'accepted' });
    const { body } = await resolve(again, 'paid');
    expect(body).toMatchObject({ status: 'paid', transactionId: expect.stringMatching(/^tx_/) });
    expect(await windowsOf(paid)).toEqual([['completed', body.transactionId]]);
    expect(await intentStatus(paid)).toBe('approved');
    await endCredentials(paid);
    const third = { ...paid, key: crypto.randomUUID() };
    expect(await pay(third)).toMatchObject({ status: 400, message: expect.stringMatching(/window/) });
    expect(merchant.presentations).toHaveLength(2);
    expect(await transactionsOf(paid)).toHaveLength(1);
  });

  test('resolves nothing that is settled, of another owner, or by an agent', async () => {
    const paid = await aPayment();
    merchant.answers(async (response, { paymentToken, challengeId }) => {
      await network.authorize(paid.payer, { token: paymentToken });
      deliver(response, { receipt: receiptFor(challengeId) });
    });
    await pay(paid);
    expect(await resolve(paid, 'not-paid')).toMatchObject({
      status: 400,
      body: { error: expect.stringMatching(/is paid/) },
    });
    const stranger = await w.payer();
    const id = (await paymentOf(paid))?.id ?? '';
    expect(await resolveAs({ payer: stranger }, id, 'paid')).toMatchObject({ status: 404 });
    const byAgent = await fetch(`${w.apiUrl}/v1/mpp/payments/${id}/resolve`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${paid.payer.token}` },
      body: JSON.stringify({ outcome: 'paid' }),
    });
    expect(byAgent.status).toBe(403);
  });
});

describe('a worker that is lost', () => {
  /** The row as a killed worker leaves it after the mark. */
  const marked = async (paid: Paid, columns: string) => {
    await w.stopWorker();
    void pay(paid);
    await eventually(
      () => w.world.sql('select id from mpp_payments where intent_id = $1', [paid.intentId]),
      (found) => found.length === 1,
    );
    await w.world.sql(
      `update mpp_payments set status = 'presenting', payee_url = url, amount_cents = 1250, currency = 'EUR',
         send_cause = 'mpp-payment/lost/run/answered', presented_at = now(), ${columns} where intent_id = $1`,
      [paid.intentId],
    );
    await w.startWorker();
  };

  test('after it has sent: the outcome is unknown, and nothing is sent', async () => {
    const paid = await aPayment();
    await marked(paid, `send_until = now() - interval '1 minute', sent_at = now() - interval '1 minute'`);
    await reaching(paid, 'unknown');
    expect(merchant.presentations).toEqual([]);
  });

  test('before it has sent: nothing is sent after its time, nothing is spent, and the intent can be paid', async () => {
    const paid = await aPayment();
    await marked(paid, `send_until = now() - interval '1 minute', sent_at = null`);
    await reaching(paid, 'refused');
    expect(await paymentOf(paid)).toMatchObject({ reasonCode: 'not_sent', transactionId: null });
    expect(merchant.presentations).toEqual([]);
    merchant.answers(async (response, { paymentToken, challengeId }) => {
      await network.authorize(paid.payer, { token: paymentToken });
      deliver(response, { receipt: receiptFor(challengeId) });
    });
    expect(await pay({ ...paid, key: crypto.randomUUID() })).toMatchObject({ status: 'paid' });
  });
});

test('the merchant’s answer is kept for a day, and then deleted', async () => {
  const paid = await aPayment();
  deliversUncharged();
  await pay(paid);
  const id = (await paymentOf(paid))?.id as 'mpay_x';
  const bodyOf = async () => (await client(paid.payer.token).getMppPayment({ params: { id } })).merchantBody;
  await inDatabase(w.world, (database) => purgeMppBodies(database, new Date(Date.now() + 23 * hour)));
  expect(await bodyOf()).toEqual({ report: 'paid content' });
  await inDatabase(w.world, (database) => purgeMppBodies(database, new Date(Date.now() + 25 * hour)));
  expect(await bodyOf()).toBeNull();
  expect(await w.world.sql('select 1 from mpp_bodies where payment_id = $1', [id])).toEqual([]);
});

test('without a word for seven days after its end it counts as not paid, with an alert', async () => {
  const paid = await aPayment();
  deliversUncharged();
  await pay(paid);
  await w.world.advance(silenceMs);
  expect(await paymentOf(paid)).toMatchObject({ status: 'accepted' });
  await w.world.advance(credentialLivesMs);
  await reaching(paid, 'not_paid');
  expect(await countOf(paid, 'mpp.payment.unresolved')).toBe(1);
  expect(await balancesOf(w.world, paid.payer)).toEqual({ available: 5_000, held: 0, receivable: 0 });
});
