/**
 * Goal: no secret is written down anywhere it need not be. Method: an installation with known secrets lives through
 * every journey, repeats, refusals and outages with its log at the finest level; then every table, history, log,
 * command line and error body is looked through for every secret in every form.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { deriveTestNumber } from '../../src/sandbox/processor/card-number.ts';
import { createVault } from '../../src/vault/vault.ts';
import { readVaultKeys } from '../../src/vault/vault-keys.ts';
import { aRegistration } from '../support/factories/merchants.ts';
import { clientsOf } from '../support/factories/records.ts';
import { type Installation, startInstallation } from '../support/installation.ts';
import { openTemporal } from '../support/operator-view.ts';
import { playJourneys } from '../support/record/journeys.ts';
import { runOf } from '../support/record/run-of.ts';
import { type ScriptedShop, startScriptedShop } from '../support/record/scripted-shop.ts';
import type { Owner } from '../support/world.ts';
import { mintedTokens, type Places, placesOf } from './places.ts';
import { secretsIn } from './search.ts';
import { secretInWrongPlaces } from './wrong-places.ts';

let bursar: Installation;
let shop: ScriptedShop;
let owner: Owner;
let places: Places;
let errorBodies: string[];
/** What one run may show, and nothing else. */
let approversLink: { intentId: string; token: string };
/** What must be found nowhere, by what it is. */
const secrets = new Map<string, string>();

beforeAll(async () => {
  shop = await startScriptedShop();
  const temporalKey = randomUUID(); // Meant for a given server; this start runs another one and does not use it.
  secrets.set('Temporal’s API key', temporalKey);
  bursar = await startInstallation({
    LOG_LEVEL: 'trace',
    BURSAR_ALLOWED_ORIGINS: shop.origin,
    TEMPORAL_API_KEY: temporalKey,
  });
  await bursar.isWell();
  owner = await bursar.owner();
  const { agentId } = await secretsAreMade();
  await everyJourney();
  await secretsOfTheDeployment();
  errorBodies = await secretInWrongPlaces(bursar, owner, [...secrets.values()]);
  await outages(agentId);
  places = await placesOf(bursar);
}, 600_000);
afterAll(async () => {
  await bursar.stop();
  await shop.close();
});

