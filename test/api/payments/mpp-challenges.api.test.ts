/** A payment challenge becomes an intent for its amount at its payee, by the rules, and nothing that it displays counts. @module */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { allowAllRisk } from '../../../src/adapters/risk/allow-all.ts';
import type { Refused } from '../../../src/client/client.ts';
import { mppChallengesArea } from '../../../src/domains/payments/mpp-challenges/mpp-challenge.contract.ts';
import { findIntent } from '../../../src/domains/spending/intents/intent.queries.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { evaluateChallenge } from '../../../src/usecases/payments/evaluate-challenge.ts';
import { evaluateCharge } from '../../../src/usecases/payments/evaluate-charge.ts';
import { challengeHeader, readChallengeHeader } from '../../support/payment-challenges.ts';
import { aPayer, inDatabase, type Payer } from '../../support/payments-world.ts';
import { businessNow, startWorld, type World } from '../../support/world.ts';

let world: World;
let payer: Payer;
beforeAll(async () => {
  world = await startWorld();
  payer = await aPayer(world);
});
afterAll(async () => {
  await world.close();
});

const url = 'https://API.shop.example:8443/reports/7?x=1';

const handle = (body: object, token = payer.token) =>
  world
    .as(token)
    .client(mppChallengesArea)
    .handlePaymentChallenge({ body: { agentId: payer.agentId, challenge: challengeHeader(), ...body } });

async function refusalOf(asked: Promise<unknown>): Promise<[number, string | null, string]> {
  try {
    await asked;
  } catch (error) {
    const { status, headers, message } = error as Refused;
    return [status, headers.get('X-Service-Error-Code'), message];
  }
  throw new Error('it was not refused');
}

test('the intent is for the amount at the recipient, approved by the policy, with the challenge as it was read', async () => {
  const header = challengeHeader();
  const { challenge: sent } = readChallengeHeader(header);
  const { intent, challenge } = await handle({ url, challenge: header });
  expect(intent).toMatchObject({
    agentId: payer.agentId,
    cardId: payer.cardId,
    status: 'approved',
    expectedAmountEuros: 12.5,
    expectedMerchant: 'merch_1',
    purpose: 'Machine payment to api.shop.example',
  });
  expect(challenge).toEqual({
    id: sent.id,
    realm: 'shop.example',
    amountEuros: 12.5,
    currency: 'EUR',
    host: 'api.shop.example',
    recipient: 'merch_1',
    networks: ['visa'],
    expiresAt: sent.expires,
  });
});

test('without an address the payee is the recipient, without a recipient the host', async () => {
  const { intent, challenge } = await handle({});
  expect([intent.expectedMerchant, challenge.host]).toEqual(['merch_1', null]);
  const unnamed = await handle({ url, challenge: challengeHeader({ recipient: undefined }) });
  expect([unnamed.intent.expectedMerchant, unnamed.challenge.recipient]).toEqual(['api.shop.example', null]);
});

test('a rule of the policy decides as for any intent', async () => {
  const strict = await aPayer(world, { policy: { max_transaction_cents: 1_000 } });
  const { intent } = await handle({ url, agentId: strict.agentId }, strict.token);
  expect(intent).toMatchObject({ status: 'denied', policyCheck: { allowed: false } });
});

// Whatever is asked first, the same challenge of the same merchant gets the same verdict of the same rule.
test.each<[string, Readonly<Record<string, unknown>>, { recipient?: string | undefined }, boolean]>([
  ['no rule about merchants', {}, {}, true],
  ['no rule about merchants, and no recipient', {}, { recipient: undefined }, true],
  ['an allowed host', { merchant_allowlist: ['shop.example'] }, {}, true],
  ['an allowed recipient', { merchant_allowlist: ['merch_1'] }, {}, true],
  ['an allowed host, and no recipient', { merchant_allowlist: ['api.shop.example'] }, { recipient: undefined }, true],
  ['another allowed merchant', { merchant_allowlist: ['other.example'] }, {}, false],
  ['a blocked host', { merchant_blocklist: ['api.shop.example'] }, {}, false],
  ['a blocked recipient', { merchant_blocklist: ['merch_1'] }, {}, false],
])('%s: declaring and paying agree, and minting never allows more', async (_what, policy, parts, isAllowed) => {
  const of = await aPayer(world, { policy });
  const { challenge, charge } = readChallengeHeader(challengeHeader(parts));
  const { intent } = await handle({ url, agentId: of.agentId, challenge: challengeHeader(parts) }, of.token);
  expect([intent.status, intent.policyCheck.allowed]).toEqual(isAllowed ? ['approved', true] : ['denied', false]);
  // The intent as it would stand without the denial, so that the other two questions reach the rules.
  await world.sql(`update intents set status = 'approved' where id = $1`, [intent.id]);
  const at = await businessNow(world);
  const verdictAt = (origin: string | null) =>
    inDatabase(world, (database) =>
      database.write(async (tx) => {
        const row = await findIntent(tx, intent.id);
        if (row === null) throw new Error('the intent is gone');
        const order = { intent: row, cardId: of.cardId, paymentId: null, challenge, charge, origin };
        return evaluateChallenge({ evaluate: evaluateCharge({ risk: allowAllRisk }) })(tx, order, at);
      }),
    );
  const paying = await verdictAt(new URL(url).origin);
  expect(paying.ok).toBe(isAllowed);
  if (!paying.ok) expect(paying.reason).toContain(intent.policyCheck.reason);
  const minting = await verdictAt(null);
  expect(minting).not.toMatchObject({ code: 'challenge_merchant' });
  if (!('recipient' in parts) && !JSON.stringify(policy).includes('shop.example')) {
    expect(minting.ok).toBe(isAllowed);
  }
});

test.each<[string, object, string]>([
  ['invalid_state', { challenge: 'Bearer realm="x"' }, 'no challenge of the scheme Payment'],
  ['invalid_state', { challenge: challengeHeader({ currency: 'usd' }), url }, 'Bursar pays in eur'],
  ['invalid_state', { challenge: challengeHeader({ recipient: undefined }) }, 'names no recipient'],
  ['invalid_request', { url: 'http://shop.example' }, 'use https'],
  ['invalid_request', { url: 'https://10.0.0.1/x' }, 'private'],
  ['invalid_request', { challenge: 'x'.repeat(8_193) }, 'body.challenge'],
])('%s: %j is refused', async (code, body, sentence) => {
  expect(await refusalOf(handle(body))).toEqual([400, code, expect.stringContaining(sentence)]);
});

test('a protect rule that denies the host is 403, and no intent is declared', async () => {
  const of = await aPayer(world);
  await world.sql(
    `insert into protect_rules (id, owner_id, type, merchant, request_id, created_at)
     values ($1, $2, 'deny', 'api.shop.example', 'req', now())`,
    [newId('protectRule'), of.owner.ownerId],
  );
  const refused = await refusalOf(handle({ url, agentId: of.agentId }, of.token));
  expect(refused).toEqual([403, 'policy_denied', expect.stringContaining('denies machine payments')]);
  expect(await world.sql('select 1 from intents where agent_id = $1', [of.agentId])).toEqual([]);
});
