/**
 * Goal: a merchant can tell an owner's agent from a bot by what it receives. Method: checkouts through the real workflow;
 * what arrives at the shop is verified by an independent library with the key set that the request names.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createClient, sendTo } from '../../../src/client/client.ts';
import { agentsArea } from '../../../src/domains/parties/agents/agent.contract.ts';
import type { RequestSignatures } from '../../../src/domains/parties/agents/agent.rules.ts';
import { checkoutArea } from '../../../src/domains/payments/checkout/checkout.contract.ts';
import { mppPaymentsArea } from '../../../src/domains/payments/mpp-payments/mpp-payment.contract.ts';
import { type CheckoutWorld, startCheckoutWorld } from '../../support/checkout-world.ts';
import { anIntent, type Payer } from '../../support/payments-world.ts';
import {
  fieldOf,
  type PublishedKey,
  type ReceivedRequest,
  startRecordingProxy,
  verifyRequest,
  withField,
} from '../../support/signature-verifier.ts';

let shop: Awaited<ReturnType<typeof startRecordingProxy>>;
let w: CheckoutWorld;
beforeAll(async () => {
  shop = await startRecordingProxy();
  w = await startCheckoutWorld({ allowedOrigins: [shop.origin] });
  shop.passTo(w.sandboxUrl);
});
afterAll(async () => {
  await w.close();
  await shop.close();
});

async function aBuyer(requestSignatures?: RequestSignatures): Promise<Payer> {
  const payer = await w.payer({ policy: { require_intent: true }, fundsCents: 10_000 });
  if (requestSignatures !== undefined) await setSignatures(payer, requestSignatures);
  return payer;
}
const setSignatures = (payer: Payer, requestSignatures: RequestSignatures) =>
  payer.owner.client(agentsArea).updateAgent({ params: { id: payer.agentId }, body: { requestSignatures } });

/** What the shop received for one checkout that was paid. */
async function checkout(payer: Payer): Promise<{ readonly offer: ReceivedRequest; readonly pay: ReceivedRequest }> {
  const intentId = await anIntent(w.world, payer);
  shop.requests.length = 0;
  const targetUrl = `${shop.origin}/shops/sandbox-shop?amountCents=1250`;
  const answer = await createClient(checkoutArea, sendTo(w.apiUrl, payer.token)).executeCheckout({
    body: { intentId, targetUrl },
    headers: { 'Idempotency-Key': crypto.randomUUID() },
  });
  expect(answer).toMatchObject({ success: true });
  const [offer, pay] = shop.requests;
  if (offer === undefined || pay === undefined) throw new Error('the shop was not asked twice');
  expect([offer.method, pay.method]).toEqual(['GET', 'POST']);
  return { offer, pay };
}

const publishedAt = (agentId: string) => fetch(`${w.apiUrl}/.well-known/agents/${agentId}/jwks.json`);

/** As a merchant finds it: at the address that the request names. The tests' API listens on another port. */
async function keysNamedBy(request: ReceivedRequest): Promise<readonly PublishedKey[]> {
  const [, url] = /^sig1="([^"]+)"$/.exec(fieldOf(request, 'signature-agent') ?? '') ?? [];
  if (url === undefined) throw new Error('the request names no key set');
  const publicUrl = w.world.config.publicUrl;
  expect(url.startsWith(`${publicUrl}/.well-known/agents/`)).toBe(true);
  const answer = await fetch(`${w.apiUrl}${url.slice(publicUrl.length)}`);
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { keys: PublishedKey[] }).keys;
}

test('both requests of a checkout verify in both profiles, each with its own nonce', async () => {
  const payer = await aBuyer('both');
  const { offer, pay } = await checkout(payer);
  const keys = await keysNamedBy(offer);
  expect(keys).toEqual([{ kty: 'OKP', crv: 'Ed25519', x: expect.any(String), kid: expect.any(String), use: 'sig' }]);
  await verifyRequest(offer, 'web-bot-auth', keys);
  await verifyRequest(offer, 'agent-browser-auth', keys);
  const verified = await verifyRequest(pay, 'web-bot-auth', await keysNamedBy(pay));
  expect(verified.components.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['@method', '@authority', '@path', 'content-digest', 'signature-agent']),
  );
  await verifyRequest(pay, 'agent-payer-auth', keys);
  const nonces = [offer, pay].flatMap((one) => fieldOf(one, 'signature-input')?.match(/nonce="[^"]+"/g) ?? []);
  expect(new Set(nonces).size).toBe(4);
});

