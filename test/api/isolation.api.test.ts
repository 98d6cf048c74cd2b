/**
 * Goal: nobody reaches what is not theirs. Method: every published operation is called with another owner's ids and
 * with a sibling agent's token; an operation that this file does not know how to call fails it.
 * @module
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { canonicalPath } from '../../src/http/openapi.ts';
import type { Operation } from '../../src/http/route.ts';
import { publishedAreas } from '../../src/main/modules/index.ts';
import { softPasskey } from '../support/authenticator.ts';
import { aPasskey } from '../support/factories/passkeys.ts';
import { clientsOf, type Records, recordsOf } from '../support/factories/records.ts';
import { type Owner, startWorld, type World } from '../support/world.ts';

type Case = { name: string; operation: Operation; path: string; tag: string };

const cases: Case[] = publishedAreas.flatMap((area) =>
  Object.entries(area.operations).map(([name, operation]: [string, Operation]) => ({
    name,
    operation,
    path: canonicalPath(area, operation) || '/',
    tag: area.tag,
  })),
);

let world: World;
let victim: Owner;
let theirs: Records;
let theirPasskeyId: string;
let stranger: Owner;
let strangersAgentToken: string;
let siblingToken: string;

beforeAll(async () => {
  world = await startWorld({ worker: true });
  victim = await world.owner();
  theirs = await recordsOf(world, victim);
  theirPasskeyId = (await aPasskey(world, victim)).id;
  const victims = clientsOf(victim);
  const sibling = await victims.agents.createAgent({ body: { name: 'sibling' } });
  siblingToken = (await victims.tokens.createAgentToken({ params: { id: sibling.id }, body: {} })).token;
  stranger = await world.owner();
  const strangers = clientsOf(stranger);
  const agent = await strangers.agents.createAgent({ body: { name: 'stranger' } });
  strangersAgentToken = (await strangers.tokens.createAgentToken({ params: { id: agent.id }, body: {} })).token;
}, 60_000);
afterAll(async () => {
  await world.close();
});

/** Which record a path parameter names, by the segment before it. */
const named: Readonly<Record<string, (records: Records) => string>> = {
  agents: ({ agentId }) => agentId,
  agent: ({ agentId }) => agentId,
  tokens: ({ tokenId }) => tokenId,
  customers: () => 'cus_aaaaaaaaaaaaaaaa',
  keys: () => 'key_aaaaaaaaaaaaaaaa',
  policies: ({ policyId }) => policyId,
  intents: ({ intentId }) => intentId,
  evidence: ({ evidenceId }) => evidenceId,
  cards: ({ cardId }) => cardId,
  passkeys: () => theirPasskeyId,
  transactions: ({ transactionId }) => transactionId,
  wallets: ({ walletId }) => walletId,
  ledger: ({ entryId }) => entryId,
  fund: ({ fundingId }) => fundingId,
  webhooks: ({ webhookId }) => webhookId,
  deliveries: ({ deliveryId }) => deliveryId,
};

/** Bodies that name the victim's records, or are simply valid. */
const bodies: Readonly<Record<string, (records: Records) => object>> = {
  declareIntent: ({ agentId }) => ({ agentId, purpose: 'x', expectedAmountEuros: 1 }),
  verifyIntent: () => ({ actualAmountEuros: 1 }),
  createEvidence: ({ intentId }) => ({ intentId }),
  createPasskeyChallenge: () => ({ purpose: 'revoke_passkey', subjectId: theirPasskeyId }),
  attestIntent: () => ({ webauthnAssertion: someAssertion() }),
  approveIntent: () => ({ webauthnAssertion: someAssertion() }),
  revokePasskey: () => ({ webauthnAssertion: someAssertion() }),
  executeCheckout: ({ approvedIntentId }) => ({
    intentId: approvedIntentId,
    targetUrl: `${world.sandboxUrl}/shops/sandbox-shop?amountCents=500`,
  }),
  confirmCheckout: ({ approvedIntentId }) => ({ intentId: approvedIntentId }),
  simulatePolicy: ({ agentId }) => ({ agentId, amount: 1 }),
  applyPolicy: () => ({ presetId: 'open' }),
  toggleAgentPolicy: () => ({ field: 'requireIntent', value: false }),
  createAgentToken: () => ({ label: 'stolen' }),
  fundAgent: () => ({ amount: 1 }),
  fundWalletById: () => ({ amountEuros: 1 }),
  updateAgent: () => ({ name: 'mine now' }),
  updateCard: () => ({ displayName: 'mine now' }),
  updateCardLimits: () => ({ dailyLimitEuros: null }),
  updateTransaction: () => ({ memo: 'mine now' }),
  simulateTransaction: ({ cardId }) => ({ cardId, amountEuros: 1 }),
  issueAgentCard: () => ({ usage: 'multi', purpose: 'mine now' }),
  updateWallet: () => ({ name: 'mine now' }),
  updateCustomer: () => ({ companyName: 'mine now' }),
  updateAgentPolicy: () => ({ dailyLimitEuros: 9_999 }),
  updatePolicy: () => ({ dailyLimitEuros: 9_999 }),
};

