/**
 * Goal: a verification completes the window of a recurring intent, and settles the payment that minted the credential;
 * while a credential is live, nothing else pays its intent. Method: credentials as rows, real HTTP.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Refused } from '../../../src/client/client.ts';
import { runSql } from '../../../src/db/statement.ts';
import { checkoutArea } from '../../../src/domains/payments/checkout/checkout.contract.ts';
import { lockIntent } from '../../../src/domains/spending/intents/intent.lock.service.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { registeredMerchant } from '../../support/factories/merchants.ts';
import { someoneWaits } from '../../support/lock-waits.ts';
import { aCredential, apiShop, type Credential, credentialRow } from '../../support/mpp-world.ts';
import { anIntent, aPayer, brokenInvariants, inDatabase, networkOf, type Payer } from '../../support/payments-world.ts';
import { aSubscriber } from '../../support/recurring-world.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
let merchant: { id: string; merchant_secret_key: string };
beforeAll(async () => {
  world = await startWorld();
  merchant = await registeredMerchant(await world.owner());
});
afterAll(async () => {
  expect(await brokenInvariants(world)).toEqual([]);
  await world.close();
});

async function verify(place: string): Promise<[number, Record<string, unknown>]> {
  const answer = await fetch(`${world.apiUrl}/v1/mpp/credentials/${place}/verify`, {
    method: 'POST',
    headers: { 'X-Merchant-Key': merchant.merchant_secret_key },
  });
  return [answer.status, (await answer.json()) as Record<string, unknown>];
}

const ofMerchant = () => ({ merchant_id: merchant.id, origin: null, host: null });

test.each([
  ['by its id', ({ id }: Credential) => id],
  ['by its challenge', ({ challengeId }: Credential) => `by-challenge/${challengeId}`],
])('of a recurring intent the window of now is completed, and its charge is linked: %s', async (_how, placeOf) => {
  const { payer, declare, windows, read } = await aSubscriber(world);
  const { id } = await declare();
  const amounts = { amount_cents: 1_000, ceiling_cents: 1_000, recipient: 'm_music' };
  const credential = await aCredential(world, payer, id, { ...ofMerchant(), ...amounts });
  const [status, { transaction_id: transactionId }] = await verify(placeOf(credential));
  expect(status).toBe(200);
  expect((await windows(id)).map((window) => [window.status, window.transactionId])).toEqual([
    ['completed', transactionId],
  ]);
  expect((await read(id)).status).toBe('approved');
  const { body } = await networkOf(world).authorize(payer, {
    token: credential.token,
    amountCents: 1_000,
    merchant: { id: 'm_music', name: 'Music Club', mcc: '5735', country: 'DE' },
  });
  expect(body).toMatchObject({ decision: 'approved', transactionId });
});

/** A payment whose merchant gave no answer. */
async function anUnknownPayment(
  payer: Payer,
  intentId: string,
  { id, credentialId }: Readonly<Record<'id' | 'credentialId', string>>,
): Promise<void> {
  await world.sql(
    `insert into mpp_payments (id, owner_id, agent_id, intent_id, card_id, url, status, amount_cents, currency,
       credential_id, send_cause, send_until, sent_at, presented_at, request_id, created_at, updated_at)
     values ($1, $2, $3, $4, $5, 'https://shop.example/x', 'unknown', 1250, 'EUR', $6, 'cause', now(), now(), now(),
       'req', now(), now())`,
    [id, payer.owner.ownerId, payer.agentId, intentId, payer.cardId, credentialId],
  );
  await world.sql('update intents set open_payment_id = $2, open_payment_at = now() where id = $1', [intentId, id]);
  await world.sql(
    `insert into workflow_runs (id, workflow, subject_id, owner_id, agent_id, stage, started_epoch, due_at, created_at)
     values ($1, 'mppPayment', $2, $3, $4, 'unknown', 'test', null, now())`,
    [`mpp-payment/${id}`, id, payer.owner.ownerId, payer.agentId],
  );
}