test('both requests to a merchant that sells by HTTP 402 verify', async () => {
  const payer = await aBuyer('both');
  const intentId = await anIntent(w.world, payer, { merchant: 'm_sandbox_api' });
  shop.requests.length = 0;
  const url = `${shop.origin}/paid/sandbox-api?amountCents=1250`;
  const answer = await createClient(mppPaymentsArea, sendTo(w.apiUrl, payer.token)).payAtMerchant({
    body: { url, intentId, cardId: payer.cardId },
    headers: { 'Idempotency-Key': crypto.randomUUID() },
  });
  expect(answer).toMatchObject({ status: 'paid' });
  expect(shop.requests).toHaveLength(2);
  for (const [one, tag] of [
    [shop.requests[0], 'agent-browser-auth'],
    [shop.requests[1], 'agent-payer-auth'],
  ] as const) {
    if (one === undefined) throw new Error('the merchant was not asked twice');
    const keys = await keysNamedBy(one);
    const { components } = await verifyRequest(one, 'web-bot-auth', keys);
    expect(components.map(({ name }) => name)).toContain('@query');
    await verifyRequest(one, tag, keys);
  }
});

test('a changed payment, another host and a signature of another request do not verify', async () => {
  const payer = await aBuyer('both');
  const { offer, pay } = await checkout(payer);
  const keys = await keysNamedBy(pay);
  const body = Buffer.from(Buffer.from(pay.body).toString().replace('orderId', 'orderID'));
  const fails = (request: ReceivedRequest) => expect(verifyRequest(request, 'web-bot-auth', keys)).rejects.toThrow();
  await fails({ ...pay, body });
  await fails({ ...pay, method: 'PUT' });
  await fails({ ...pay, url: pay.url.replace(shop.origin, 'http://other.example') });
  for (const name of ['signature', 'signature-input']) await fails(withField(pay, name, fieldOf(offer, name) ?? ''));
});

test('another agent’s key set does not verify it, of the same owner or not', async () => {
  const [one, other] = [await aBuyer('web_bot_auth'), await aBuyer('web_bot_auth')];
  const [{ pay }, others] = [await checkout(one), await checkout(other)];
  await verifyRequest(pay, 'web-bot-auth', await keysNamedBy(pay));
  const otherKeys = await keysNamedBy(others.pay);
  await expect(verifyRequest(pay, 'web-bot-auth', otherKeys)).rejects.toThrow();
  // Also not where it claims to be the other one.
  const claiming = withField(pay, 'signature-agent', fieldOf(others.pay, 'signature-agent') ?? '');
  await expect(verifyRequest(claiming, 'web-bot-auth', await keysNamedBy(claiming))).rejects.toThrow();
  await expect(verifyRequest(claiming, 'web-bot-auth', await keysNamedBy(pay))).rejects.toThrow();
});

test('nothing is signed until the owner wants it, nor after the owner stops it; a key stays the agent’s', async () => {
  const payer = await aBuyer();
  const headersOf = ({ fields }: ReceivedRequest) => fields.map(({ name }) => name.toLowerCase());
  const signatureHeaders = ['signature', 'signature-input', 'signature-agent', 'content-digest'];
  const plain = await checkout(payer);
  for (const one of [plain.offer, plain.pay])
    for (const name of signatureHeaders) expect(headersOf(one)).not.toContain(name);
  expect(await (await publishedAt(payer.agentId)).json()).toEqual({ keys: [] });

  await setSignatures(payer, 'web_bot_auth');
  // Published before the first signature.
  const before = (await (await publishedAt(payer.agentId)).json()) as { keys: PublishedKey[] };
  expect(before.keys).toHaveLength(1);
  const { pay } = await checkout(payer);
  await verifyRequest(pay, 'web-bot-auth', before.keys);

  await setSignatures(payer, 'none');
  const after = await checkout(payer);
  for (const one of [after.offer, after.pay])
    for (const name of signatureHeaders) expect(headersOf(one)).not.toContain(name);
  await setSignatures(payer, 'both');
  expect(await keysNamedBy((await checkout(payer)).pay)).toEqual(before.keys);
});

test('a closed agent’s key is not published, so that what it signed verifies no more', async () => {
  const payer = await aBuyer('both');
  const { pay } = await checkout(payer);
  await verifyRequest(pay, 'web-bot-auth', await keysNamedBy(pay));
  await payer.owner.client(agentsArea).closeAgent({ params: { id: payer.agentId } });
  expect((await publishedAt(payer.agentId)).status).toBe(404);
});

test('the key is stored sealed, and neither key nor signature is in an event', async () => {
  const payer = await aBuyer('both');
  const { pay } = await checkout(payer);
  const [key] = await w.world.sql<{ kid: string; sealed: string }>(
    'select kid, sealed_private_key as sealed from signing_keys where agent_id = $1',
    [payer.agentId],
  );
  expect(key?.sealed.split('.')).toHaveLength(5); // Compact JWE.
  const signature = fieldOf(pay, 'signature') ?? '';
  expect(signature).toMatch(/^sig1=:[A-Za-z0-9+/=]{88}:, sig2=:[A-Za-z0-9+/=]{88}:$/);
  const stored = await w.world.sql<{ data: object }>('select data from events where owner_id = $1', [
    payer.owner.ownerId,
  ]);
  for (const secret of [...(signature.match(/[A-Za-z0-9+/=]{88}/g) ?? []), key?.sealed ?? ''])
    expect(JSON.stringify(stored)).not.toContain(secret);
});
