/**
 * Goal: every operation refuses what cannot be meant, and agents that may not call it, alike. Method: each published
 * operation is asked with a path, query or body that nothing could accept, without a credential, and by a token without
 * its scope; the network's messages with a wrong signature, and twice with one id.
 * @module
 */
import { STATUS_CODES } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { registeredMerchant } from '../support/factories/merchants.ts';
import { aPayer, networkOf, type Payer, sandboxShop } from '../support/payments-world.ts';
import { type PublishedOperation, publishedOperations, send, suiteLimitMs } from '../support/published-operations.ts';
import type { Asked } from '../support/samples.ts';
import { startWorld, type World } from '../support/world.ts';

let world: World;
let payer: Payer;
let merchantKey: string;
beforeAll(async () => {
  world = await startWorld();
  payer = await aPayer(world);
  merchantKey = (await registeredMerchant(payer.owner)).merchant_secret_key;
  await world.sql(`update agent_tokens set scopes = '{disputes.read}' where agent_id = $1`, [payer.agentId]);
}, suiteLimitMs);
afterAll(async () => {
  await world.close();
});

const isFor = (kind: 'key' | 'agent' | 'network') => (one: PublishedOperation) => one.operation.auth.includes(kind);
const named = (all: readonly PublishedOperation[]) => all.map((one) => [one.name, one] as const);

/** Nothing that has a place for it accepts this. */
const nonsense = 'x'.repeat(300);

/** The body of a refusal: `{error}`, or problem details with the same sentence. */
function bodyWith({ operation }: PublishedOperation, status: number, error: unknown): Record<string, unknown> {
  if (operation.problems !== true) return { error };
  const title = STATUS_CODES[status];
  return { type: expect.stringMatching(/^urn:bursar:problem:[a-z_]+$/), title, status, detail: error, error };
}

test('problem details are the refusals of the operations for merchants, and of no other', () => {
  const answering = publishedOperations.filter(({ operation }) => operation.problems === true);
  expect(answering.map(({ name }) => name).sort()).toEqual(['consumeMppCredential', 'consumeMppCredentialByChallenge']);
});

function senseless({ operation, path }: PublishedOperation): Asked {
  const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => [name, `${nonsense}-${name}`]);
  const key = operation.idempotency === 'required' ? { 'Idempotency-Key': 'once' } : {};
  const headers = { headers: operation.auth.includes('merchant') ? { ...key, 'X-Merchant-Key': merchantKey } : key };
  const asked =
    operation.auth.includes('dashboard') && !operation.auth.includes('key') ? ({ as: 'dashboard' } as const) : {};
  return { ...asked, ...headers, path: Object.fromEntries(parameters), query: 'nonsense=1', body: { nonsense } };
}

test.each(named(publishedOperations.filter((one) => !isFor('network')(one))))(
  '%s refuses nonsense in words',
  async (_, one) => {
    const answer = await send({ world, owner: payer.owner }, one, senseless(one));
    const expected = bodyWith(one, 400, expect.stringMatching(/^(path|query|body)/));
    expect([answer.status, await answer.json()]).toEqual([400, expected]);
  },
);

const bearers = publishedOperations.filter((one) => isFor('key')(one) || isFor('agent')(one));

test.each(named(bearers))('%s is not for an agent without its scope', async (_, one) => {
  const asked = { ...senseless(one), headers: { Authorization: `Bearer ${payer.token}`, 'Idempotency-Key': 'mine' } };
  const answer = await send({ world, owner: payer.owner }, one, asked);
  expect(answer.status).toBe(403);
});

const closed = publishedOperations.filter(({ operation }) => !operation.auth.includes('public'));

test.each(named(closed))('%s is refused without a credential', async (_, one) => {
  const answer = await send({ world, owner: payer.owner }, one, { ...senseless(one), as: 'nobody', headers: {} });
  expect([answer.status, await answer.json()]).toEqual([401, bodyWith(one, 401, expect.any(String))]);
});

const messages = publishedOperations.filter((one) => isFor('network')(one) && one.operation.takes === undefined);

test.each(named(messages))('%s: an id is for one message', async (name, one) => {
  const network = networkOf(world);
  const message = (amountCents: number) => {
    const more = {
      authorizationId: `auth_${name}`,
      final: true,
      kind: 'purchase',
      currency: 'EUR',
      merchant: sandboxShop,
    };
    const sent = { id: `message_${name}`, cardRef: payer.cardRef, amountCents, ...more };
    // An advice carries the authorization that it stands for.
    const authorization = { ...sent, id: more.authorizationId };
    return name === 'adviseCardPayment' ? { id: sent.id, approvedCents: amountCents, authorization } : sent;
  };
  const place = one.path.replace('/network/', '');
  expect((await network.send(place, { id: nonsense })).status).toBe(400);
  expect((await network.send(place, message(500))).status).toBe(200);
  expect((await network.send(place, message(501))).status).toBe(409);
});
