/**
 * Goal: the API key of an external Temporal is stored nowhere. Method: an installation whose Temporal is behind TLS has a
 * payment, an outage and a refusal of its key; then the test searches for the key.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createSecureServer } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { clientsOf } from '../support/factories/records.ts';
import { type ChildName, healthOf, type Installation, startInstallation } from '../support/installation.ts';
import { openTemporal } from '../support/operator-view.ts';
import { type Listening, listening, makeCertificates, openssl, passOn } from '../support/tls.ts';
import { eventually, type Owner } from '../support/world.ts';
import { type Places, placesOf } from './places.ts';
import { secretsIn } from './search.ts';
import { secretInWrongPlaces } from './wrong-places.ts';

const temporalKey = randomUUID();
const namespace = `key-${randomUUID()}`;
const hitsIn = (text: string): string[] => secretsIn(new Map([['the key', temporalKey]]), text);

// The key is only sent over TLS, and openssl makes the certificates: skipped on a machine without it.
(openssl ? describe : describe.skip)('a Temporal that asks for a key', () => {
  let certificates: string;
  let front: Listening;
  let bursar: Installation;
  let owner: Owner;
  let places: Places;
  let errorBodies: string[];

  const identity = async () => ({
    cert: await readFile(join(certificates, 'server.pem')),
    key: await readFile(join(certificates, 'server.key')),
  });
  const serve = async (port?: number) =>
    listening(createServer({ ...(await identity()), ALPNProtocols: ['h2'] }, passOn), port);
  /** Answers every call as a server does that does not know the key. */
  const refuse = async (port: number) => {
    const server = createSecureServer(await identity());
    server.on('stream', (stream) => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '16' }, { endStream: true });
    });
    return listening(server, port);
  };

  beforeAll(async () => {
    certificates = await mkdtemp(join(tmpdir(), 'bursar-tls-'));
    makeCertificates(certificates);
    front = await serve();
    bursar = await startInstallation({
      LOG_LEVEL: 'trace',
      TEMPORAL_ADDRESS: front.address,
      TEMPORAL_NAMESPACE: namespace,
      TEMPORAL_API_KEY: temporalKey,
      TEMPORAL_TLS_SERVER_CA_CERT_PATH: join(certificates, 'ca.pem'),
    });
    await bursar.isWell();
    owner = await bursar.owner();
    const intentId = await aPayment();
    errorBodies = await secretInWrongPlaces(bursar, owner, [temporalKey]);
    await away(intentId);
    places = await placesOf(bursar, { address: process.env.TEST_TEMPORAL ?? '', namespace });
  }, 240_000);
  afterAll(async () => {
    await bursar.stop();
    await front.close();
    await rm(certificates, { recursive: true, force: true });
  });

  /** Approved by a signal, as an operator does; answers another intent, which waits. */
  async function aPayment(): Promise<string> {
    const api = clientsOf(owner);
    await api.fund.fundWallet({ body: { amountEuros: 300 } });
    const { id: agentId } = await api.agents.createAgent({ body: { name: 'buyer' } });
    const body = { agentId, purpose: 'dear', expectedAmountEuros: 80, expectedMerchant: 'Sandbox Shop' };
    const { id } = await api.intents.declareIntent({ body });
    const temporal = await openTemporal(process.env.TEST_TEMPORAL, namespace);
    await temporal.started(`intent/${id}`);
    await temporal.signal(`intent/${id}`, 'decide', { decision: 'approve', by: 'anna' });
    await temporal.close();
    const read = () => api.intents.getIntent({ params: { id } });
    await eventually(read, ({ status }) => status === 'approved');
    const targetUrl = `${bursar.sandboxUrl}/shops/sandbox-shop?amountCents=8000`;
    await api.checkout.executeCheckout({ body: { intentId: id, targetUrl } });
    return (await api.intents.declareIntent({ body })).id;
  }

  /** No server, then a server that refuses the key; each time an operation needs it. */
  async function away(intentId: string): Promise<void> {
    await front.close();
    await refusedApproval(intentId);
    const stranger = await refuse(front.port);
    await refusedApproval(intentId);
    await stranger.close();
    front = await serve(front.port);
    await bursar.isWell();
    const temporal = await openTemporal(process.env.TEST_TEMPORAL, namespace);
    const isAnswered = () =>
      temporal.viewOf(`intent/${intentId}`).then(
        () => true,
        () => false,
      );
    await eventually(isAnswered, (answered) => answered, 60_000); // The worker polls again some time later.
    await temporal.close();
  }

  async function refusedApproval(intentId: string): Promise<void> {
    await eventually(
      () => healthOf(bursar.apiUrl),
      ({ checks }) => checks.temporal !== 'ok',
    );
    const answer = await fetch(`${bursar.apiUrl}/intents/${intentId}/approve`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${owner.key}`, 'Content-Type': 'application/json' },
      body: '{}',
    });
    expect(answer.status).toBe(503);
    errorBodies.push(await answer.text());
  }

  test('gets the key from the API and the worker, and no other process knows it', async () => {
    const knows = async (name: ChildName) => {
      const environment = await readFile(`/proc/${(await bursar.child(name)).pid}/environ`, 'utf8');
      return [name, hitsIn(environment).length > 0];
    };
    expect(await Promise.all((['api', 'worker', 'sandbox'] as const).map(knows))).toEqual([
      ['api', true],
      ['worker', true],
      ['sandbox', false],
    ]);
  });

  test.each([
    ['table', 25],
    ['history', 2],
    ['description', 2],
    ['details', 2],
    ['log', 4],
    ['command line', 4],
    ['what the start said', 1],
  ] as const)('it stands in no %s', (kind, atLeast) => {
    const found = [...places].filter(([name]) => name.startsWith(kind));
    expect(found.length).toBeGreaterThanOrEqual(atLeast);
    expect(found.filter(([, text]) => hitsIn(text).length > 0).map(([name]) => name)).toEqual([]);
  });

  test('nor in an error, nor in a file', async () => {
    expect(errorBodies.length).toBeGreaterThan(10);
    expect(errorBodies.filter((body) => hitsIn(body).length > 0)).toEqual([]);
    const files = (await readdir(bursar.dir, { withFileTypes: true })).filter((entry) => entry.isFile());
    expect(files.length).toBeGreaterThan(3);
    for (const { name } of files)
      expect([name, hitsIn(await readFile(join(bursar.dir, name), 'latin1'))]).toEqual([name, []]);
  });

  test('the search would have found the key, and the logs record the outage and the refusal', () => {
    expect(hitsIn(`Bearer ${Buffer.from(temporalKey).toString('base64')}`)).toEqual(['the key']);
    const logs = [...places].filter(([name]) => name.startsWith('log')).map(([, text]) => text);
    expect(logs.some((text) => /DEADLINE_EXCEEDED|UNAVAILABLE/.test(text))).toBe(true);
    expect(logs.some((text) => /UNAUTHENTICATED/.test(text))).toBe(true);
  });
});