const send = (path: string, body: object, headers: Record<string, string>) =>
  fetch(`${bursar.apiUrl}${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

/** Each with an Idempotency-Key, and asked for twice, so that the answers pass through the table that keeps them. */
async function secretsAreMade() {
  const api = clientsOf(owner);
  await api.fund.fundWallet({ body: { amountEuros: 100 } });
  const agent = await api.agents.createAgent({ body: { name: 'keeps a secret' } });
  const twice = async <Shown>(path: string, body: object): Promise<Shown> => {
    const headers = { Authorization: `Bearer ${owner.key}`, 'Idempotency-Key': randomUUID() };
    const shown = await (await send(path, body, headers)).text();
    expect(await (await send(path, body, headers)).text()).toBe(shown);
    return JSON.parse(shown) as Shown;
  };
  const { key } = await twice<{ key: string }>('/keys/create', { label: 'second' });
  const { token } = await twice<{ token: string }>(`/agents/${agent.id}/tokens`, { label: 'first' });
  const url = `${bursar.sandboxUrl}/receiver/secrets`;
  const { secret } = await twice<{ secret: string }>('/webhooks', { url, events: ['*'] });
  const merchant = await twice<{ merchant_secret_key: string }>('/v1/merchants', aRegistration());
  secrets.set('a merchant’s key', merchant.merchant_secret_key);
  secrets.set('the owner’s key', owner.key);
  secrets.set('a key made by a key', key);
  secrets.set('an agent token', token);
  secrets.set('a webhook’s secret', secret);
  const waiting = await twice<{ id: string; approvalUrl: string }>('/intents', {
    agentId: agent.id,
    purpose: 'waits for a person',
    expectedAmountEuros: 80,
  });
  approversLink = { intentId: waiting.id, token: waiting.approvalUrl.split('/').at(-1) ?? '' };
  await fetch(waiting.approvalUrl.replace('localhost', '127.0.0.1'), { headers: { Accept: 'text/html' } });
  await send(`/approve/${approversLink.token}`, { webauthnAssertion: {} }, {});
  await fetch(`${bursar.apiUrl}/approve/${approversLink.token}/no-such-thing`, { method: 'PUT' });
  const asAgent = clientsOf(bursar.as(token));
  const intent = await asAgent.intents.declareIntent({
    body: { agentId: agent.id, purpose: 'x', expectedAmountEuros: 9 },
  });
  await clientsOf(owner).agents.updateAgent({ params: { id: agent.id }, body: { requestSignatures: 'both' } });
  const targetUrl = `${bursar.sandboxUrl}/shops/sandbox-shop?amountCents=900`;
  await asAgent.checkout.executeCheckout({ body: { intentId: intent.id, targetUrl } });
  return { agentId: agent.id };
}

async function everyJourney(): Promise<void> {
  const temporal = await openTemporal(bursar.ready.temporalAddress);
  await playJourneys({
    ...bursar.ready,
    apiUrl: bursar.apiUrl,
    sandboxUrl: bursar.sandboxUrl,
    shop,
    observe: async () => undefined,
    runOf: runOf(temporal.client),
    signal: async (workflowId, input, name = 'decide') => {
      await temporal.started(workflowId);
      await temporal.signal(workflowId, name, input);
    },
  });
  await temporal.close();
}

/** Errors carry what they failed on: connections, requests, messages. */
async function outages(agentId: string): Promise<void> {
  const id = agentId as `ag_${string}`;
  const release = await bursar.holdDown('sandbox');
  await clientsOf(owner).agents.freezeAgent({ params: { id } });
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  await release();
  await bursar.kill('postgres');
  for (let i = 0; i < 5; i++) {
    const answer = await fetch(`${bursar.apiUrl}/agents`, { headers: { Authorization: `Bearer ${owner.key}` } });
    if (!answer.ok) errorBodies.push(await answer.text());
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  await bursar.isWell();
  await bursar.kill('temporal');
  await bursar.isWell();
  await clientsOf(owner).agents.unfreezeAgent({ params: { id } });
}

async function privateKeyOf(purpose: 'service' | 'agent', vaultKey: string): Promise<string> {
  const [key] = await bursar.sql<{ kid: string; sealed: string }>(
    `select kid, sealed_private_key as sealed from signing_keys where purpose = $1`,
    [purpose],
  );
  const vault = createVault({ keys: readVaultKeys(vaultKey) });
  const jwk = JSON.parse(await vault.open(key?.sealed ?? '', `signing-key/${key?.kid}`)) as { readonly d: string };
  return jwk.d;
}

async function secretsOfTheDeployment(): Promise<void> {
  const { ready, dir } = bursar;
  const fileOf = async (name: string) => (await readFile(join(dir, name), 'utf8')).trim();
  secrets.set('the first key', ready.apiKey);
  secrets.set('the dashboard’s secret', ready.dashboardSecret);
  secrets.set('the network’s key', ready.networkKey);
  secrets.set('the vault’s key', await fileOf('vault.key'));
  secrets.set('the signing key', (await fileOf('signing.key')).split('\n')[1] ?? '');
  secrets.set('the database’s password', new URL(ready.databaseUrl).password);
  secrets.set('the password of the database’s owner', await fileOf('postgres.password'));
  const vaultKey = await fileOf('vault.key');
  secrets.set('the key of receipts', await privateKeyOf('service', vaultKey));
  secrets.set('the key with which an agent signs requests', await privateKeyOf('agent', vaultKey));
  for (const [index, token] of mintedTokens(bursar).entries()) secrets.set(`payment token ${index}`, token);
  const cards = await bursar.sql<{ card_ref: string }>('select card_ref from cards where card_ref is not null');
  for (const [index, card] of cards.entries()) secrets.set(`card number ${index}`, deriveTestNumber(card.card_ref));
}

const hitsIn = (text: string): string[] => secretsIn(secrets, text);

const placesLike = (kind: string): [string, string][] => [...places].filter(([name]) => name.startsWith(kind));

test('the test used secrets of every kind, and answers with secrets were stored sealed', async () => {
  expect(secrets.size).toBeGreaterThan(20);
  expect([...secrets].filter(([, secret]) => secret.length < 12).map(([what]) => what)).toEqual([]);
  expect(mintedTokens(bursar).length).toBeGreaterThanOrEqual(5);
  const kept = await bursar.sql<{ path: string }>('select path from idempotency where body_is_sealed order by path');
  expect(kept).toHaveLength(5);
});

describe.each([
  ['table', 25],
  ['history', 15],
  ['description', 15],
  ['details', 15],
  ['log', 5],
  ['command line', 5],
  ['what the start said', 1],
] as const)('every %s', (kind, atLeast) => {
  test('is free of every secret', () => {
    expect(placesLike(kind).length).toBeGreaterThanOrEqual(atLeast);
    const hits = placesLike(kind).flatMap(([name, text]) => hitsIn(text).map((what) => `${what} in ${name}`));
    expect(hits).toEqual([]);
  });
});

test('an approver’s link is in the history of its run and nowhere else', () => {
  const { intentId, token } = approversLink;
  expect(token).toHaveLength(32);
  const standsIn = [...places].filter(([, text]) => text.includes(token)).map(([name]) => name);
  expect(standsIn).toContain(`history intent/${intentId}`);
  expect(standsIn.filter((name) => !name.endsWith(` intent/${intentId}`))).toEqual([]);
});

test('error bodies are free of every secret', () => {
  expect(errorBodies.length).toBeGreaterThan(30);
  const hits = errorBodies.flatMap((body) => hitsIn(body).map((what) => `${what} in ${body.slice(0, 200)}`));
  expect(hits).toEqual([]);
});

test('the search does find: the owner in every kind of place, a planted secret in its forms', () => {
  for (const kind of ['table events', 'history', 'description']) {
    expect([kind, placesLike(kind).some(([, text]) => text.includes(owner.ownerId))]).toEqual([kind, true]);
  }
  const [, key = ''] = [...secrets].find(([what]) => what === 'the owner’s key') ?? [];
  for (const form of [key, key.slice(11), Buffer.from(key).toString('hex'), Buffer.from(key).toString('base64')]) {
    expect(hitsIn(`before ${form} after`)).toContain('the owner’s key');
  }
});

test('logs were written at the level trace, and record the outages', () => {
  const api = places.get('log api.log') ?? '';
  expect(api).toMatch(/"level":"(debug|trace|warn)"/);
  expect(placesLike('log').some(([, text]) => /ECONNREFUSED|terminat|Temporal is away/.test(text))).toBe(true);
});

test('files that hold a secret are the owner’s alone to read', async () => {
  const kept: string[] = [];
  for (const entry of await readdir(bursar.dir, { withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(bursar.dir, entry.name);
    if (hitsIn(await readFile(path, 'latin1')).length === 0) continue;
    kept.push(entry.name);
    expect([entry.name, (await stat(path)).mode & 0o077]).toEqual([entry.name, 0]);
  }
  // The sandbox's store is the outside world's: it minted the tokens.
  const ours = kept.filter((name) => !name.startsWith('sandbox.sqlite'));
  expect(ours.sort()).toEqual([
    'dashboard.secret',
    'network.key',
    'owner.json',
    'postgres-app.password',
    'postgres.password',
    'ready.json',
    'signing.key',
    'vault.key',
  ]);
});
