/**
 * A merchant's verification of signed requests, by a library that is independent of the product's code: the profile's
 * components and parameters, the signature, its time, and the digest of the body.
 * @module
 */
import { createHash } from 'node:crypto';
import { request as ask, createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { type VerifiedSignature, verifySignature, webcrypto } from 'http-message-sig';

export type ReceivedRequest = {
  readonly method: string;
  /** Absolute: scheme and authority are those of the connection. */
  readonly url: string;
  readonly fields: readonly { readonly name: string; readonly value: string }[];
  readonly body: Uint8Array;
};

export type PublishedKey = { readonly kty: string; readonly crv: string; readonly x: string; readonly kid: string };

const profiles = {
  'web-bot-auth': {
    label: 'sig1',
    requiredComponents: ['@authority', { name: 'signature-agent', parameters: { key: 'sig1' } }],
  },
  'agent-browser-auth': { label: 'sig2', requiredComponents: ['@authority', '@path'] },
  'agent-payer-auth': { label: 'sig2', requiredComponents: ['@authority', '@path'] },
};
export type SignatureTag = keyof typeof profiles;

/** Rejects where a careful merchant would. */
export async function verifyRequest(
  { method, url, fields, body }: ReceivedRequest,
  tag: SignatureTag,
  keys: readonly PublishedKey[],
  now: number = Date.now(),
): Promise<VerifiedSignature> {
  const { label, requiredComponents } = profiles[tag];
  const verified = await verifySignature(
    { kind: 'request', method, targetUri: url, fields },
    {
      label,
      policy: {
        algorithms: ['ed25519'],
        requiredComponents,
        requiredParameters: ['created', 'expires', 'keyid', 'nonce', 'alg', 'tag'],
        maxAge: 480,
        now: Math.floor(now / 1000),
        validate: ({ parameters }) => parameters.tag === tag,
      },
      resolveVerifier: async ({ parameters }) => {
        const key = keys.find(({ kid }) => kid === parameters.keyid);
        if (key === undefined) throw new Error('the key set has no such key');
        const { kty, crv, x } = key;
        return webcrypto.verifier(await crypto.subtle.importKey('jwk', { kty, crv, x }, 'Ed25519', true, ['verify']));
      },
    },
  );
  const digest = fields.find(({ name }) => name.toLowerCase() === 'content-digest')?.value;
  const isDigestCovered = verified.components.some(({ name }) => name === 'content-digest');
  if (isDigestCovered && digest !== `sha-256=:${createHash('sha256').update(body).digest('base64')}:`) {
    throw new Error('the digest is not that of the body');
  }
  return verified;
}

export const fieldOf = ({ fields }: ReceivedRequest, wanted: string): string | undefined =>
  fields.find(({ name }) => name.toLowerCase() === wanted.toLowerCase())?.value;

/** The same request with another value in one field. */
export const withField = (request: ReceivedRequest, name: string, value: string): ReceivedRequest => ({
  ...request,
  fields: request.fields.map((field) => (field.name.toLowerCase() === name ? { ...field, value } : field)),
});

async function received(request: IncomingMessage): Promise<ReceivedRequest> {
  const { method = '', url = '', rawHeaders, headers } = request;
  const fields = rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [{ name, value: rawHeaders[at + 1] ?? '' }] : []));
  return { method, url: `http://${headers.host}${url}`, fields, body: await buffer(request) };
}

/** Stands in front of a shop, keeps what it receives, and passes it on. */
export async function startRecordingProxy() {
  const requests: ReceivedRequest[] = [];
  const settings = { behind: '' };
  const server = createServer((request, response) => {
    void (async () => {
      const one = await received(request);
      requests.push(one);
      const target = new URL(request.url ?? '/', settings.behind);
      const answer = await forward(target, request, one.body);
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    })().catch((error: Error) => response.destroy(error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    /** The origin to which requests go on; the shop sees the authority of this proxy. */
    passTo(origin: string): void {
      settings.behind = origin;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function forward(target: URL, { method, headers }: IncomingMessage, body: Uint8Array): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    ask(target, { method, headers }, resolve).on('error', reject).end(body);
  });
}