/** Well-formed, and good for nothing. */
const someAssertion = () =>
  softPasskey(world.config.publicUrl).answer({ challengeId: 'chl_aaaaaaaaaaaaaaaa', options: { challenge: 'x' } });

const pathFor = ({ path }: Case, records: Records): string | undefined => {
  let known = true;
  const filled = path.replace(/([\w-]+)\/\{(\w+)\}/g, (_, before: string, parameter: string) => {
    if (parameter === 'presetId') return `${before}/balanced`;
    const value = named[before]?.(records);
    known &&= value !== undefined;
    return `${before}/${value}`;
  });
  return known ? filled : undefined;
};

const call = async ({ operation, name }: Case, path: string, token: string) => {
  const body = operation.method === 'get' ? undefined : JSON.stringify(bodies[name]?.(theirs) ?? {});
  const answer = await fetch(`${world.apiUrl}${path}`, {
    method: operation.method.toUpperCase(),
    headers: {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      ...(operation.idempotency === 'required' ? { 'Idempotency-Key': crypto.randomUUID() } : {}),
    },
    ...(body === undefined ? {} : { body }),
  });
  return { status: answer.status, text: await answer.text() };
};

/** Names the victim in its path or body. */
const reaches = (one: Case): boolean => /\{(?!presetId)/.test(one.path) || bodies[one.name] !== undefined;

const forBearers = cases.filter(({ operation }) => operation.auth.some((kind) => kind === 'key' || kind === 'agent'));
const reaching = forBearers.filter(reaches);

test('every operation that takes an id is known to this file', () => {
  expect(
    reaching.filter((one) => pathFor(one, theirs) === undefined).map(({ name, path }) => `${name} ${path}`),
  ).toEqual([]);
  expect(reaching.length).toBeGreaterThan(35);
  const unknown = Object.keys(bodies).filter((name) => !forBearers.some((one) => one.name === name));
  expect(unknown).toEqual([]);
});

const footprint = () =>
  world.sql(
    'select (select count(*) from events where owner_id = $1)::int as events, (select count(*) from audit where owner_id = $1)::int as audits',
    [victim.ownerId],
  );

test('another owner’s records do not exist, for reading or for changing, and nothing is written', async () => {
  const before = await footprint();
  const seen: string[] = [];
  for (const one of reaching) {
    const { status, text } = await call(one, pathFor(one, theirs) ?? '', stranger.key);
    if (status !== 404) seen.push(`${one.name}: ${status} ${text.slice(0, 120)}`);
  }
  expect(seen).toEqual([]);
  expect(await footprint()).toEqual(before);
}, 60_000);

test('a stranger’s agent token gets 404, or 403 where no agent may call at all', async () => {
  const seen: string[] = [];
  for (const one of reaching) {
    const { status } = await call(one, pathFor(one, theirs) ?? '', strangersAgentToken);
    const expected = one.operation.auth.includes('agent') ? 404 : 403;
    if (status !== expected) seen.push(`${one.name}: ${status}`);
  }
  expect(seen).toEqual([]);
}, 60_000);

// spec: token-use:Agent token:scoped to one agent, for autonomous operation
test('a sibling agent gets 403 everywhere: the record is its owner’s, and not its own', async () => {
  // Wallets are the owner's; a sibling that draws on the same wallet may read it.
  const shared = new Set(['getWallet', 'getWalletBalance']);
  const before = await footprint();
  const seen: string[] = [];
  for (const one of reaching.filter(({ name }) => !shared.has(name))) {
    const { status, text } = await call(one, pathFor(one, theirs) ?? '', siblingToken);
    if (status !== 403) seen.push(`${one.name}: ${status} ${text.slice(0, 120)}`);
  }
  expect(seen).toEqual([]);
  expect(await footprint()).toEqual(before);
}, 60_000);

test('lists show an agent its own records only', async () => {
  for (const path of ['/agents', '/intents', '/transactions', '/ledger']) {
    const answer = await fetch(`${world.apiUrl}${path}`, { headers: { Authorization: `Bearer ${siblingToken}` } });
    expect([path, answer.status]).toEqual([path, 200]);
    expect(await answer.text()).not.toContain(theirs.agentId);
  }
});

// spec: auth:bearer token
test('without a credential every one of them answers 401', async () => {
  for (const one of forBearers) {
    const answer = await fetch(`${world.apiUrl}${pathFor(one, theirs) ?? one.path}`, {
      method: one.operation.method.toUpperCase(),
    });
    expect([one.name, answer.status]).toEqual([one.name, 401]);
  }
});

// spec: alias:/accounts
test('every alias, with and without /v1, is the same operation', async () => {
  for (const area of publishedAreas) {
    for (const base of [area.base, ...area.aliases]) {
      if (base === '') continue;
      for (const prefix of ['', '/v1']) {
        const path = `${prefix}${base.replace(/^\/v1/, '')}`;
        const answer = await fetch(`${world.apiUrl}${path}/nothing-here/nothing-here/nothing-here/nothing-here`);
        expect(answer.status).toBe(404);
      }
    }
  }
});
