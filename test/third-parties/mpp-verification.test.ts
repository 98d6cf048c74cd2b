/**
 * Goal: a registered merchant that sells with mppx has Bursar verify what it receives, from our payer and from the client
 * of mppx, whose intents and credentials Bursar makes. Method: the whole installation, the sandbox's card network.
 * @module
 */
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createClient, sendTo } from '../../src/client/client.ts';
import { mppPaymentsArea } from '../../src/domains/payments/mpp-payments/mpp-payment.contract.ts';
import { type CheckoutWorld, startCheckoutWorld } from '../support/checkout-world.ts';
import { registeredMerchant } from '../support/factories/merchants.ts';
import { anIntent, balancesOf, brokenInvariants, type Payer } from '../support/payments-world.ts';
import { eventually } from '../support/world.ts';
import {
  type Charge,
  installMppx,
  type MppxMerchant,
  type MppxPeer,
  startEnabler,
  startMppxMerchant,
  startMppxPeer,
} from './mppx/mppx.ts';

const recipient = 'interop-reports';
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });

let w: CheckoutWorld;
let peer: MppxPeer;
let merchant: MppxMerchant;
let enabler: Awaited<ReturnType<typeof startEnabler>>;
let merchantKey: string;

beforeAll(async () => {
  await installMppx();
  enabler = await startEnabler(chargeAndVerify);
  merchant = await startMppxMerchant({
    secretKey: 'verify-secret-0123456789abcdef-0123456789',
    enablerUrl: enabler.url,
    recipient,
    privateJwk: { ...privateKey.export({ format: 'jwk' }) },
  });
  peer = await startMppxPeer();
  w = await startCheckoutWorld({ allowedOrigins: merchant.origins });
  const encryptionJwk = { ...publicKey.export({ format: 'jwk' }), alg: 'RSA-OAEP-256', use: 'enc', kid: 'enc-1' };
  const registration = { inviteCode: 'invite-of-mppx', name: 'Interop Reports', encryptionJwk };
  const { slug, merchant_secret_key } = await registeredMerchant(await w.world.owner(), registration, privateKey);
  expect(slug).toBe(recipient);
  merchantKey = merchant_secret_key;
}, 180_000);
afterAll(async () => {
  expect(await brokenInvariants(w.world)).toEqual([]);
  await Promise.all([w.close(), peer.close(), merchant.close(), enabler.close()]);
});

const postJson = async <T>(url: string, headers: Record<string, string>, body: object): Promise<T> => {
  const init = {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  };
  return (await (await fetch(url, init)).json()) as T;
};

/** Charges by the network of the sandbox, then has Bursar verify the credential, as docs/accepting.md says. */
async function chargeAndVerify({ paymentToken, amountCents, challengeId }: Charge): Promise<string | undefined> {
  const { decision, authorizationId } = await postJson<{ decision: string; authorizationId: string }>(
    `${w.sandboxUrl}/network/purchases`,
    { 'Idempotency-Key': challengeId },
    { paymentToken, amountCents, merchant: { id: recipient, name: 'Interop Reports', mcc: '5734', country: 'DE' } },
  );
  if (decision !== 'approved') return undefined;
  const verified = await postJson<{ status?: string; amount_euros?: number }>(
    `${w.apiUrl}/v1/mpp/credentials/by-challenge/${challengeId}/verify`,
    { 'X-Merchant-Key': merchantKey, 'Idempotency-Key': randomUUID() },
    {},
  );
  const isSold = verified.status === 'consumed' && Math.round((verified.amount_euros ?? 0) * 100) === amountCents;
  return isSold ? authorizationId : undefined;
}

const buyer = () => w.payer({ policy: { require_intent: true, auto_approve_limit_cents: 1_000 }, fundsCents: 2_000 });
const serviceFor = ({ token, agentId, cardId }: Payer) => ({
  origin: w.apiUrl,
  headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
  agentId,
  cardId,
});
type Paid = { status?: number; receipt?: string; body?: string; error?: string; minted: { id: string }[] };

/** One sale: its transaction is completed, its intent too, its credential used by its registered merchant. */
async function expectSold(payer: Payer, credentialId: string): Promise<void> {
  const transactions = () =>
    w.world.sql('select status, rail, amount_cents::int as cents from transactions where card_id = $1', [payer.cardId]);
  await eventually(transactions, ([first]) => first?.status === 'completed');
  expect(await transactions()).toEqual([{ status: 'completed', rail: 'mpp', cents: 499 }]);
  expect(
    await w.world.sql('select id, status, merchant_id is not null as known from mpp_credentials where card_id = $1', [
      payer.cardId,
    ]),
  ).toEqual([{ id: credentialId, status: 'consumed', known: true }]);
  expect(await w.world.sql('select status from intents where agent_id = $1', [payer.agentId])).toEqual([
    { status: 'completed' },
  ]);
  expect(await balancesOf(w.world, payer)).toMatchObject({ available: 1_501, held: 0 });
}

test('the client of mppx buys there for an agent whose intent and credential are made for the challenge', async () => {
  const payer = await buyer();
  const url = `${merchant.origins[0]}/paid`;
  const paid = await peer.ask<Paid>('payByService', { url, service: serviceFor(payer) });
  expect(paid).toMatchObject({ status: 200, minted: [{ status: 201 }] });
  expect(await peer.ask('receipt', { value: paid.receipt })).toMatchObject({ status: 'success', method: 'card' });
  await expectSold(payer, paid.minted[0]?.id ?? '');
});

test('a payment at a registered merchant of mppx is verified once, and a copy of the credential buys nothing', async () => {
  const payer = await buyer();
  const intentId = await anIntent(w.world, payer, { amountCents: 499, merchant: recipient });
  const before = (await merchant.records()).length;
  const answer = await createClient(mppPaymentsArea, sendTo(w.apiUrl, payer.token)).payAtMerchant({
    body: { url: `${merchant.origins[0]}/paid`, intentId, cardId: payer.cardId },
  });
  expect(answer).toMatchObject({ status: 'paid', merchant_status: 200 });
  await expectSold(payer, answer.credential_id);
  const [record] = (await merchant.records()).slice(before);
  const copy = await fetch(`${merchant.origins[0]}/paid`, { headers: { Authorization: record?.value ?? '' } });
  expect([copy.status, copy.headers.get('payment-receipt')]).toEqual([402, null]);
  expect(await chargeAndVerify(orderIn(record))).toBeUndefined();
});

const orderIn = (record: Awaited<ReturnType<MppxMerchant['records']>>[number] | undefined): Charge => ({
  paymentToken: record?.opened?.token.paymentToken ?? '',
  amountCents: 499,
  challengeId: record?.challengeId ?? '',
});
