/**
 * A merchant's payment challenges (MPP, method card, intent charge): issues them, and reads the credentials that answer
 * them. Stores nothing: a challenge's id is an HMAC of everything else that the challenge says.
 * @module
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { compactDecrypt, importJWK } from 'jose';

const challengeLivesMs = 5 * 60_000;
const algorithms = { keyManagementAlgorithms: ['RSA-OAEP-256'], contentEncryptionAlgorithms: ['A256GCM'] };

/** The reason that the payer gets: the last part of a problem type of the protocol. */
export class Problem extends Error {}

/** Throws where the outcome is unknown: no answer, a fault of the other side, or a call that it did not look at. */
export async function post(url, given, body) {
  const headers = { 'Content-Type': 'application/json', ...given };
  const signal = AbortSignal.timeout(3_000);
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body), signal });
  if (answer.status >= 500 || answer.status === 401 || answer.status === 429)
    throw new Error(`${new URL(url).host} answered ${answer.status}`);
  return answer;
}

const refuse = (code) => {
  throw new Problem(code);
};

/** `jwk` is the private encryption key. `realm` and what `charge` says must not contain a quote or a backslash. */
export async function createChallenges({ secret, realm, jwk, charge: { amount, currency, recipient, merchantName } }) {
  const privateKey = await importJWK(jwk, 'RSA-OAEP-256');
  // Members are in the order of RFC 8785, here and in the key.
  const encryptionJwk = { alg: 'RSA-OAEP-256', e: jwk.e, kid: jwk.kid, kty: 'RSA', n: jwk.n, use: 'enc' };
  const acceptedNetworks = ['visa', 'mastercard'];
  const methodDetails = { acceptedNetworks, encryptionJwk, merchantName };
  const request = base64url({ amount, currency, methodDetails, recipient });

  function challengeUntil(expires) {
    const bound = [realm, 'card', 'charge', request, expires, '', ''].join('|');
    const id = createHmac('sha256', secret).update(bound).digest('base64url');
    return { id, realm, method: 'card', intent: 'charge', request, expires };
  }

  const isIssued = (given) =>
    Object.entries(challengeUntil(String(given?.expires))).every(([name, value]) =>
      isSame(value, String(given?.[name])),
    );

  async function decrypted(jwe) {
    try {
      const { plaintext } = await compactDecrypt(jwe, privateKey, algorithms);
      return JSON.parse(new TextDecoder().decode(plaintext));
    } catch {
      return refuse('verification-failed');
    }
  }

  /** The value of `WWW-Authenticate`. */
  function issued() {
    const challenge = challengeUntil(new Date(Date.now() + challengeLivesMs).toISOString());
    const parameters = Object.entries(challenge).map(([name, value]) => `${name}="${value}"`);
    return `Payment ${parameters.join(', ')}`;
  }

  return {
    /** The answer to a request that is not served: 402 with a fresh challenge, or 500 where the outcome is unknown. */
    refuse(error) {
      const isProblem = error instanceof Problem;
      if (!isProblem) process.stderr.write(`${error.stack}\n`);
      const [status, title] = isProblem ? [402, error.message] : [500, 'internal-payment-error'];
      const headers = { 'Cache-Control': 'no-store', 'Content-Type': 'application/problem+json' };
      if (isProblem) headers['WWW-Authenticate'] = issued();
      const type = `https://paymentauth.org/problems/${title}`;
      return { status, headers, body: JSON.stringify({ type, title, status }) };
    },

    /** Checks the value of `Authorization`. Whether the challenge was answered before is for the caller to check. */
    async read(authorization) {
      const { challenge, payload } = decoded(authorization ?? '');
      if (!isIssued(challenge)) refuse('invalid-challenge');
      if (Date.parse(challenge.expires) <= Date.now()) refuse('payment-expired');
      if (typeof payload?.encryptedPayload !== 'string') refuse('invalid-payload');
      if (!acceptedNetworks.includes(payload.network)) refuse('verification-failed');
      const { token } = await decrypted(payload.encryptedPayload);
      if (typeof token?.paymentToken !== 'string') refuse('invalid-payload');
      return { challengeId: challenge.id, paymentToken: token.paymentToken };
    },
  };
}

/** `routes`: by method and path, a function of the headers. What one of them throws is answered by `refuse`. */
export function serve(routes, { port, refuse }) {
  const unknown = () => ({ status: 404, body: '{"error":"not found"}' });
  const server = createServer(async (request, response) => {
    const route = routes[`${request.method} ${request.url}`] ?? unknown;
    const answer = async () => route(request.headers);
    const { status, headers, body } = await answer().catch(refuse);
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(body);
  });
  server.listen(port, '127.0.0.1', () => process.stdout.write(`http://127.0.0.1:${port}/report\n`));
}

/** The value of `Payment-Receipt`. `reference` is the payment at the merchant. */
export const receiptOf = (challengeId, reference) =>
  base64url({ challengeId, method: 'card', reference, status: 'success', timestamp: new Date().toISOString() });

function decoded(authorization) {
  const [, value] = /^Payment +(.*)$/i.exec(authorization) ?? refuse('payment-required');
  const encoded = /^[A-Za-z0-9_-]+$/.test(value) ? value : refuse('malformed-credential');
  try {
    return JSON.parse(Buffer.from(encoded, 'base64url').toString()) ?? {};
  } catch {
    return refuse('malformed-credential');
  }
}

const base64url = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');

function isSame(expected, given) {
  const [a, b] = [Buffer.from(expected), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}
