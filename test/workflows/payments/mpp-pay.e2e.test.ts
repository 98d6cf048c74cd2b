/** Machine payments, from the API through the real workflow to the sandbox's merchants and network and back. @module */
import { describe, expect, test } from '@jest/globals';
import { createClient, type Refused, sendTo } from '../../../src/client/client.ts';
import { mppPaymentsArea } from '../../../src/domains/payments/mpp-payments/mpp-payment.contract.ts';
import type { CheckoutWorld } from '../../support/checkout-world.ts';
import { eventNamesOf } from '../../support/events.ts';
import { type MachinePayments, otherNameOf, useMachinePayments } from '../../support/machine-payments.ts';
import { deliver, demand, pourWithoutEnd, receiptFor } from '../../support/paying-merchant.ts';
import { anIntent, balancesOf, type Payer } from '../../support/payments-world.ts';
import { eventually } from '../../support/world.ts';

let w: MachinePayments['w'];
let merchant: MachinePayments['merchant'];
let network: MachinePayments['network'];
useMachinePayments((started) => {
  ({ w, merchant, network } = started);
});

const buyer = (over: Parameters<CheckoutWorld['payer']>[0] = {}) =>
  w.payer({ policy: { require_intent: true }, fundsCents: 5_000, ...over });
const anyMerchant = { merchant: null };
const client = (token: string) => createClient(mppPaymentsArea, sendTo(w.apiUrl, token));
const pay = (payer: Payer, intentId: string, url: string, key: string = crypto.randomUUID()) =>
  client(payer.token).payAtMerchant({
    body: { url, intentId, cardId: payer.cardId },
    headers: { 'Idempotency-Key': key },
  });
const paymentsOf = (intentId: string) =>
  w.world.sql('select * from mpp_payments where intent_id = $1 order by created_at', [intentId]);
const transactionsOf = (intentId: string) =>
  w.world.sql('select id, status, rail from transactions where intent_id = $1', [intentId]);
const statusOf = async (intentId: string) =>
  (await w.world.sql('select status from intents where id = $1', [intentId]))[0]?.status;
const sandboxMerchant = (name: string, amountCents = 1_250) =>
  `${w.sandboxUrl}/paid/${name}?amountCents=${amountCents}`;

/** The merchant charges the token by the network, and delivers. */
const chargesAndDelivers = (payer: Payer, over: Record<string, unknown> = {}) =>
  merchant.answers(async (response, { paymentToken, challengeId }) => {
    const { body } = await network.authorize(payer, { token: paymentToken, ...over });
    if (body.decision === 'approved') deliver(response, { receipt: receiptFor(challengeId) });
    else demand(response, [merchant.challenge()]);
  });

