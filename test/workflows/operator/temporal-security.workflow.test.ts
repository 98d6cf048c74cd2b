/**
 * Goal: a live deployment whose Temporal knows its callers takes approvals by signal, and every connection proves who
 * it is. Method: the real dev server behind real TLS that demands a certificate; a server that notes API keys.
 * @module
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createSecureServer } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { NativeConnection } from '@temporalio/worker';
import { createTemporal } from '../../../src/temporal/connection.ts';
import { temporalSecurity } from '../../../src/temporal/security.ts';
import { setUpTemporal } from '../../../src/temporal/set-up.ts';
import { clientsOf } from '../../support/factories/records.ts';
import { openTemporal } from '../../support/operator-view.ts';
import { listening, makeCertificates, openssl, passOn } from '../../support/tls.ts';
import { eventually, startWorld } from '../../support/world.ts';

const whereOpenssl = openssl ? describe : describe.skip;

whereOpenssl('with certificates made by openssl', () => {
  let dir: string;
  const file = (name: string) => join(dir, name);
  const stops: (() => Promise<unknown>)[] = [];
  let address: string;
  const certificate = { TEMPORAL_TLS_SERVER_CA_CERT_PATH: '' };
  const identity = { TEMPORAL_TLS_CLIENT_CERT_PATH: '', TEMPORAL_TLS_CLIENT_KEY_PATH: '' };

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'bursar-tls-'));
    stops.push(() => rm(dir, { recursive: true, force: true }));
    makeCertificates(dir);
    certificate.TEMPORAL_TLS_SERVER_CA_CERT_PATH = file('ca.pem');
    identity.TEMPORAL_TLS_CLIENT_CERT_PATH = file('client.pem');
    identity.TEMPORAL_TLS_CLIENT_KEY_PATH = file('client.key');
    const front = createServer(
      {
        cert: await readFile(file('server.pem')),
        key: await readFile(file('server.key')),
        ca: await readFile(file('ca.pem')),
        requestCert: true,
        rejectUnauthorized: true,
        ALPNProtocols: ['h2'],
      },
      passOn,
    );
    const door = await listening(front);
    stops.push(door.close);
    address = door.address;
  });
  afterAll(async () => {
    for (const stop of stops.reverse()) await stop();
  });

  test.each([
    ['on', 'approved', 'signal:anna'],
    ['', 'pending_approval', null],
  ])(
    'live with BURSAR_SIGNAL_APPROVALS=%s: API, worker and set-up speak TLS with their certificate, and a signal leaves an intent %s',
    async (approvals, status, approvedBy) => {
      const env = { TEMPORAL_ADDRESS: address, ...certificate, ...identity };
      const security = temporalSecurity(env);
      expect(await setUpTemporal({ address, namespace: 'default', security })).toContain('has all 6 search attributes');
      const world = await startWorld({
        worker: true,
        env: { ...env, BURSAR_MODE: 'live', BURSAR_ALLOW_SIMULATED: 'true', BURSAR_SIGNAL_APPROVALS: approvals },
      });
      const temporal = await openTemporal();
      try {
        const { agents, intents } = clientsOf(await world.owner());
        const { id: agentId } = await agents.createAgent({ body: { name: 'buyer' } });
        const intent = await intents.declareIntent({
          body: { agentId, purpose: 'dear', expectedAmountEuros: 80, expectedMerchant: 'Sandbox Shop' },
        });
        await temporal.started(`intent/${intent.id}`);
        await temporal.signal(`intent/${intent.id}`, 'decide', { decision: 'approve', by: 'anna' });
        if (status === 'pending_approval') {
          await eventually(
            () => temporal.viewOf(`intent/${intent.id}`),
            ({ details }) => details.includes('this deployment takes no approvals by signal'),
          );
        }
        const read = await eventually(
          () => intents.getIntent({ params: { id: intent.id } }),
          (one) => one.status === status,
        );
        expect(read.approvedBy).toBe(approvedBy);
      } finally {
        await temporal.close();
        await world.close();
      }
    },
  );

  test('a connection without the certificate is refused', async () => {
    for (const security of [{}, temporalSecurity(certificate)]) {
      const temporal = createTemporal({ address, namespace: 'default', security });
      expect(await temporal.isReachable()).toBe(false);
      await temporal.close();
    }
    const trusted = createTemporal({
      address,
      namespace: 'default',
      security: temporalSecurity({ ...certificate, ...identity }),
    });
    expect(await trusted.isReachable()).toBe(true);
    await trusted.close();
  });

  test('an API key goes with every connection, under TLS', async () => {
    const heard = new Set<string | undefined>();
    const server = createSecureServer({
      cert: await readFile(file('server.pem')),
      key: await readFile(file('server.key')),
    });
    server.on('stream', (stream, headers) => {
      heard.add(headers.authorization);
      stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '7' }, { endStream: true });
    });
    const { address: place, close } = await listening(server);
    stops.push(close);
    const security = temporalSecurity({ ...certificate, TEMPORAL_API_KEY: 'key-of-a-test' });
    const temporal = createTemporal({ address: place, namespace: 'default', security });
    expect(await temporal.isReachable()).toBe(false);
    expect([...heard]).toEqual(['Bearer key-of-a-test']);
    await temporal.close();
    heard.clear();
    await expect(NativeConnection.connect({ address: place, ...security })).rejects.toThrow();
    expect([...heard]).toEqual(['Bearer key-of-a-test']);
  });
});
