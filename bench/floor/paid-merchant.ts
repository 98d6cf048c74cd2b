/**
 * A merchant that sells by HTTP 402, in a separate process: `/paid/<cardRef>` asks for a card payment, opens the
 * credential, has the network authorize its token and delivers. `/free` delivers at once. Checks nothing.
 * @module
 */
import { createHmac, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { compactDecrypt, exportJWK, generateKeyPair } from 'jose';

/** Comes after the start: the merchant is an allowed origin of the installation that it charges at. */
type Network = { readonly apiUrl: string; readonly networkKey: string };
let network: Network | undefined;
process.on('message', (message: Network) => {
  network = message;
});

const amountCents = 125;
const merchant = { id: 'bench-merchant', name: 'Bench Merchant', mcc: '5734', country: 'DE' };
const { privateKey, publicKey } = await generateKeyPair('RSA-OAEP-256', { extractable: true });
const encryptionJwk = { ...(await exportJWK(publicKey)), alg: 'RSA-OAEP-256', use: 'enc', kid: 'bench' };
const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const request = encoded({
  amount: String(amountCents),
  currency: 'eur',
  methodDetails: { acceptedNetworks: ['visa'], encryptionJwk, merchantName: merchant.name },
  recipient: merchant.id,
});

function demand(response: ServerResponse): void {
  const expires = new Date(Date.now() + 300_000).toISOString();
  const challenge = `Payment id="${randomUUID()}", realm="bench", method="card", intent="charge", request="${request}", expires="${expires}"`;
  response.writeHead(402, { 'WWW-Authenticate': challenge, 'Cache-Control': 'no-store' }).end('{}');
}

type Credential = {
  readonly challenge: { readonly id: string };
  readonly payload: { readonly encryptedPayload: string };
};

async function charge(cardRef: string, jwe: string): Promise<boolean> {
  const { plaintext } = await compactDecrypt(jwe, privateKey);
  const { token } = JSON.parse(new TextDecoder().decode(plaintext)) as { token: { paymentToken: string } };
  const { apiUrl = '', networkKey = '' } = network ?? {};
  const id = randomUUID();
  const message = { id, cardRef, amountCents, currency: 'EUR', merchant, token: token.paymentToken };
  const path = '/network/authorizations';
  const [body, seconds] = [JSON.stringify(message), Math.floor(Date.now() / 1_000)];
  const mac = createHmac('sha256', networkKey).update(`${seconds}.POST ${path}.${body}`).digest('hex');
  const headers = { 'content-type': 'application/json', 'x-network-signature': `t=${seconds},v1=${mac}` };
  const answer = await fetch(`${apiUrl}${path}`, { method: 'POST', headers, body });
  return ((await answer.json()) as { decision?: string }).decision === 'approved';
}

async function serve({ url = '', headers }: IncomingMessage, response: ServerResponse): Promise<void> {
  if (url === '/free') return void response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
  const value = /^Payment (.+)$/.exec(headers.authorization ?? '')?.[1];
  if (value === undefined) return demand(response);
  const { challenge, payload } = JSON.parse(Buffer.from(value, 'base64url').toString()) as Credential;
  const isPaid = await charge(url.slice('/paid/'.length), payload.encryptedPayload);
  if (!isPaid) return demand(response);
  const receipt = { challengeId: challenge.id, method: 'card', reference: 'bench', status: 'success' };
  response.writeHead(200, {
    'Content-Type': 'application/json',
    'Payment-Receipt': encoded({ ...receipt, timestamp: new Date().toISOString() }),
  });
  response.end('{"report":"paid content"}');
}

const server = createServer((incoming, response) => {
  serve(incoming, response).catch((error: unknown) => response.destroy(error as Error));
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  process.send?.({ ready: true, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
process.on('SIGTERM', () => process.exit(0));