describe('pay', () => {
  // spec: path:POST /v1/mpp/pay
  // spec: body:POST /v1/mpp/pay:url
  // spec: body:POST /v1/mpp/pay:intentId
  // spec: body:POST /v1/mpp/pay:cardId
  // spec: mpp-pay-step:1
  // spec: mpp-pay-step:2
  // spec: mpp-pay-step:3
  // spec: mpp-pay-step:4
  // spec: mpp-pay-step:5
  // spec: answer:POST /v1/mpp/pay:credential_id
  // spec: answer:POST /v1/mpp/pay:merchant_status
  // spec: answer:POST /v1/mpp/pay:receipt
  // spec: answer:POST /v1/mpp/pay:merchant_body
  // spec: refusals:POST /v1/mpp/pay:2
  // spec: does:MPP:machine payments protocol: API-native settlement for HTTP 402 flows
  // spec: field:MPP pay result.credential_id
  // spec: field:MPP pay result.merchant_status
  // spec: field:MPP pay result.receipt
  // spec: field:MPP pay result.merchant_body
  test('pays at the merchant of the sandbox, and the clearing completes the intent', async () => {
    const payer = await buyer();
    const intentId = await anIntent(w.world, payer, { merchant: 'm_sandbox_api' });
    const answer = await pay(payer, intentId, sandboxMerchant('sandbox-api'));
    expect(answer).toEqual({
      credential_id: expect.stringMatching(/^mppc_/),
      merchant_status: 200,
      receipt: expect.stringMatching(/^[A-Za-z0-9_-]+$/),
      merchant_body: { report: 'paid content', merchant: 'sandbox-api' },
      payment_id: expect.stringMatching(/^mpay_/),
      status: 'paid',
      transaction_id: expect.stringMatching(/^tx_/),
      reason: null,
    });
    await eventually(
      () => statusOf(intentId),
      (status) => status === 'completed',
    );
    expect(await transactionsOf(intentId)).toEqual([{ id: answer.transaction_id, status: 'completed', rail: 'mpp' }]);
    expect(await balancesOf(w.world, payer)).toEqual({ available: 3_750, held: 0, receivable: 0 });
    const detail = await client(payer.token).getMppPayment({ params: { id: answer.payment_id as 'mpay_x' } });
    expect(detail).toMatchObject({
      status: 'paid',
      amountEuros: 12.5,
      currency: 'EUR',
      credentialId: answer.credential_id,
      merchantStatus: 200,
      transactionId: answer.transaction_id,
      known: 'The merchant answered 200, and the payment is settled.',
      receipt: { method: 'card', reference: expect.stringMatching(/^auth_/) },
      merchantBody: answer.merchant_body,
    });
    const names = await eventNamesOf(w.world, payer.owner.ownerId);
    for (const name of [
      'mpp.payment.created',
      'mpp.credential.minted',
      'mpp.credential.consumed',
      'mpp.payment.updated',
    ])
      expect(names.filter((one) => one === name)).toHaveLength(1);
  });

  test('the same key finds the same payment with the same answer; the idempotency table keeps none of it', async () => {
    const payer = await buyer();
    const intentId = await anIntent(w.world, payer, anyMerchant);
    chargesAndDelivers(payer);
    const first = await pay(payer, intentId, `${merchant.origin}/report`, 'one-key');
    expect(await pay(payer, intentId, `${merchant.origin}/report`, 'one-key')).toEqual(first);
    const repeated = await fetch(`${w.apiUrl}/v1/mpp/pay`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${payer.token}`,
        'Content-Type': 'application/json',
        'Idempotency-Key': 'one-key',
      },
      body: JSON.stringify({ url: `${merchant.origin}/report`, intentId, cardId: payer.cardId }),
    });
    expect([repeated.status, repeated.headers.get('Idempotent-Replayed')]).toEqual([200, 'true']);
    expect(await repeated.json()).toEqual(first);
    expect(merchant.presentations).toHaveLength(1);
    expect(await transactionsOf(intentId)).toHaveLength(1);
    expect(
      await w.world.sql(`select 1 from idempotency where owner_id = $1 and body is not null`, [payer.owner.ownerId]),
    ).toEqual([]);
  });

  test('two payments of one intent at once: one pays, the other is refused and names it', async () => {
    const payer = await buyer();
    const intentId = await anIntent(w.world, payer, anyMerchant);
    const refusal = Promise.withResolvers<void>();
    merchant.answers(async (response, { paymentToken, challengeId }) => {
      await refusal.promise;
      await network.authorize(payer, { token: paymentToken });
      deliver(response, { receipt: receiptFor(challengeId) });
    });
    const answers = await Promise.allSettled(
      ['/a', '/b'].map(async (path) => {
        try {
          return await pay(payer, intentId, `${merchant.origin}${path}`);
        } catch (error) {
          refusal.resolve();
          throw error;
        }
      }),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const [{ id } = { id: '' }] = await paymentsOf(intentId);
    expect(answers.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { status: 400, message: expect.stringContaining(id) },
    });
    expect(merchant.presentations).toHaveLength(1);
    expect(await transactionsOf(intentId)).toHaveLength(1);
  });

  test('one address for two intents: each is paid once', async () => {
    const payer = await buyer();
    const [one, other] = [await anIntent(w.world, payer, anyMerchant), await anIntent(w.world, payer, anyMerchant)];
    chargesAndDelivers(payer);
    const answers = await Promise.all([
      pay(payer, one, `${merchant.origin}/same`),
      pay(payer, other, `${merchant.origin}/same`),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(['paid', 'paid']);
    expect(new Set(merchant.presentations.map(({ paymentToken }) => paymentToken)).size).toBe(2);
    expect((await transactionsOf(one)).length + (await transactionsOf(other)).length).toBe(2);
  });

  test('the credential is for this challenge, echoed as received, in the header that the challenge names', async () => {
    const payer = await buyer();
    const intentId = await anIntent(w.world, payer, anyMerchant);
    merchant.demands(() => [
      merchant.challenge({ id: 'ch-1', header: 'Payment-Authorization', recipient: 'sandbox-shop' }),
    ]);
    chargesAndDelivers(payer);
    await pay(payer, intentId, `${merchant.origin}/x`);
    const headers = merchant.requests[1]?.headers;
    expect(headers?.authorization).toBeUndefined();
    expect(merchant.presentations[0]?.credential).toMatchObject({
      challenge: { id: 'ch-1', header: 'Payment-Authorization', realm: 'shop.example' },
      payload: { network: 'visa', panLastFour: expect.stringMatching(/^\d{4}$/) },
    });
  });

  test('token, credential, challenge and body are nowhere in clear', async () => {
    const payer = await buyer();
    const intentId = await anIntent(w.world, payer, anyMerchant);
    const secret = crypto.randomUUID();
    merchant.demands(() => [merchant.challenge({ id: 'ch-secret-of-the-merchant' })]);
    merchant.answers(async (response, { paymentToken }) => {
      await network.authorize(payer, { token: paymentToken });
      deliver(response, { receipt: receiptFor('ch-secret-of-the-merchant', { reference: secret }), body: { secret } });
    });
    const answer = await pay(payer, intentId, `${merchant.origin}/x`);
    expect(answer.merchant_body).toEqual({ secret });
    const token = merchant.presentations[0]?.paymentToken ?? '';
    const tables = [
      'mpp_payments',
      'mpp_bodies',
      'mpp_credentials',
      'events',
      'audit',
      'transitions',
      'workflow_runs',
      'idempotency',
    ];
    for (const table of tables) {
      for (const word of [token, secret, answer.receipt])
        expect(await w.world.sql(`select 1 from ${table} t where t::text like '%' || $1 || '%'`, [word])).toEqual([]);
    }
  });
});

describe('nothing is sent', () => {
  const refused = async (payer: Payer, intentId: string, url: string, message: RegExp, status = 400) => {
    await expect(pay(payer, intentId, url)).rejects.toMatchObject({ status, message: expect.stringMatching(message) });
    expect(merchant.presentations).toEqual([]);
    expect(await balancesOf(w.world, payer)).toEqual({ available: 5_000, held: 0, receivable: 0 });
    expect(await transactionsOf(intentId)).toEqual([]);
    expect(
      await w.world.sql(`select 1 from mpp_credentials where intent_id = $1 and token_hash is not null`, [intentId]),
    ).toEqual([]);
    expect(await statusOf(intentId)).toBe('approved');
  };
  const ready = async (over: Parameters<typeof anIntent>[2] = anyMerchant) => {
    const payer = await buyer();
    return { payer, intentId: await anIntent(w.world, payer, over) };
  };

  test.each([
    ['a higher price', { amount: '1251' }, /expects 12\.50, asked 12\.51/],
    ['another currency', { currency: 'usd' }, /currency is usd/],
    ['an amount that is no whole number', { amount: '12.5' }, /not a whole number/],
    ['a challenge of the past', { expires: '2020-01-01T00:00:00Z' }, /expired/],
    ['a payee that is no id', { recipient: 'a b' }, /recipient/],
    ['a body that was not sent', { digest: 'sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:' }, /with a body/],
    ['another card network', { details: { acceptedNetworks: ['amex'] } }, /amex/],
    ['both keys', { details: { jwksUri: 'https://shop.example/jwks', kid: 'k1' } }, /both/],
    ['no key', { details: { encryptionJwk: undefined } }, /neither/],
    ['an unknown header', { header: 'X-Pay' }, /header/],
  ] as const)('for %s', async (_what, parts, message) => {
    const { payer, intentId } = await ready();
    merchant.demands(() => [merchant.challenge(parts)]);
    await refused(payer, intentId, `${merchant.origin}/x`, message);
  });

  test('for more than the wallet holds', async () => {
    const payer = await buyer({ fundsCents: 1_249 });
    const intentId = await anIntent(w.world, payer, anyMerchant);
    const refusal = await pay(payer, intentId, `${merchant.origin}/x`).catch((error: Refused) => error);
    expect(refusal).toMatchObject({ status: 400, message: expect.stringMatching(/12\.49.*12\.50/) });
    expect((refusal as Refused).headers.get('X-Service-Error-Code')).toBe('insufficient_funds');
    expect(merchant.presentations).toEqual([]);
    expect(await balancesOf(w.world, payer)).toEqual({ available: 1_249, held: 0, receivable: 0 });
  });

  test('for another payee than the intent expects; its host is the payee where it names none', async () => {
    const { payer, intentId } = await ready({ merchant: 'other.example' });
    await refused(payer, intentId, `${merchant.origin}/x`, /other\.example/);
    const byHost = await anIntent(w.world, payer, { merchant: '127.0.0.1' });
    merchant.demands(() => [merchant.challenge({ recipient: undefined })]);
    chargesAndDelivers(payer);
    expect(await pay(payer, byHost, `${merchant.origin}/x`)).toMatchObject({ status: 'paid' });
  });

  test('for a short key, a wrong algorithm, and a private key', async () => {
    const { payer, intentId } = await ready();
    for (const over of [{ n: merchant.jwk.n?.slice(0, 100) }, { alg: 'RSA-OAEP' }, { d: 'AQAB' }]) {
      merchant.demands(() => [merchant.challenge({ details: { encryptionJwk: { ...merchant.jwk, ...over } } })]);
      await refused(payer, intentId, `${merchant.origin}/x`, /key/);
    }
  });

  test('for a key set of another origin than the realm', async () => {
    const { payer, intentId } = await ready();
    const details = { encryptionJwk: undefined, jwksUri: 'https://elsewhere.example/jwks', kid: 'k1' };
    merchant.demands(() => [merchant.challenge({ details })]);
    await refused(payer, intentId, `${merchant.origin}/x`, /another origin/);
  });

  test('for cryptocurrency only; the refusal names what was offered', async () => {
    const { payer, intentId } = await ready();
    merchant.demands(() => [merchant.challenge({ method: 'tempo' })]);
    await refused(payer, intentId, `${merchant.origin}/x`, /offers only tempo\/charge; Bursar pays with card\/charge/);
    merchant.respondsWith((_request, response) => void response.writeHead(402).end('{"x402Version":1,"accepts":[]}'));
    await refused(payer, intentId, `${merchant.origin}/x`, /offers only x402 \(a cryptocurrency\)/);
  });

  test('when nothing is to be paid, when the address is private, and when redirects never end', async () => {
    const { payer, intentId } = await ready();
    merchant.respondsWith((_request, response) => void response.writeHead(200).end('free'));
    await refused(payer, intentId, `${merchant.origin}/x`, /answered 200 and asks for no payment/);
    merchant.respondsWith(
      (_request, response) => void response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
    );
    await refused(payer, intentId, `${merchant.origin}/x`, /redirects to an address that may not/);
    merchant.respondsWith((_request, response) => void response.writeHead(302, { location: '/more' }).end());
    await refused(payer, intentId, `${merchant.origin}/x`, /more than five times/);
    await refused(payer, intentId, 'https://10.0.0.1/x', /body\.url/);
    await refused(payer, intentId, 'http://example.com/x', /body\.url.*https/);
    merchant.respondsWith(
      (_request, response) =>
        void response.writeHead(402, { 'WWW-Authenticate': `Payment id="${'x'.repeat(64 * 1024)}"` }).end(),
    );
    await refused(payer, intentId, `${merchant.origin}/x`, /did not answer/);
  });

  test('to the host behind a redirect, where the intent expects the one that redirects', async () => {
    const { payer, intentId } = await ready({ merchant: 'localhost' });
    merchant.demands(() => [merchant.challenge({ recipient: undefined })]);
    merchant.redirects(`${merchant.origin}/there`);
    await refused(payer, intentId, `${otherNameOf(merchant)}/here`, /expects localhost, asked by 127\.0\.0\.1/);
  });

  test('when a rule of the policy forbids it, when the card is another, and when the card is frozen', async () => {
    const { payer, intentId } = await ready();
    await w.world.sql(`update policies set daily_limit_cents = 1249, version = version + 1 where id = $1`, [
      payer.policyId,
    ]);
    await refused(payer, intentId, `${merchant.origin}/x`, /rule daily_limit/, 403);
    const other = await buyer({ owner: payer.owner });
    await expect(
      client(payer.owner.key).payAtMerchant({ body: { url: `${merchant.origin}/x`, intentId, cardId: other.cardId } }),
    ).rejects.toMatchObject({ status: 400, message: expect.stringContaining(`is for card ${payer.cardId}`) });
    await w.world.sql(`update cards set status = 'frozen', frozen_by = 'card' where id = $1`, [payer.cardId]);
    await refused(payer, intentId, `${merchant.origin}/x`, /frozen/, 403);
  });
});

describe('a merchant that cheats after the payment', () => {
  const aPayment = async () => {
    const payer = await buyer();
    return { payer, intentId: await anIntent(w.world, payer, anyMerchant), key: crypto.randomUUID() };
  };

  test('asks for more in a second challenge: nothing more is paid, and the intent stays approved', async () => {
    const { payer, intentId } = await aPayment();
    merchant.answers((response) => demand(response, [merchant.challenge({ amount: '2500' })]));
    const answer = await pay(payer, intentId, `${merchant.origin}/x`);
    expect(answer).toMatchObject({ status: 'declined', merchant_status: 402, receipt: '', transaction_id: null });
    expect([merchant.presentations.length, merchant.requests.length]).toEqual([1, 2]);
    expect(await statusOf(intentId)).toBe('approved');
    expect(await balancesOf(w.world, payer)).toEqual({ available: 5_000, held: 0, receivable: 0 });
  });

  test.each([
    ['another currency', { currency: 'usd' }],
    ['another payee', { recipient: 'someone-else' }],
    ['the same once more', {}],
  ])('asks in a second challenge for %s: nothing more is paid', async (_what, parts) => {
    const { payer, intentId } = await aPayment();
    merchant.answers((response) => demand(response, [merchant.challenge(parts)]));
    expect(await pay(payer, intentId, `${merchant.origin}/x`)).toMatchObject({
      status: 'declined',
      merchant_status: 402,
      receipt: '',
      transaction_id: null,
    });
    expect([merchant.presentations.length, merchant.requests.length]).toEqual([1, 2]);
    expect(await statusOf(intentId)).toBe('approved');
    expect(await balancesOf(w.world, payer)).toEqual({ available: 5_000, held: 0, receivable: 0 });
  });

  test('keeps the credential for later: it ends after five minutes, however far the expiry of the challenge is', async () => {
    const { payer, intentId } = await aPayment();
    merchant.demands(() => [merchant.challenge({ expires: '2099-12-31T23:59:59Z' })]);
    merchant.answers((response) => demand(response, [merchant.challenge()]));
    const { credential_id: id } = await pay(payer, intentId, `${merchant.origin}/x`);
    const [row] = await w.world.sql<{ left: string }>(
      `select extract(epoch from expires_at - now()) as left from mpp_credentials where id = $1`,
      [id],
    );
    expect(Number(row?.left)).toBeLessThanOrEqual(300);
    await w.world.sql(`update mpp_credentials set expires_at = now() - interval '1 second' where id = $1`, [id]);
    const { body } = await network.authorize(payer, { token: merchant.presentations[0]?.paymentToken });
    expect(body.decision).toBe('declined');
    expect(await balancesOf(w.world, payer)).toEqual({ available: 5_000, held: 0, receivable: 0 });
  });

  test('sends a 402 without end: its challenge counts, and the payment goes on', async () => {
    const { payer, intentId } = await aPayment();
    merchant.demandsWithoutEnd();
    chargesAndDelivers(payer);
    expect(await pay(payer, intentId, `${merchant.origin}/x`)).toMatchObject({ status: 'paid', merchant_status: 200 });
    expect(merchant.presentations).toHaveLength(1);
  });

  test('charges, and sends a body without end: the payment is paid with its receipt, and the body is cut', async () => {
    const { payer, intentId } = await aPayment();
    merchant.answers(async (response, { paymentToken, challengeId }) => {
      await network.authorize(payer, { token: paymentToken });
      response.writeHead(200, { 'Content-Type': 'text/plain', 'Payment-Receipt': receiptFor(challengeId) });
      pourWithoutEnd(response);
    });
    const answer = await pay(payer, intentId, `${merchant.origin}/x`);
    expect(answer).toMatchObject({ status: 'paid', merchant_status: 200, merchant_body: { truncated: true } });
    expect(answer.receipt).not.toBe('');
  });

  test('charges more than its challenge: the network declines it', async () => {
    const { payer, intentId } = await aPayment();
    chargesAndDelivers(payer, { amountCents: 1_251 });
    expect(await pay(payer, intentId, `${merchant.origin}/x`)).toMatchObject({
      status: 'declined',
      merchant_status: 402,
    });
    expect(await balancesOf(w.world, payer)).toEqual({ available: 5_000, held: 0, receivable: 0 });
  });

  test('charges and answers 500: the payment is paid, and is not paid again', async () => {
    const { payer, intentId, key } = await aPayment();
    merchant.answers(async (response, { paymentToken }) => {
      await network.authorize(payer, { token: paymentToken });
      response.writeHead(500).end('oops');
    });
    const answer = await pay(payer, intentId, `${merchant.origin}/x`, key);
    expect(answer).toMatchObject({
      status: 'paid',
      merchant_status: 500,
      receipt: '',
      transaction_id: expect.stringMatching(/^tx_/),
    });
    expect(await pay(payer, intentId, `${merchant.origin}/x`, key)).toEqual(answer);
    await expect(pay(payer, intentId, `${merchant.origin}/x`)).rejects.toMatchObject({ status: 400 });
    expect(merchant.presentations).toHaveLength(1);
  });

  test('charges and then refuses: the charge counts', async () => {
    const { payer, intentId } = await aPayment();
    merchant.answers(async (response, { paymentToken }) => {
      await network.authorize(payer, { token: paymentToken });
      demand(response, [merchant.challenge()]);
    });
    expect(await pay(payer, intentId, `${merchant.origin}/x`)).toMatchObject({
      status: 'paid',
      merchant_status: 402,
      receipt: '',
    });
    expect(merchant.presentations).toHaveLength(1);
  });

  test('sends a receipt for another payment: it is none', async () => {
    const { payer, intentId } = await aPayment();
    merchant.answers((response) => deliver(response, { receipt: receiptFor('another-challenge') }));
    expect(await pay(payer, intentId, `${merchant.origin}/x`)).toMatchObject({
      status: 'accepted',
      merchant_status: 200,
      receipt: '',
      transaction_id: null,
    });
  });

  test('charges twice with one token: the second charge is declined', async () => {
    const { payer, intentId } = await aPayment();
    const decisions: string[] = [];
    merchant.answers(async (response, { paymentToken, challengeId }) => {
      for (let turn = 0; turn < 2; turn++)
        decisions.push((await network.authorize(payer, { token: paymentToken })).body.decision);
      deliver(response, { receipt: receiptFor(challengeId) });
    });
    expect(await pay(payer, intentId, `${merchant.origin}/x`)).toMatchObject({ status: 'paid' });
    expect(decisions).toEqual(['approved', 'declined']);
  });

  test('redirects the first request: only the address that made the challenge gets the credential', async () => {
    const { payer, intentId } = await aPayment();
    merchant.redirects(`${merchant.origin}/there`);
    chargesAndDelivers(payer);
    expect(await pay(payer, intentId, `${otherNameOf(merchant)}/here`)).toMatchObject({ status: 'paid' });
    const requests = merchant.requests.map(({ url, headers }) => [
      url,
      headers.host,
      headers.authorization !== undefined,
    ]);
    const there = new URL(merchant.origin).host;
    expect(requests).toEqual([
      ['/here', new URL(otherNameOf(merchant)).host, false],
      ['/there', there, false],
      ['/there', there, true],
    ]);
  });

  test('redirects the credential: it goes nowhere else', async () => {
    const { payer, intentId, key } = await aPayment();
    merchant.answers(
      (response) => void response.writeHead(307, { location: `${w.sandboxUrl}/paid/sandbox-api` }).end(),
    );
    const answer = await pay(payer, intentId, `${merchant.origin}/x`, key).catch((error: Refused) => error);
    expect(answer).toMatchObject({ status: 503 });
    expect(merchant.requests).toHaveLength(2);
  });
});
