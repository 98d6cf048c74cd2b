/** A merchant that sells a report for 4.99 EUR to agents that pay by HTTP 402; docs/accepting.md explains it. @module */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createChallenges, Problem, post, receiptOf, serve } from './payment-challenge.mjs';

const { ACQUIRER_URL, BURSAR_URL, CHALLENGE_SECRET, ENCRYPTION_JWK, MERCHANT_ID, MERCHANT_KEY, PORT, REALM } =
  process.env;
const charge = { amount: '499', currency: 'eur', recipient: MERCHANT_ID, merchantName: 'Acme Reports' };
const jwk = JSON.parse(ENCRYPTION_JWK);
const challenges = await createChallenges({ secret: CHALLENGE_SECRET, realm: REALM, jwk, charge });
const description = readFileSync(new URL('openapi.json', import.meta.url));

/** Your acquirer's interface; here the sandbox's card network. The same key is the same charge, also after a crash. */
async function chargeCard(paymentToken, challengeId) {
  const merchant = { id: MERCHANT_ID, name: charge.merchantName, mcc: '5734', country: 'DE' };
  const order = { paymentToken, amountCents: Number(charge.amount), merchant };
  const answer = await post(`${ACQUIRER_URL}/network/purchases`, { 'Idempotency-Key': challengeId }, order);
  const { decision, authorizationId } = await answer.json();
  if (decision !== 'approved') throw new Problem('verification-failed');
  return authorizationId;
}

/** Of several calls for one challenge one succeeds. */
async function consumeCredential(challengeId, reference) {
  const headers = { 'X-Merchant-Key': MERCHANT_KEY, 'Idempotency-Key': randomUUID() };
  const price = { expectedAmountEuros: Number(charge.amount) / 100, expectedCurrency: charge.currency };
  const url = `${BURSAR_URL}/v1/mpp/credentials/by-challenge/${challengeId}/verify`;
  const { status } = await post(url, headers, price).catch(() => post(url, headers, price)); // A lost answer comes again.
  if (status === 200) return;
  // A copy of a credential that was sold for shares its charge. Any other charge was made for nothing.
  if (status !== 409) process.stderr.write(`refund the charge ${reference}\n`);
  throw new Problem({ 409: 'invalid-challenge', 410: 'payment-expired' }[status] ?? 'verification-failed');
}

async function sell({ authorization }) {
  const { challengeId, paymentToken } = await challenges.read(authorization);
  const reference = await chargeCard(paymentToken, challengeId);
  await consumeCredential(challengeId, reference);
  const headers = { 'Cache-Control': 'private', 'Payment-Receipt': receiptOf(challengeId, reference) };
  return { status: 200, headers, body: '{"report":"paid content"}' };
}

const describe = () => ({ status: 200, headers: { 'Cache-Control': 'max-age=300' }, body: description });
serve({ 'GET /report': sell, 'GET /openapi.json': describe }, { port: Number(PORT), refuse: challenges.refuse });
