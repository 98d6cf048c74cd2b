/**
 * A merchant that sells by HTTP 402 with mppx: it makes the challenges, verifies the credentials, opens what was
 * encrypted for it and has its enabler charge the token. `GET /records` tells what it received. Knows no code of Bursar.
 * @module
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { compactDecrypt, exportJWK, generateKeyPair, importJWK } from 'jose';
import { Errors, Expires, Method } from 'mppx';
import { Mppx, Request as Requests } from 'mppx/server';
import { cardCharge, paymentToken } from './card-method.mjs';

const { secretKey, enablerUrl, recipient, tls, privateJwk } = JSON.parse(process.argv[2] ?? '{}');

const algorithm = 'RSA-OAEP-256';
const made = privateJwk ?? (await exportJWK((await generateKeyPair(algorithm, { extractable: true })).privateKey));
const privateKey = await importJWK(made, algorithm);
const jwk = { kty: made.kty, n: made.n, e: made.e, alg: algorithm, use: 'enc', kid: 'enc-1' };

const records = [];
const used = new Set();

/** Refuses whatever the draft does not allow, and says what. */
async function open(encryptedPayload) {
  const { plaintext, protectedHeader } = await compactDecrypt(encryptedPayload, privateKey).catch(() => {
    throw new Errors.VerificationFailedError({ reason: 'the encrypted part is not for this key' });
  });
  const header = JSON.stringify(Object.entries(protectedHeader).sort());
  const expected = JSON.stringify(Object.entries({ alg: algorithm, enc: 'A256GCM', kid: jwk.kid }).sort());
  if (header !== expected) throw new Errors.VerificationFailedError({ reason: `the header of the JWE is ${header}` });
  const text = new TextDecoder('utf-8', { fatal: true }).decode(plaintext);
  const { success, data } = paymentToken.safeParse(JSON.parse(text));
  if (!success || JSON.stringify(JSON.parse(text)) !== text)
    throw new Errors.VerificationFailedError({ reason: 'the payment token has another form' });
  return data;
}

async function charge({ credential, envelope, request }) {
  const { challenge, payload } = credential;
  const { url, headers } = envelope.capturedRequest;
  const value = headers.get(challenge.header ?? 'Authorization');
  const record = { path: url.pathname, challengeId: challenge.id, payload, value };
  records.push(record);
  if (!request.methodDetails.acceptedNetworks.includes(payload.network))
    throw new Errors.VerificationFailedError({ reason: 'the network is not accepted' });
  const opened = await open(payload.encryptedPayload);
  record.opened = opened;
  if (used.has(challenge.id)) throw new Errors.InvalidChallengeError({ id: challenge.id, reason: 'already used' });
  used.add(challenge.id);
  const answer = await fetch(enablerUrl, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': challenge.id },
    body: JSON.stringify({
      paymentToken: opened.token.paymentToken,
      amountCents: Number(request.amount),
      challengeId: challenge.id,
    }),
  });
  const { reference } = await answer.json();
  record.reference = reference ?? null;
  if (reference === undefined) throw new Errors.VerificationFailedError({ reason: 'the card was declined' });
  const receipt = { method: 'card', status: 'success', reference, timestamp: new Date().toISOString() };
  return { ...receipt, challengeId: challenge.id, externalId: request.externalId };
}

const card = { ...cardCharge, verify: charge };
/** Offered by real merchants; nothing pays with it here. */
const crypto = {
  ...Method.from({ ...cardCharge, name: 'tempo' }),
  verify: () => Promise.reject(new Errors.VerificationFailedError({ reason: 'only cards are tested' })),
};

function sellerAt(origin) {
  const realm = new URL(origin).host;
  const payments = Mppx.create({ methods: [card, crypto], secretKey, realm });
  const inOwnHeader = Mppx.create({ methods: [card], secretKey, realm, requiresAuth: true });
  const priced = (over = {}, details = { encryptionJwk: jwk }) => ({
    ...{ amount: '499', currency: 'eur', recipient, externalId: 'order_1' },
    ...{ description: 'One "report", Payment id="fake", “Übung” \\o/ – 4,99 €', meta: { order: '1', note: 'naïve' } },
    methodDetails: { acceptedNetworks: ['visa', 'mastercard'], merchantName: 'Café Übung', ...details },
    ...over,
  });
  const published = { jwksUri: `https://${realm}/keys`, kid: jwk.kid };
  const handlers = {
    '/paid': payments.card.charge(priced()),
    '/other-price': payments.card.charge(priced({ amount: '999' })),
    '/dollars': payments.card.charge(priced({ currency: 'usd' })),
    '/crypto-only': payments.tempo.charge(priced()),
    '/several': payments.compose(
      ['tempo/charge', priced()],
      ['card/charge', priced({ currency: 'usd' })],
      ['card/charge', priced()],
    ),
    '/own-header': inOwnHeader.card.charge(priced()),
    '/published-key': payments.card.charge(priced({}, published)),
    '/amex-only': payments.card.charge(priced({}, { encryptionJwk: jwk, acceptedNetworks: ['amex'] })),
    '/expired': payments.card.charge(priced({ expires: new Date(Date.now() - 1_000).toISOString() })),
    '/brief': payments.card.charge(priced({ expires: Expires.seconds(2) })),
    '/charges-and-fails': payments.card.charge(priced()),
  };
  return async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === '/records') return Response.json(records);
    if (pathname === '/keys') return Response.json({ keys: [jwk] });
    if (pathname === '/moved') return new Response(null, { status: 302, headers: { Location: '/paid' } });
    const handler = handlers[pathname];
    if (handler === undefined) return new Response('nothing is sold here', { status: 404 });
    const result = await handler(request);
    if (result.status === 402) return result.challenge;
    if (pathname === '/charges-and-fails') return new Response('the shelf is empty', { status: 500 });
    return result.withReceipt(Response.json({ report: 'paid content', path: pathname }));
  };
}

async function listen(server, scheme) {
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `${scheme}://localhost:${server.address().port}`;
  server.on('request', Requests.toNodeListener(sellerAt(origin)));
  return origin;
}

const origins = [await listen(createServer(), 'http')];
if (tls !== undefined) {
  const certificate = { key: readFileSync(tls.key), cert: readFileSync(tls.certificate) };
  origins.push(await listen(createSecureServer(certificate), 'https'));
}
process.on('disconnect', () => process.exit(0));
process.send(origins);
