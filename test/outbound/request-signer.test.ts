/**
 * Goal: a merchant can verify what Bursar signs, and nothing else verifies. Method: an independent library verifies
 * signatures of arbitrary requests, and of the same requests after one change.
 * @module
 */
import { generateKeyPairSync, sign as signBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { verifySignature, webcrypto } from 'http-message-sig';
import { calculateJwkThumbprint } from 'jose';
import { createPaidResource } from '../../src/adapters/paid-resource/http-402.ts';
import {
  type RequestPurpose,
  type SignatureProfile,
  signatureLivesSeconds,
  signatureProfiles,
} from '../../src/outbound/message-signature.rules.ts';
import { createOutbound } from '../../src/outbound/outbound.ts';
import { createRequestSigner, type OutboundToSign, type RequestSigner } from '../../src/outbound/request-signer.ts';
import {
  fieldOf,
  type PublishedKey,
  type ReceivedRequest,
  type SignatureTag,
  verifyRequest,
  withField,
} from '../support/signature-verifier.ts';

const keySetUrl = 'https://pay.example/.well-known/agents/ag_01kc1v9m3se7ttw5v1x0h2q8ab/jwks.json';

type TestKey = { readonly published: PublishedKey; readonly sign: (bytes: Uint8Array) => Promise<Uint8Array> };

async function aKey(): Promise<TestKey> {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const { kty = '', crv = '', x = '' } = publicKey.export({ format: 'jwk' });
  const kid = await calculateJwkThumbprint({ kty, crv, x });
  const sign = async (bytes: Uint8Array) => new Uint8Array(signBytes(null, bytes, privateKey));
  return { published: { kty, crv, x, kid }, sign };
}

let key: TestKey;
let otherKey: TestKey;
beforeAll(async () => {
  [key, otherKey] = await Promise.all([aKey(), aKey()]);
});

const signerOf = (profiles: readonly SignatureProfile[] = signatureProfiles, now?: () => Date): RequestSigner =>
  createRequestSigner({
    profiles,
    keySetUrl,
    keyid: key.published.kid,
    sign: key.sign,
    ...(now === undefined ? {} : { now }),
  });

async function signed(request: OutboundToSign, signer: RequestSigner = signerOf()): Promise<ReceivedRequest> {
  const headers = await signer(request);
  const fields = Object.entries(headers).map(([name, value]) => ({ name, value }));
  const body = typeof request.body === 'string' ? new TextEncoder().encode(request.body) : request.body;
  return { method: request.method, url: request.url.href, fields, body: body ?? new Uint8Array() };
}

const tagOf = (profile: SignatureProfile, purpose: RequestPurpose): SignatureTag =>
  profile === 'web_bot_auth' ? 'web-bot-auth' : purpose === 'pay' ? 'agent-payer-auth' : 'agent-browser-auth';

const segment = fc.string({ maxLength: 12, unit: 'grapheme' }).map(encodeURIComponentLoosely);
const requests: fc.Arbitrary<OutboundToSign> = fc.record({
  method: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE'),
  url: fc
    .tuple(fc.webAuthority({ withPort: true }), fc.array(segment, { maxLength: 4 }), fc.option(segment))
    .map(([host, path, search]) => URL.parse(`https://${host}/${path.join('/')}${search === null ? '' : `?${search}`}`))
    .filter((url) => url !== null),
  body: fc.option(fc.oneof(fc.string(), fc.uint8Array({ maxLength: 200 })), { nil: undefined }),
  purpose: fc.constantFrom('browse', 'pay'),
});

/** Characters that a URL parser encodes itself stay as they are; lone surrogates have no encoding. */
function encodeURIComponentLoosely(text: string): string {
  return text.isWellFormed() ? text.replace(/[#?%]/g, encodeURIComponent) : '';
}

const aRequest: OutboundToSign = {
  method: 'POST',
  url: new URL('https://shop.example:8443/orders/7/pay?lang=de'),
  body: '{"orderId":"o1"}',
  purpose: 'pay',
};

describe('verification by another library', () => {
  test('any signed request verifies in both profiles', async () => {
    await fc.assert(
      fc.asyncProperty(requests, async (request) => {
        const received = await signed(request);
        for (const profile of signatureProfiles)
          await verifyRequest(received, tagOf(profile, request.purpose), [key.published]);
      }),
      { numRuns: 300 },
    );
  });

  test('after any change of what is covered it does not verify', async () => {
    const changed = fc.constantFrom<(request: ReceivedRequest) => ReceivedRequest>(
      (one) => ({ ...one, method: one.method === 'GET' ? 'POST' : 'GET' }),
      (one) => ({ ...one, url: edited(one.url, (url) => (url.hostname = 'other.example')) }),
      (one) => ({ ...one, url: edited(one.url, (url) => (url.pathname += '/x')) }),
      (one) => ({ ...one, body: Buffer.concat([one.body, Buffer.from('x')]) }),
      (one) => withField(one, 'signature-agent', 'sig1="https://other.example/jwks.json"'),
      (one) =>
        withField(one, 'signature-input', replaced(one, 'signature-input', /;expires=\d+/, ';expires=9999999999')),
      (one) => withField(one, 'signature-input', replaced(one, 'signature-input', /;nonce="./, ';nonce="_')),
      (one) =>
        withField(
          one,
          'signature',
          replaced(one, 'signature', /=:(.)/, (_, first) => `=:${first === 'A' ? 'B' : 'A'}`),
        ),
    );
    await fc.assert(
      fc.asyncProperty(requests, changed, async (request, change) => {
        const received = await signed({ ...request, body: request.body ?? '' }, signerOf(['web_bot_auth']));
        const tampered = change(received);
        fc.pre(JSON.stringify(tampered) !== JSON.stringify(received));
        await expect(verifyRequest(tampered, 'web-bot-auth', [key.published])).rejects.toThrow();
      }),
      { numRuns: 300 },
    );
  });

  test('another query does not verify, for a request that has one', async () => {
    const received = await signed(aRequest);
    const other = { ...received, url: received.url.replace('lang=de', 'lang=en') };
    await expect(verifyRequest(other, 'web-bot-auth', [key.published])).rejects.toThrow();
  });

  test('a signature for another host or path is no signature of the Trusted Agent Protocol', async () => {
    const received = await signed(aRequest, signerOf(['trusted_agent']));
    await verifyRequest(received, 'agent-payer-auth', [key.published]);
    for (const url of ['https://other.example/orders/7/pay', 'https://shop.example:8443/orders/8/pay'])
      await expect(verifyRequest({ ...received, url }, 'agent-payer-auth', [key.published])).rejects.toThrow();
    await expect(verifyRequest(received, 'agent-browser-auth', [key.published])).rejects.toThrow();
  });

  test('another key verifies nothing, also under the name of the right one', async () => {
    const received = await signed(aRequest);
    await expect(verifyRequest(received, 'web-bot-auth', [otherKey.published])).rejects.toThrow();
    const renamed = { ...otherKey.published, kid: key.published.kid };
    await expect(verifyRequest(received, 'web-bot-auth', [renamed])).rejects.toThrow();
  });

  test('a signature lives for a minute', async () => {
    const at = Date.now();
    const received = await signed(
      aRequest,
      signerOf(signatureProfiles, () => new Date(at)),
    );
    const lastsUntil = Math.floor(at / 1000 + signatureLivesSeconds) * 1000;
    await verifyRequest(received, 'web-bot-auth', [key.published], lastsUntil);
    for (const now of [lastsUntil + 1000, at - 1000])
      await expect(verifyRequest(received, 'web-bot-auth', [key.published], now)).rejects.toThrow();
  });

  test('only what was asked for is sent', async () => {
    const names = async (profiles: readonly SignatureProfile[], body: string | undefined) =>
      Object.keys(await signerOf(profiles)({ ...aRequest, body }));
    expect(await names(['web_bot_auth'], undefined)).toEqual(['Signature-Agent', 'Signature-Input', 'Signature']);
    expect(await names(['trusted_agent'], '{}')).toEqual(['Signature-Input', 'Signature']);
    expect(await names(signatureProfiles, '{}')).toContain('Content-Digest');
  });

  test('no nonce comes twice, and each has 64 random bytes', async () => {
    const all = await Promise.all(Array.from({ length: 50 }, () => signed(aRequest)));
    const nonces = all.flatMap((one) => [...String(fieldOf(one, 'signature-input')).matchAll(/;nonce="([^"]+)"/g)]);
    expect(new Set(nonces.map(([, nonce]) => nonce)).size).toBe(100);
    for (const [, nonce] of nonces) expect(Buffer.from(String(nonce), 'base64url')).toHaveLength(64);
  });
});

test('the example of the documentation verifies a signed request, and no other', async () => {
  const page = await readFile(new URL('../../docs/signed-requests.md', import.meta.url), 'utf8');
  const [, example = ''] = /```js\n([\s\S]+?)```/.exec(page) ?? [];
  const [imports, ...lines] = example.trim().split('\n');
  expect(imports).toBe("import { verifySignature, webcrypto } from 'http-message-sig';");
  const body = lines.join('\n').replace('export const verifyAgent =', 'return');
  type Verify = (request: Request, keys: readonly PublishedKey[]) => Promise<unknown>;
  const verifyAgent = new Function('verifySignature', 'webcrypto', body)(verifySignature, webcrypto) as Verify;
  const headers = await signerOf()(aRequest);
  const requestTo = (url: URL | string) => new Request(url, { method: 'POST', headers, body: String(aRequest.body) });
  expect(await verifyAgent(requestTo(aRequest.url), [key.published])).toMatchObject({ label: 'sig1' });
  await expect(verifyAgent(requestTo(aRequest.url), [otherKey.published])).rejects.toThrow();
  await expect(verifyAgent(requestTo('https://other.example/'), [key.published])).rejects.toThrow();
});

describe('over HTTP', () => {
  let server: Server;
  let origin: string;
  const received: ReceivedRequest[] = [];
  beforeAll(async () => {
    server = createServer((request, response) => {
      const fields = Object.entries(request.headers).map(([name, value]) => ({ name, value: String(value) }));
      received.push({ method: String(request.method), url: `${origin}${request.url}`, fields, body: new Uint8Array() });
      if (request.url === '/broken') request.socket.destroy();
      else if (request.url === '/moved') response.writeHead(302, { location: '/here?n=1' }).end();
      else response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const get = async (path: string, signer: RequestSigner) => {
    const outbound = createOutbound({ allowedOrigins: [origin] });
    const signature = { signer, purpose: 'browse' } as const;
    const request = { method: 'GET', timeoutMs: 30_000, maxBytes: 100, isRepeatable: true, signature } as const;
    const outcome = await outbound.request(`${origin}${path}`, request).catch((error: unknown) => error);
    await outbound.close();
    return outcome;
  };

  test('what arrives verifies, umlauts of the address included', async () => {
    expect(await get('/a%20b/ü?q=1+2&ä=%C3%A4', signerOf())).toMatchObject({ status: 200 });
    const [one] = received.splice(0);
    if (one === undefined) throw new Error('nothing arrived');
    await verifyRequest(one, 'web-bot-auth', [key.published]);
    await verifyRequest(one, 'agent-browser-auth', [key.published]);
  });

  test('the request that replaces a dead connection has its own signature', async () => {
    await get('/broken', signerOf());
    const both = received.splice(0);
    expect(both).toHaveLength(2);
    for (const one of both) await verifyRequest(one, 'web-bot-auth', [key.published]);
    expect(new Set(both.map((one) => fieldOf(one, 'signature'))).size).toBe(2);
  });

  test('after a redirect the request is signed for the new address', async () => {
    const outbound = createOutbound({ allowedOrigins: [origin] });
    await createPaidResource({ outbound, demandsPayment: () => false }).request(`${origin}/moved`, signerOf());
    await outbound.close();
    const both = received.splice(0);
    expect(both.map(({ url }) => url)).toEqual([`${origin}/moved`, `${origin}/here?n=1`]);
    for (const one of both) await verifyRequest(one, 'agent-browser-auth', [key.published]);
    for (const one of both) await verifyRequest(one, 'web-bot-auth', [key.published]);
  });

  test('a request that cannot be signed is not sent', async () => {
    const failing: RequestSigner = async () => {
      throw new Error('the key is gone');
    };
    expect(await get('/', failing)).toMatchObject({ name: 'OutboundError', kind: 'protocol', isUnsent: true });
    expect(received).toEqual([]);
  });
});

function edited(url: string, change: (url: URL) => unknown): string {
  const copy = new URL(url);
  change(copy);
  return copy.href;
}

type Replace = string | ((...found: string[]) => string);
const replaced = (request: ReceivedRequest, name: string, what: RegExp, by: Replace): string =>
  String(fieldOf(request, name)).replace(what, by as string);
