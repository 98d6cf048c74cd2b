/**
 * A push service over TLS with an authority of its own, and devices that decrypt: checks the sender's signature
 * (RFC 8292) and the headers (RFC 8030) of each message, and opens its body (RFC 8291).
 * @module
 */
import { createDecipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { importJWK, jwtVerify } from 'jose';
import { listening, makeCertificates } from './tls.ts';

export type Device = {
  readonly endpoint: string;
  readonly keys: { readonly p256dh: string; readonly auth: string };
};

export type Received = {
  readonly endpoint: string;
  /** With which the sender signed. */
  readonly senderKey: string;
  readonly ttl: number;
  readonly urgency: string;
  readonly topic: unknown;
  readonly contact: unknown;
  readonly body: Buffer;
  /** Undefined for a device that is not `device()`'s. */
  readonly text: string | undefined;
};

export type PushServiceForTests = Awaited<ReturnType<typeof startPushService>>;

export async function startPushService() {
  const dir = await mkdtemp(join(tmpdir(), 'bursar-push-'));
  makeCertificates(dir);
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, await readFile(join(dir, 'ca.pem'), 'utf8')]);
  const received: Received[] = [];
  const faults: string[] = [];
  const open = new Map<string, (body: Buffer) => string>();
  /** Statuses of the next answers, in order; then 201. */
  const answers: { status: number; retryAfter?: string; breaksOff?: boolean }[] = [];
  /** Endpoints that take a message and never answer. */
  const silent = new Set<string>();
  const [key, cert] = [await readFile(join(dir, 'server.key')), await readFile(join(dir, 'server.pem'))];
  const server = createServer({ key, cert }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const endpoint = `${origin}${request.url}`;
      if (silent.has(endpoint)) return;
      const answer = answers.shift() ?? { status: 201 };
      try {
        const { headers } = request;
        const [, token = '', senderKey = ''] = /^vapid t=([^,]+), k=(\S+)$/.exec(headers.authorization ?? '') ?? [];
        const contact = (await signedBy(senderKey, token, origin)).sub;
        if (headers['content-encoding'] !== 'aes128gcm') throw new Error(`encoding ${headers['content-encoding']}`);
        const body = Buffer.concat(chunks);
        const [ttl, urgency] = [Number(headers.ttl), String(headers.urgency)];
        received.push({
          endpoint,
          senderKey,
          ttl,
          urgency,
          topic: headers.topic,
          contact,
          body,
          text: open.get(endpoint)?.(body),
        });
      } catch (error) {
        faults.push(String(error));
      }
      response.writeHead(answer.status, answer.retryAfter === undefined ? {} : { 'Retry-After': answer.retryAfter });
      if (answer.breaksOff === true) response.write('{', () => response.destroy());
      else response.end();
    });
  });
  const { address, close } = await listening(server);
  const origin = `https://${address}`;
  return {
    origin,
    received,
    /** What was wrong with a message, in words. */
    faults,
    answers,
    silent,
    device: (): Device => {
      const pair = createECDH('prime256v1');
      const publicKey = pair.generateKeys();
      const auth = randomBytes(16);
      const endpoint = `${origin}/send/${randomBytes(8).toString('hex')}`;
      open.set(endpoint, (body) => decrypted(body, pair, auth));
      return { endpoint, keys: { p256dh: publicKey.toString('base64url'), auth: auth.toString('base64url') } };
    },
    to: ({ endpoint }: Pick<Device, 'endpoint'>) => received.filter((one) => one.endpoint === endpoint),
    close: async () => {
      setDefaultCACertificates(before);
      await close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function signedBy(senderKey: string, token: string, audience: string) {
  const point = Buffer.from(senderKey, 'base64url');
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString('base64url'));
  const key = await importJWK({ kty: 'EC', crv: 'P-256', x: x ?? '', y: y ?? '' }, 'ES256');
  const { payload } = await jwtVerify(token, key, { audience, algorithms: ['ES256'], requiredClaims: ['exp', 'sub'] });
  if (Number(payload.exp) > Date.now() / 1_000 + 24 * 3_600) throw new Error('expires after more than 24 hours');
  return payload;
}

function decrypted(body: Buffer, pair: ReturnType<typeof createECDH>, auth: Buffer): string {
  const salt = body.subarray(0, 16);
  const idLength = body[20] ?? 0;
  const sender = body.subarray(21, 21 + idLength);
  const encrypted = body.subarray(21 + idLength);
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), pair.getPublicKey(), sender]);
  const secret = Buffer.from(hkdfSync('sha256', pair.computeSecret(sender), auth, info, 32));
  const derived = (name: string, length: number): Buffer =>
    Buffer.from(hkdfSync('sha256', secret, salt, `Content-Encoding: ${name}\0`, length));
  const decipher = createDecipheriv('aes-128-gcm', derived('aes128gcm', 16), derived('nonce', 12));
  decipher.setAuthTag(encrypted.subarray(-16));
  const padded = Buffer.concat([decipher.update(encrypted.subarray(0, -16)), decipher.final()]);
  const end = padded.lastIndexOf(2); // The delimiter of the last record; padding behind it is zero.
  return padded.subarray(0, end).toString();
}
