/**
 * Goal: a caller mints a credential, the merchant reads its token, the network charges it, and every record agrees; a
 * repeat shows the same credential, and nothing else shows it. Method: API, worker, real Temporal server and sandbox.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createClient, type Refused, sendTo } from '../../../src/client/client.ts';
import { mppCredentialsArea } from '../../../src/domains/payments/mpp-credentials/mpp-credential.contract.ts';
import { type CheckoutWorld, startCheckoutWorld } from '../../support/checkout-world.ts';
import { apiShop, credentialRow, eventNamesOf } from '../../support/mpp-world.ts';
import { challengeHeader, openCredential, readChallengeHeader } from '../../support/payment-challenges.ts';
import { anIntent, brokenInvariants, networkOf, type Payer } from '../../support/payments-world.ts';
import { eventually } from '../../support/world.ts';

let w: CheckoutWorld;
beforeAll(async () => {
  w = await startCheckoutWorld();
});
afterAll(async () => {
  expect(await brokenInvariants(w.world)).toEqual([]);
  await w.close();
});

const client = (token: string) => createClient(mppCredentialsArea, sendTo(w.apiUrl, token));
const buyer = (over: Parameters<CheckoutWorld['payer']>[0] = {}) => w.payer({ fundsCents: 10_000, ...over });
const shopIntent = (payer: Payer, over: Parameters<typeof anIntent>[2] = {}) =>
  anIntent(w.world, payer, { merchant: apiShop.id, ...over });

async function mint(payer: Payer, over: { challenge?: string; intentId?: string; key?: string } = {}) {
  const { challenge = challengeHeader(), intentId = await shopIntent(payer), key = randomUUID() } = over;
  const body = { challenge, intentId, cardId: payer.cardId };
  return client(payer.token).mintMppCredential({ body, headers: { 'Idempotency-Key': key } });
}

const refusal = (asked: Promise<unknown>): Promise<Refused> =>
  asked.then(
    () => {
      throw new Error('it was not refused');
    },
    (error: Refused) => error,
  );

const errorCodeOf = ({ headers }: Refused): string | null => headers.get('X-Service-Error-Code');

// spec: state:MPP credential:minted
// spec: event:mpp.credential.minted
test('an agent mints a credential, and the network’s authorization with its token uses it', async () => {
  const payer = await buyer();
  const intentId = await shopIntent(payer);
  const header = challengeHeader();
  const minted = await mint(payer, { challenge: header, intentId });
  const { challenge } = readChallengeHeader(header);
  expect(minted).toEqual({
    id: expect.stringMatching(/^mppc_/),
    credential: expect.stringMatching(/^[A-Za-z0-9_-]+$/),
    header: 'Authorization',
    expires_at: challenge.expires,
    amount_euros: 12.5,
    currency: 'EUR',
    merchant_id: null,
  });
  const opened = await openCredential(`Payment ${minted.credential}`);
  expect(opened.challenge).toEqual(challenge);
  expect(await client(payer.token).getMppCredential({ params: { id: minted.id } })).toMatchObject({
    status: 'minted',
    intentId,
    cardId: payer.cardId,
    challengeId: challenge.id,
    amountEuros: 12.5,
    transactionId: null,
  });
  const network = networkOf(w.world);
  const token = opened.plaintext.token.paymentToken;
  const { body } = await network.authorize(payer, { token, merchant: apiShop });
  expect(body.decision).toBe('approved');
  expect(await client(payer.token).getMppCredential({ params: { id: minted.id } })).toMatchObject({
    status: 'consumed',
    transactionId: body.transactionId,
  });
  expect(await eventNamesOf(w.world, minted.id)).toEqual(['mpp.credential.minted', 'mpp.credential.consumed']);
});

test('the challenge may come without its scheme, among others, and for the other header', async () => {
  const payer = await buyer();
  const bare = challengeHeader().replace(/^Payment /, '');
  expect(await mint(payer, { challenge: bare })).toMatchObject({ header: 'Authorization' });
  const among = `Bearer realm="x", ${challengeHeader().replace('method="card"', 'method="tempo"')}, ${challengeHeader()}`;
  expect(await mint(payer, { challenge: among })).toMatchObject({ header: 'Authorization' });
  const other = `${challengeHeader()}, header="Payment-Authorization"`;
  expect(await mint(payer, { challenge: other })).toMatchObject({ header: 'Payment-Authorization' });
});

test('the same key gives the same credential, and no table holds it in clear', async () => {
  const payer = await buyer();
  const request = { challenge: challengeHeader(), intentId: await shopIntent(payer), key: randomUUID() };
  const first = await mint(payer, request);
  expect(await mint(payer, request)).toEqual(first);
  // Without the stored answer, as if the first call had died before it answered.
  await w.world.sql(
    'update idempotency set status = null, body = null, body_is_sealed = false, lease_until = null where key = $1',
    [request.key],
  );
  expect(await mint(payer, request)).toEqual(first);
  const found = await w.world.sql(`select 1 from idempotency i where position($1 in i::text) > 0`, [
    first.credential.slice(0, 40),
  ]);
  expect(found).toEqual([]);
});

test.each<[string, string, Parameters<typeof challengeHeader>[0], Parameters<typeof anIntent>[2]]>([
  ['invalid_state', 'expects 12.50', { amountCents: 1_251 }, {}],
  ['invalid_state', 'expects other', {}, { merchant: 'other' }],
  ['invalid_state', 'names no recipient', { recipient: undefined }, { merchant: null }],
  ['invalid_state', 'the intent is pending_approval', {}, { status: 'pending_approval' }],
  ['invalid_state', 'Bursar pays in eur', { currency: 'usd' }, {}],
  ['invalid_state', 'expired', { expires: '2026-01-01T00:00:00Z' }, {}],
])('%s with “%s”: challenge %j for intent %j', async (code, sentence, challenge, intent) => {
  const payer = await buyer();
  const refused = await refusal(
    mint(payer, { challenge: challengeHeader(challenge), intentId: await shopIntent(payer, intent) }),
  );
  expect([refused.status, errorCodeOf(refused)]).toEqual([400, code]);
  expect(refused.message).toContain(sentence);
});

test('a rule of the policy is 403, a second live credential of the intent 400', async () => {
  const strict = await buyer({ policy: { max_transaction_cents: 1_000 } });
  const denied = await refusal(mint(strict));
  expect([denied.status, errorCodeOf(denied)]).toEqual([403, 'policy_denied']);
  const payer = await buyer();
  const intentId = await shopIntent(payer);
  await mint(payer, { intentId });
  const refused = await refusal(mint(payer, { intentId }));
  expect([refused.status, refused.message]).toEqual([400, expect.stringContaining('is valid until')]);
});

// spec: state:MPP credential:expired
test('a credential expires with its challenge, the intent stays open, and its run ends', async () => {
  const payer = await buyer();
  const intentId = await shopIntent(payer);
  const began = Date.now();
  await mint(payer, { intentId: await shopIntent(payer) });
  // An expired challenge is refused, so a busy machine gets longer to mint: many times what the last one took.
  const expiresAt = Date.now() + 2_000 + 10 * (Date.now() - began);
  const challenge = challengeHeader({ expires: new Date(expiresAt).toISOString() });
  const minted = await mint(payer, { challenge, intentId });
  await sleep(Math.max(0, expiresAt - Date.now()));
  await eventually(
    () => credentialRow(w.world, minted.id),
    ({ status }) => status === 'expired',
  );
  expect(await credentialRow(w.world, minted.id)).toMatchObject({ sealed_credential: null });
  const listed = await client(payer.token).listMppCredentials({ query: { status: 'expired', intentId } });
  expect(listed.data.map(({ id, status }) => [id, status])).toEqual([[minted.id, 'expired']]);
  expect(await mint(payer, { intentId })).toMatchObject({ amount_euros: 12.5 });
});

describe('lists', () => {
  test('by state and intent, newest first', async () => {
    const payer = await buyer();
    const intentIds = [await shopIntent(payer), await shopIntent(payer), await shopIntent(payer)] as const;
    const ids: string[] = [];
    for (const intentId of intentIds) ids.unshift((await mint(payer, { intentId })).id);
    const list = async (query: object) =>
      (await client(payer.token).listMppCredentials({ query })).data.map(({ id }) => id);
    expect(await list({})).toEqual(ids);
    expect(await list({ intentId: intentIds[0] })).toEqual([ids[2]]);
    expect(await list({ status: 'minted' })).toEqual(ids);
    expect(await list({ status: 'consumed' })).toEqual([]);
    await w.world.sql(`update mpp_credentials set expires_at = now() - interval '1 second' where id = $1`, [ids[0]]);
    expect(await list({ status: 'minted' })).toEqual(ids.slice(1));
    expect(await list({ status: 'expired' })).toEqual([ids[0]]);
  });
});

test('without money nothing is minted, and a repeat of a lost answer after the expiry says that the credential ended', async () => {
  const poor = await buyer({ fundsCents: 0 });
  const refused = await refusal(mint(poor));
  expect([refused.status, errorCodeOf(refused)]).toEqual([400, 'insufficient_funds']);
  const payer = await buyer();
  const [key, intentId, challenge] = [randomUUID(), await shopIntent(payer), challengeHeader()];
  const { id } = await mint(payer, { key, intentId, challenge });
  await w.world.sql(`update mpp_credentials set expires_at = now() - interval '1 second' where id = $1`, [id]);
  await w.world.sql(
    `update idempotency set status = null, body = null, body_is_sealed = false, reveal_until = null, lease_until = null
     where key = $1`,
    [key],
  );
  const late = await refusal(mint(payer, { key, intentId, challenge }));
  expect([late.status, errorCodeOf(late)]).toEqual([410, 'gone']);
});