test('the payment that minted the credential gets the charge, and its run is woken', async () => {
  const payer = await aPayer(world);
  const intentId = await anIntent(world, payer, { merchant: apiShop.id });
  const id = newId('mppPayment');
  const credential = await aCredential(world, payer, intentId, {
    ...ofMerchant(),
    payment_id: id,
    sealed_credential: null,
  });
  await anUnknownPayment(payer, intentId, { id, credentialId: credential.id });
  const [status, { transaction_id: transactionId }] = await verify(credential.id);
  expect(status).toBe(200);
  const [payment] = await world.sql(
    'select charge_outcome, charge_source, transaction_id from mpp_payments where id = $1',
    [id],
  );
  expect(payment).toEqual({ charge_outcome: 'approved', charge_source: 'verify', transaction_id: transactionId });
  const [run] = await world.sql('select is_open, wanted_wake from workflow_runs where id = $1', [`mpp-payment/${id}`]);
  expect(run).toEqual({ is_open: true, wanted_wake: true });
  // As its workflow does.
  await world.sql(`update mpp_payments set status = 'paid' where id = $1`, [id]);
  await world.sql('update intents set open_payment_id = null, open_payment_at = null where id = $1', [intentId]);
});

test('while a credential is live, its intent is neither paid at a shop nor confirmed', async () => {
  const payer = await aPayer(world);
  const intentId = await anIntent(world, payer, { merchant: apiShop.id });
  const credential = await aCredential(world, payer, intentId);
  const { executeCheckout, confirmCheckout } = world.as(payer.token).client(checkoutArea);
  const headers = { 'Idempotency-Key': randomUUID() };
  const sentence = expect.stringContaining(`credential ${credential.id} of this intent is valid until`);
  const refused: Partial<Refused> = { status: 400, message: sentence as unknown as string };
  await expect(
    executeCheckout({ body: { intentId, targetUrl: 'https://shop.example/checkout' }, headers }),
  ).rejects.toMatchObject(refused);
  await expect(
    confirmCheckout({ body: { intentId }, headers: { 'Idempotency-Key': randomUUID() } }),
  ).rejects.toMatchObject(refused);
  await world.sql(`update mpp_credentials set expires_at = now() - interval '1 second' where id = $1`, [credential.id]);
  const confirmed = await confirmCheckout({ body: { intentId }, headers: { 'Idempotency-Key': randomUUID() } });
  expect(confirmed.status).toBe('completed');
  expect(await credentialRow(world, credential.id)).toMatchObject({ status: 'minted' });
});

test('a reader of the live credentials of an intent waits for its lock, which the writer of one holds', async () => {
  const payer = await aPayer(world);
  const intentId = await anIntent(world, payer, { merchant: apiShop.id });
  const { executeCheckout, confirmCheckout } = world.as(payer.token).client(checkoutArea);
  const headers = () => ({ 'Idempotency-Key': randomUUID() });
  const asked = await inDatabase(world, (database) =>
    database.write(async (tx) => {
      await lockIntent(tx, intentId);
      const requests = [
        executeCheckout({ body: { intentId, targetUrl: 'https://shop.example/checkout' }, headers: headers() }),
        confirmCheckout({ body: { intentId }, headers: headers() }),
      ];
      const outcomes = Promise.allSettled(requests);
      await someoneWaits(world, { count: requests.length });
      const sql: World['sql'] = async (text, params) => {
        await runSql(tx, text, params);
        return [];
      };
      await aCredential({ ...world, sql }, payer, intentId);
      return { outcomes };
    }),
  );
  const refused = { status: 400, message: expect.stringContaining('of this intent is valid until') };
  expect(await asked.outcomes).toEqual([
    { status: 'rejected', reason: expect.objectContaining(refused) },
    { status: 'rejected', reason: expect.objectContaining(refused) },
  ]);
});
