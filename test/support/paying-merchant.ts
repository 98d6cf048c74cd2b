/**
 * A merchant that sells by HTTP 402, played by the test: it makes challenges, opens credentials with its own key, and
 * answers as the test says. It is independent of the product's code for the wire format.
 * @module
 */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { compactDecrypt, exportJWK, generateKeyPair, type JWK } from 'jose';

export type ChallengeParts = {
  readonly id?: string;
  readonly amount?: string;
  readonly currency?: string;
  readonly recipient?: string | undefined;
  readonly expires?: string | undefined;
  readonly digest?: string;
  readonly header?: string;
  readonly method?: string;
  /** Instead of the merchant's key and networks. */
  readonly details?: Readonly<Record<string, unknown>>;
};

export type Presentation = {
  readonly challengeId: string;
  /** What is inside the encrypted part. */
  readonly paymentToken: string;
  readonly credential: { readonly challenge: Record<string, string>; readonly payload: Record<string, unknown> };
};

export type Answer = (response: ServerResponse, presented: Presentation) => unknown;

export async function startMerchant() {
  const { privateKey, publicKey } = await generateKeyPair('RSA-OAEP-256', { extractable: true });
  const jwk: JWK = { ...(await exportJWK(publicKey)), alg: 'RSA-OAEP-256', use: 'enc', kid: 'k1' };
  const requests: { readonly url: string; readonly headers: IncomingHttpHeaders }[] = [];
  const presentations: Presentation[] = [];
  let challenges: () => readonly string[] = () => [challenge()];
  let answer: Answer = (response, { challengeId }) => deliver(response, { receipt: receiptFor(challengeId) });
  let instead: RequestListener | undefined;

  let isEndless = false;
  let redirect: string | undefined;

  const server = createServer((request, response) => {
    requests.push({ url: request.url ?? '', headers: request.headers });
    void respond(request.headers, request, response).catch((error: unknown) => response.destroy(error as Error));
  });

  const respond = async (headers: IncomingHttpHeaders, ...[request, response]: Parameters<RequestListener>) => {
    if (instead !== undefined) return instead(request, response);
    const header = headers['payment-authorization'] ?? headers.authorization;
    if (header === undefined && redirect !== undefined && request.url !== new URL(redirect).pathname)
      return response.writeHead(302, { Location: redirect }).end();
    if (header === undefined) return demand(response, challenges(), isEndless);
    const presented = await open(String(header));
    presentations.push(presented);
    return answer(response, presented);
  };

  async function open(header: string): Promise<Presentation> {
    const encoded = /^Payment ([A-Za-z0-9_-]+)$/.exec(header)?.[1];
    if (encoded === undefined) throw new Error('the credential has another form');
    const credential = JSON.parse(Buffer.from(encoded, 'base64url').toString()) as Presentation['credential'];
    const { plaintext } = await compactDecrypt(String(credential.payload.encryptedPayload), privateKey);
    const { token } = JSON.parse(new TextDecoder().decode(plaintext)) as { token: { paymentToken: string } };
    return { challengeId: String(credential.challenge.id), paymentToken: token.paymentToken, credential };
  }

  function challenge(parts: ChallengeParts = {}): string {
    const { amount = '1250', currency = 'eur', recipient = 'sandbox-shop', method = 'card', details = {} } = parts;
    const given = { acceptedNetworks: ['visa'], merchantName: 'Shop', encryptionJwk: jwk, ...details };
    const methodDetails = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
    const isNamed = !('recipient' in parts) || parts.recipient !== undefined;
    const request = { amount, currency, methodDetails, ...(isNamed ? { recipient } : {}) };
    const expires = 'expires' in parts ? parts.expires : new Date(Date.now() + 300_000).toISOString();
    const parameters = {
      id: parts.id ?? randomBytes(18).toString('base64url'),
      realm: 'shop.example',
      method,
      intent: 'charge',
      request: Buffer.from(JSON.stringify(request)).toString('base64url'),
      ...(expires === undefined ? {} : { expires }),
      ...(parts.digest === undefined ? {} : { digest: parts.digest }),
      ...(parts.header === undefined ? {} : { header: parts.header }),
    };
    return `Payment ${Object.entries(parameters)
      .map(([name, value]) => `${name}="${value}"`)
      .join(', ')}`;
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    jwk,
    requests,
    presentations,
    challenge,
    /** What is inside a credential that came by another way. */
    open,
    /** The lines of `WWW-Authenticate` of each 402. */
    demands(lines: () => readonly string[]): void {
      challenges = lines;
    },
    /** The body of each 402 never ends. */
    demandsWithoutEnd(): void {
      isEndless = true;
    },
    /** From every other path, until the credential comes. */
    redirects(to: string): void {
      redirect = to;
    },
    answers(how: Answer): void {
      answer = how;
    },
    /** Every request gets this. */
    respondsWith(listener: RequestListener): void {
      instead = listener;
    },
    /** As at the start. */
    reset(): void {
      instead = undefined;
      isEndless = false;
      redirect = undefined;
      challenges = () => [challenge()];
      answer = (response, { challengeId }) => deliver(response, { receipt: receiptFor(challengeId) });
      requests.length = 0;
      presentations.length = 0;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
export type PayingMerchant = Awaited<ReturnType<typeof startMerchant>>;

export function demand(response: ServerResponse, challenges: readonly string[], isEndless = false): void {
  response.writeHead(402, { 'WWW-Authenticate': [...challenges], 'Cache-Control': 'no-store' });
  if (isEndless) pourWithoutEnd(response);
  else response.end('{}');
}

/** Writes until the other side has had enough. */
export function pourWithoutEnd(response: ServerResponse): void {
  const pouring = setInterval(() => response.write('x'.repeat(64 * 1024)), 5);
  response.once('close', () => clearInterval(pouring));
}

export function deliver(
  response: ServerResponse,
  { receipt, body = { report: 'paid content' } }: { receipt?: string | undefined; body?: unknown },
): void {
  const receiptHeader = receipt === undefined ? {} : { 'Payment-Receipt': receipt };
  response.writeHead(200, { 'Content-Type': 'application/json', ...receiptHeader }).end(JSON.stringify(body));
}

export const receiptFor = (challengeId: string, over: object = {}): string =>
  Buffer.from(
    JSON.stringify({
      challengeId,
      method: 'card',
      reference: 'auth_1',
      status: 'success',
      timestamp: '2026-03-01T12:00:00Z',
      ...over,
    }),
  ).toString('base64url');
