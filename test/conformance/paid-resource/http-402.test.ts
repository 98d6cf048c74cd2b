/** The HTTP 402 adapter against merchants that do not behave: what is sent, what is followed, and what is read. @module */
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createPaidResource } from '../../../src/adapters/paid-resource/http-402.ts';
import type { PaidResource } from '../../../src/domains/payments/mpp-payments/paid-resource.port.ts';
import { createOutbound, type Outbound } from '../../../src/outbound/outbound.ts';

const closedUrl = 'http://127.0.0.1:9';
let server: Server;
let url: string;
let outbound: Outbound;
let merchant: PaidResource;
let answers: RequestListener;
const asked: { method: string; url: string; headers: IncomingHttpHeaders }[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers });
    answers(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  outbound = createOutbound({ allowedOrigins: [url, closedUrl] });
  merchant = createPaidResource({ outbound, demandsPayment: () => false });
});
afterAll(async () => {
  await outbound.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
beforeEach(() => {
  asked.length = 0;
});

const answerWith = (status: number, headers: Record<string, string | string[]> = {}, body: string | Buffer = '') => {
  answers = (_request, response) => void response.writeHead(status, headers).end(body);
};

describe('the first request', () => {
  test('names the payment method, carries no payment, and reads every line of the challenges as it is', async () => {
    const lines = ['Bearer realm="a, Payment id=\\"x\\""', 'Payment id="1", realm="m"'];
    answerWith(402, { 'www-authenticate': lines });
    expect(await merchant.request(`${url}/report?year=2026`)).toEqual({
      outcome: 'payment_required',
      url: `${url}/report?year=2026`,
      authenticate: lines,
      offersX402: false,
    });
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({
      method: 'GET',
      url: '/report?year=2026',
      headers: { 'accept-payment': 'card/charge' },
    });
    expect(asked[0]?.headers.authorization).toBeUndefined();
  });

  test('an offer of x402 is recognised, of version 1 in the body and of version 2 in a header', async () => {
    answerWith(402, { 'content-type': 'application/json' }, '{"x402Version":1,"accepts":[]}');
    expect(await merchant.request(url)).toMatchObject({ authenticate: [], offersX402: true });
    answerWith(402, { 'payment-required': 'e30=' });
    expect(await merchant.request(url)).toMatchObject({ authenticate: [], offersX402: true });
  });

  test.each([200, 204, 401, 404, 500])('a merchant that answers %i has nothing to pay', async (status) => {
    answerWith(status);
    expect(await merchant.request(url)).toEqual({ outcome: 'unpayable', reason: 'not_payment_required', status });
  });

  test.each([301, 302, 303, 307, 308])(
    'a redirect with %i is followed, and the last address is the merchant',
    async (status) => {
      answers = (request, response) => {
        if (request.url === '/there') response.writeHead(402, { 'www-authenticate': 'Payment id="1"' }).end();
        else response.writeHead(status, { location: '/there' }).end();
      };
      expect(await merchant.request(`${url}/here`)).toMatchObject({ outcome: 'payment_required', url: `${url}/there` });
      expect(asked.map(({ method }) => method)).toEqual(['GET', 'GET']);
    },
  );

  test.each([
    'http://10.0.0.1/',
    'http://169.254.169.254/latest/meta-data',
    'https://localhost/',
    'ftp://example.com/',
    'http://example.com/',
  ])('a redirect to %s is not followed', async (location) => {
    answerWith(302, { location });
    expect(await merchant.request(url)).toEqual({ outcome: 'unpayable', reason: 'redirect_refused', status: null });
    expect(asked).toHaveLength(1);
  });

  test('redirects end after five', async () => {
    answerWith(302, { location: '/again' });
    expect(await merchant.request(url)).toMatchObject({ reason: 'too_many_redirects' });
    expect(asked).toHaveLength(6);
  });

  test('a redirect without an address, or with two, is an answer', async () => {
    answerWith(302);
    expect(await merchant.request(url)).toMatchObject({ reason: 'not_payment_required', status: 302 });
    answerWith(302, { location: ['/a', '/b'] });
    expect(await merchant.request(url)).toMatchObject({ reason: 'not_payment_required', status: 302 });
  });

  test('an address that may not be connected to, a closed port, and a challenge of 64 KiB', async () => {
    expect(await merchant.request('https://192.168.0.1/')).toMatchObject({ reason: 'address_refused' });
    expect(await merchant.request(`${closedUrl}/x`)).toMatchObject({ reason: 'unreachable' });
    answerWith(402, { 'www-authenticate': `Payment id="${'x'.repeat(64 * 1024)}"` });
    expect(await merchant.request(url)).toMatchObject({ reason: 'unreachable' });
  });

  test('an endless body of a 402 is not waited for', async () => {
    answers = (_request, response) => {
      response.writeHead(402, { 'www-authenticate': 'Payment id="1"' });
      const more = setInterval(() => response.write('x'.repeat(64 * 1024)), 5);
      response.once('close', () => clearInterval(more));
    };
    expect(await merchant.request(url)).toMatchObject({ outcome: 'payment_required' });
  });
});

describe('the request with the credential', () => {
  const header = { name: 'Authorization', value: 'Payment eyJhIjoxfQ' };
  const present = (path = '/report', over = header) => merchant.present({ url: `${url}${path}`, header: over });

  test('repeats method, address and headers, with exactly one credential', async () => {
    answerWith(200, { 'payment-receipt': 'e30', 'content-type': 'text/plain' }, 'paid');
    await merchant.request(`${url}/report`);
    expect(await present()).toMatchObject({
      outcome: 'answered',
      status: 200,
      receipt: 'e30',
      body: { contentType: 'text/plain', isTruncated: false },
    });
    const [first, second] = asked.map(({ method, url: path, headers }) => ({ method, path, headers }));
    expect(second).toEqual({ ...first, headers: { ...first?.headers, authorization: header.value } });
    await present('/report', { name: 'Payment-Authorization', value: header.value });
    expect(asked[2]?.headers).toMatchObject({ 'payment-authorization': header.value });
    expect(asked[2]?.headers.authorization).toBeUndefined();
  });

  test('a redirect is an answer: the credential goes nowhere else', async () => {
    answerWith(307, { location: `${url}/other` });
    expect(await present()).toMatchObject({ outcome: 'answered', status: 307, receipt: null });
    expect(asked).toHaveLength(1);
  });

  test('a second challenge is an answer, and is not answered', async () => {
    answerWith(402, { 'www-authenticate': 'Payment id="2", realm="m"' });
    expect(await present()).toMatchObject({ outcome: 'answered', status: 402 });
    expect(asked).toHaveLength(1);
  });

  test('two receipts are none', async () => {
    answerWith(200, { 'payment-receipt': ['e30', 'e31'] });
    expect(await present()).toMatchObject({ status: 200, receipt: null });
  });

  test('a body of 5 MiB is read whole; of a longer one, status and receipt remain', async () => {
    const limit = 5 * 1024 * 1024;
    answerWith(200, {}, Buffer.alloc(limit, 1));
    const whole = await present();
    expect(whole.outcome === 'answered' && [whole.body.bytes.byteLength, whole.body.isTruncated]).toEqual([
      limit,
      false,
    ]);
    answerWith(200, { 'payment-receipt': 'e30' }, Buffer.alloc(limit + 1, 1));
    expect(await present()).toMatchObject({ status: 200, receipt: 'e30', body: { isTruncated: true } });
  });

  test('of a body that breaks off, status and receipt remain', async () => {
    answers = (request, response) => {
      response.writeHead(200, { 'content-length': '100', 'payment-receipt': 'e30' });
      response.write('half', () => request.socket.destroy());
    };
    expect(await present()).toMatchObject({ status: 200, receipt: 'e30', body: { isTruncated: true } });
  });

  test('no answer is not the same as a credential that never left', async () => {
    answers = (request) => void request.socket.destroy();
    expect(await present()).toEqual({ outcome: 'no_answer' });
    expect(await merchant.present({ url: `${closedUrl}/x`, header })).toEqual({
      outcome: 'unsent',
      reason: 'unreachable',
    });
    expect(await merchant.present({ url: 'https://10.1.1.1/x', header })).toEqual({
      outcome: 'unsent',
      reason: 'address_refused',
    });
    expect(await merchant.present({ url: 'http://example.com/x', header })).toEqual({
      outcome: 'unsent',
      reason: 'address_refused',
    });
  });

  test('of a body that never ends, status and receipt remain when the time is up', async () => {
    answers = (_request, response) => {
      response.writeHead(200, { 'payment-receipt': 'e30' });
      const more = setInterval(() => response.write('x'), 100);
      response.once('close', () => clearInterval(more));
    };
    expect(await present()).toMatchObject({
      outcome: 'answered',
      status: 200,
      receipt: 'e30',
      body: { isTruncated: true },
    });
  }, 20_000);
});
