/** The adapter for paid tools against servers that do not behave. @module */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createPaidResource } from '../../../src/adapters/paid-resource/http-402.ts';
import type { PaidResource } from '../../../src/domains/payments/mpp-payments/paid-resource.port.ts';
import { createOutbound, type Outbound } from '../../../src/outbound/outbound.ts';

const tool = { name: 'report', arguments: {} };
const challenge = Buffer.from(JSON.stringify({ request: 'e30' })).toString('base64url');
const header = {
  name: 'Authorization',
  value: `Payment ${Buffer.from(JSON.stringify({ challenge: { request: 'e30' }, payload: {} })).toString('base64url')}`,
};

type Demand = { readonly error?: { readonly data?: unknown } };

let server: Server;
let url: string;
let outbound: Outbound;
let merchant: PaidResource;
/** The answer to the call of the tool. */
let called: (response: ServerResponse) => void;
let calls = 0;

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method } = (await json(request)) as { method: string };
  if (method !== 'server/discover') {
    calls += 1;
    called(response);
    return;
  }
  const result = { supportedVersions: ['2026-07-28'], capabilities: {} };
  response.writeHead(200, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result }));
}

beforeAll(async () => {
  server = createServer((request, response) => {
    respond(request, response).catch((error: Error) => response.destroy(error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  outbound = createOutbound({ allowedOrigins: [url] });
  const demandsPayment = (answer: unknown) => (answer as Demand | undefined)?.error?.data === challenge;
  merchant = createPaidResource({ outbound, demandsPayment });
});
afterAll(async () => {
  await outbound.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const answerWith = (text: string, { status = 200, contentType = 'application/json' } = {}) => {
  called = (response) => void response.writeHead(status, { 'Content-Type': contentType }).end(text);
};
const stream = { contentType: 'text/event-stream' };
const receipt = { challengeId: 'ch_1', status: 'success' };
const paidResult = (content: string) =>
  `{"jsonrpc":"2.0","id":2,"result":{"content":${content},"_meta":{"org.paymentauth/receipt":${JSON.stringify(receipt)}}}}`;

test('a stream of empty events answers nothing, and what follows the first thousand is not read', async () => {
  answerWith('\n'.repeat(60_000), stream);
  expect(await merchant.request(url, undefined, tool)).toMatchObject({ reason: 'not_payment_required' });
  answerWith(`${': nothing\n\n'.repeat(1_000)}data: ${paidResult('[]')}\n\n`, stream);
  expect(await merchant.present({ url, header, tool })).toMatchObject({ outcome: 'answered', status: 500 });
});

test('an answer before a payment is read up to 64 KiB', async () => {
  const demand = (padding: string) => JSON.stringify({ jsonrpc: '2.0', id: 2, error: { padding, data: challenge } });
  answerWith(demand('x'));
  expect(await merchant.request(url, undefined, tool)).toMatchObject({ outcome: 'payment_required' });
  answerWith(demand('x'.repeat(64 * 1024)));
  expect(await merchant.request(url, undefined, tool)).toMatchObject({ reason: 'not_payment_required' });
});

test('a delivery that is nested too deeply to be written again keeps its receipt, and is given as it came', async () => {
  const text = paidResult('['.repeat(20_000) + ']'.repeat(20_000));
  answerWith(text);
  const answer = await merchant.present({ url, header, tool });
  expect(answer).toMatchObject({
    outcome: 'answered',
    status: 200,
    receipt: Buffer.from(JSON.stringify(receipt)).toString('base64url'),
  });
  expect(Buffer.from((answer as { body: { bytes: Uint8Array } }).body.bytes).toString()).toBe(text);
});

test.each([401, 403, 404])('a refusal by HTTP (%i) is a refusal, and not an unknown outcome', async (status) => {
  answerWith('no such session', { status, contentType: 'text/plain' });
  expect(await merchant.present({ url, header, tool })).toMatchObject({ outcome: 'answered', status, receipt: null });
});

test('a stream that the server leaves open is read as far as it came; the tool is called once', async () => {
  calls = 0;
  called = (response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.write(`data: ${paidResult('[]')}\n\n`);
  };
  expect(await merchant.present({ url, header, tool })).toMatchObject({ outcome: 'answered', status: 200 });
  expect(calls).toBe(1);
}, 60_000);
