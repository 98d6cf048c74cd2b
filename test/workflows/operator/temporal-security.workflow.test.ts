/**
 * Goal: a live deployment whose Temporal knows its callers takes approvals by signal, and every connection proves who
 * it is. Method: the real dev server behind real TLS that demands a certificate; a server that notes API keys.
 * @module
 */
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createSecureServer } from 'node:http2';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { NativeConnection } from '@temporalio/worker';
import { setUpTemporal } from '../../../src/main/temporal-setup.ts';
import { createTemporal } from '../../../src/temporal/connection.ts';
import { temporalSecurity } from '../../../src/temporal/security.ts';
import { clientsOf } from '../../support/factories/records.ts';
import { openTemporal } from '../../support/operator-view.ts';
import { eventually, startWorld } from '../../support/world.ts';

const openssl = spawnSync('openssl', ['version']).status === 0;
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
    address = await listening(front, stops);
  }, 30_000);
  afterAll(async () => {
    for (const stop of stops.reverse()) await stop();
  });

  test('live takes an approval by signal: API, worker and set-up all speak TLS with their certificate', async () => {
    const env = { TEMPORAL_ADDRESS: address, ...certificate, ...identity };
    const security = temporalSecurity(env);
    expect(await setUpTemporal({ address, namespace: 'default', security })).toContain('has all 4 search attributes');
    const world = await startWorld({
      worker: true,
      env: { ...env, BURSAR_MODE: 'live', BURSAR_ALLOW_SIMULATED: 'true' },
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
      const approved = await eventually(
        () => intents.getIntent({ params: { id: intent.id } }),
        ({ status }) => status === 'approved',
      );
      expect(approved.approvedBy).toBe('signal:anna');
    } finally {
      await temporal.close();
      await world.close();
    }
  }, 60_000);

  test('without the certificate nobody gets in', async () => {
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
  }, 20_000);

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
    const place = await listening(server, stops);
    const security = temporalSecurity({ ...certificate, TEMPORAL_API_KEY: 'key-of-a-test' });
    const temporal = createTemporal({ address: place, namespace: 'default', security });
    expect(await temporal.isReachable()).toBe(false);
    expect([...heard]).toEqual(['Bearer key-of-a-test']);
    await temporal.close();
    heard.clear();
    await expect(NativeConnection.connect({ address: place, ...security })).rejects.toThrow();
    expect([...heard]).toEqual(['Bearer key-of-a-test']);
  }, 20_000);
});

/** What TLS carries is the dev server's own protocol, byte for byte. */
function passOn(secure: Socket): void {
  const [host = '', port] = (process.env.TEST_TEMPORAL ?? '').split(':');
  const plain = connect(Number(port), host);
  secure.pipe(plain).pipe(secure);
  secure.on('error', () => plain.destroy());
  plain.on('error', () => secure.destroy());
}

async function listening(server: Server, stops: (() => Promise<unknown>)[]): Promise<string> {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => open.add(socket.on('close', () => open.delete(socket))));
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
  stops.push(() => {
    for (const socket of open) socket.destroy();
    return new Promise((done) => void server.close(done));
  });
  return `localhost:${(server.address() as AddressInfo).port}`;
}

function makeCertificates(dir: string): void {
  const run = (...args: string[]): void => {
    const { status, stderr } = spawnSync('openssl', args, { cwd: dir, encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
  };
  const key = (name: string) => ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', name];
  run('req', '-x509', ...key('ca.key'), '-out', 'ca.pem', '-subj', '/CN=test-ca', '-days', '2');
  for (const name of ['server', 'client']) {
    const names = ['-addext', 'subjectAltName=DNS:localhost'];
    run('req', ...key(`${name}.key`), '-out', `${name}.csr`, '-subj', `/CN=${name}`, ...names);
    const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-copy_extensions', 'copy'];
    run('x509', '-req', '-in', `${name}.csr`, '-out', `${name}.pem`, ...signed, '-days', '2');
  }
}
