/**
 * Goal: a receiver with an invalid certificate gets nothing, its attempt says what is wrong with the certificate, and the
 * schedule continues until the certificate is valid. Method: TLS servers on real sockets with certificates that
 * openssl makes, the real worker, and the clock moved to the next attempts.
 * @module
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { minute } from '../../../src/kernel/instant.ts';
import { type DeliveryWorld, startDeliveryWorld } from '../../support/delivery-world.ts';
import {
  type Listening,
  listening,
  makeCertificate,
  makeCertificates,
  makeSelfSigned,
  openssl,
} from '../../support/tls.ts';
import { eventually } from '../../support/world.ts';

/** The certificate of each receiver at first, and the error of its attempts. */
const faulty = [
  ['expired', 'has a certificate that has expired (CERT_HAS_EXPIRED)'],
  ['elsewhere', 'has a certificate for another name (ERR_TLS_CERT_ALTNAME_INVALID)'],
  ['self-signed', 'has a self-signed certificate (DEPTH_ZERO_SELF_SIGNED_CERT)'],
  ['stranger', 'has a certificate without a complete chain to a trusted authority (UNABLE_TO_VERIFY_LEAF_SIGNATURE)'],
] as const;
const names = ['server', ...faulty.map(([name]) => name)];

type TlsReceiver = { readonly server: Server; readonly socket: Listening; readonly bodies: string[] };

let dir: string;
let strangersDir: string;
let trusted: string[];
let receivers: ReadonlyMap<string, TlsReceiver>;
let bursar: DeliveryWorld;

const certificateOf = async (name: string) => {
  const place = name === 'stranger' ? strangersDir : dir;
  return { key: await readFile(join(place, `${name}.key`)), cert: await readFile(join(place, `${name}.pem`)) };
};

async function startTlsReceiver(name: string): Promise<TlsReceiver> {
  const bodies: string[] = [];
  const server = createServer(await certificateOf(name), (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      bodies.push(Buffer.concat(chunks).toString());
      response.writeHead(200).end();
    });
  });
  return { server, socket: await listening(server), bodies };
}

/** For connections that are made from now on. */
const mend = async ({ server }: TlsReceiver) => server.setSecureContext(await certificateOf('server'));

const describeTls = openssl ? describe : describe.skip;

describeTls('a receiver whose certificate is not good', () => {
  beforeAll(async () => {
    [dir, strangersDir] = [await mkdtemp(join(tmpdir(), 'bursar-tls-')), await mkdtemp(join(tmpdir(), 'bursar-tls-'))];
    makeCertificates(dir);
    makeCertificate(dir, 'expired', { days: -1 });
    makeCertificate(dir, 'elsewhere', { host: 'elsewhere.example.com' });
    makeSelfSigned(dir, 'self-signed');
    makeCertificates(strangersDir);
    makeCertificate(strangersDir, 'stranger');
    trusted = getCACertificates('default');
    setDefaultCACertificates([...trusted, await readFile(join(dir, 'ca.pem'), 'utf8')]);
    receivers = new Map(await Promise.all(names.map(async (name) => [name, await startTlsReceiver(name)] as const)));
    const allowedOrigins = [...receivers.values()].map(({ socket }) => `https://${socket.address}`);
    bursar = await startDeliveryWorld({ retries: true, allowedOrigins });
  });
  afterAll(async () => {
    await bursar?.close();
    for (const { socket } of receivers.values()) await socket.close();
    setDefaultCACertificates(trusted);
    for (const place of [dir, strangersDir]) await rm(place, { recursive: true, force: true });
  });

  const receiverOf = (name: string): TlsReceiver => {
    const found = receivers.get(name);
    if (found === undefined) throw new Error(`no receiver ${name}`);
    return found;
  };

  /** One event for the receiver; returns its delivery. */
  const deliverTo = async (name: string) => {
    const owner = await bursar.subscriber();
    const { socket } = receiverOf(name);
    const { id } = await owner.webhooks.createWebhook({
      body: { url: `https://${socket.address}/hooks?key=hunter2`, events: ['policy.created'] },
    });
    await bursar.emit(owner.ownerId);
    return async () => {
      const [shown] = (await owner.webhooks.listWebhookDeliveries({ params: { id } })).data;
      if (shown === undefined) throw new Error(`no delivery to ${name}`);
      return owner.webhooks.getWebhookDelivery({ params: { deliveryId: shown.id } });
    };
  };

  test('a good certificate is no obstacle', async () => {
    const delivery = await deliverTo('server');
    await eventually(delivery, ({ status }) => status === 'succeeded');
    expect(receiverOf('server').bodies).toHaveLength(1);
  });

  test('each attempt names the fault and sends nothing; the attempt after the mending delivers', async () => {
    const deliveries = await Promise.all(faulty.map(([name]) => deliverTo(name)));
    const all = () => Promise.all(deliveries.map((delivery) => delivery()));
    const first = await eventually(all, (shown) => shown.every(({ attempt }) => attempt === 1));
    for (const [place, [name, fault]] of faulty.entries()) {
      const error = `${receiverOf(name).socket.address} ${fault}`;
      expect(first[place]).toMatchObject({ status: 'pending', responseStatus: null, error });
    }
    await bursar.world.advance(minute);
    const second = await eventually(all, (shown) => shown.every(({ attempt }) => attempt === 2));
    for (const [place, one] of second.entries()) {
      expect(one).toMatchObject({ status: 'pending', error: first[place]?.error });
      expect(JSON.stringify(one.attempts)).not.toContain('hunter2');
    }
    expect(faulty.flatMap(([name]) => receiverOf(name).bodies)).toEqual([]);

    for (const [name] of faulty) await mend(receiverOf(name));
    await bursar.world.advance(5 * minute);
    const third = await eventually(all, (shown) => shown.every(({ status }) => status === 'succeeded'));
    expect(third.map(({ attempt }) => attempt)).toEqual(faulty.map(() => 3));
    expect(faulty.map(([name]) => receiverOf(name).bodies.length)).toEqual(faulty.map(() => 1));
  });
});
