/** Both signatures against golden vectors, an independent library, and tampering. @module */

import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import {
  bodyOf,
  deliveryHeaders,
  newWebhookSecret,
  serviceSignature,
  standardSignature,
} from '../../../src/domains/delivery/webhooks/webhook.signature.ts';

const manifest: { version: string } = JSON.parse(readFileSync('package.json', 'utf8'));
const secret = `whsec_${Buffer.from(Array.from({ length: 32 }, (_, i) => i)).toString('base64')}`;
const signed = {
  attemptId: 'whd_01kaftm3w0e6r8t9y0b1c2d3e4.2',
  deliveryId: 'whd_01kaftm3w0e6r8t9y0b1c2d3e4',
  unixSeconds: 1_795_161_600,
  body: '{"event":"card.frozen","createdAt":"2026-11-20T08:00:00.000Z","data":{"id":"ca_01","status":"frozen"},"sequence":7}',
};

describe('golden vectors', () => {
  // Computed with `openssl dgst -sha256 -hmac` and `-mac HMAC -macopt hexkey:`, not with this code.
  // spec: signature:key
  // spec: signature:sha256=hex
  test('X-Service-Signature is keyed by the whole secret as text', () => {
    expect(serviceSignature(secret, signed)).toBe(
      'sha256=355d7711346f0da215d87d210399ee3519b3514403878c52cd19c0b552955a91',
    );
  });

  test('webhook-signature is keyed by the bytes that the secret encodes', () => {
    expect(standardSignature(secret, signed)).toBe('v1,vqV9nkpvFwzdGTd5R1tU2mf5oN4MPKtckb/7kwEZN3s=');
  });
});

describe('receivers', () => {
  const occurrence = fc.record({
    event: fc.constantFrom('card.frozen', 'intent.created'),
    createdAt: fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true }),
    data: fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue()) as fc.Arbitrary<Record<string, unknown>>,
    sequence: fc.nat(),
  });

  test('the Standard Webhooks library accepts every delivery unchanged, and no changed one', () => {
    fc.assert(
      fc.property(occurrence, fc.nat(4), (happened, attempts) => {
        const fresh = newWebhookSecret();
        const body = bodyOf(happened);
        const unixSeconds = Math.floor(Date.now() / 1_000);
        const sent = { ...signed, attemptId: `${signed.deliveryId}.${attempts}`, unixSeconds, body };
        const headers = deliveryHeaders({ secret: fresh }, sent, {
          event: happened.event,
          sequence: 1,
          requestId: 'r',
        });
        expect(new Webhook(fresh).verify(body, headers)).toEqual(JSON.parse(body));
        expect(() => new Webhook(fresh).verify(`${body} `, headers)).toThrow();
        expect(() => new Webhook(newWebhookSecret()).verify(body, headers)).toThrow();
        expect(() => new Webhook(fresh).verify(body, { ...headers, 'webhook-id': 'whd_other' })).toThrow();
      }),
      { numRuns: 50 },
    );
  });

  // spec: signature:message
  // spec: signature:key
  test('a receiver that follows the published rule accepts every delivery', () => {
    fc.assert(
      fc.property(occurrence, (happened) => {
        const fresh = newWebhookSecret();
        const body = bodyOf(happened);
        const headers = deliveryHeaders(
          { secret: fresh },
          { ...signed, body },
          { event: happened.event, sequence: 1, requestId: 'r' },
        );
        const message = `${headers['X-Service-Delivery-Id']}.${headers['X-Service-Timestamp']}.${body}`;
        const expected = `sha256=${createHmac('sha256', Buffer.from(fresh, 'utf8')).update(message, 'utf8').digest('hex')}`;
        expect(timingSafeEqual(Buffer.from(expected), Buffer.from(String(headers['X-Service-Signature'])))).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  test('while two secrets sign, a receiver that knows either accepts, and one that knows neither does not', () => {
    const [fresh, previous] = [newWebhookSecret(), newWebhookSecret()];
    const sent = { ...signed, unixSeconds: Math.floor(Date.now() / 1_000) };
    const headers = deliveryHeaders({ secret: fresh, previous }, sent, { event: 'e', sequence: 7, requestId: 'r' });
    expect(headers['X-Service-Signature']).toBe(serviceSignature(fresh, sent));
    expect(headers['X-Service-Signature-Previous']).toBe(serviceSignature(previous, sent));
    for (const known of [fresh, previous]) new Webhook(known).verify(sent.body, headers);
    expect(() => new Webhook(newWebhookSecret()).verify(sent.body, headers)).toThrow();
    const alone = deliveryHeaders({ secret: fresh }, sent, { event: 'e', sequence: 7, requestId: 'r' });
    expect(alone['user-agent']).toBe(`Bursar-Webhooks/${manifest.version.replace(/\.\d+$/, '')}`);
    expect(alone).not.toHaveProperty('X-Service-Signature-Previous');
    expect(() => new Webhook(previous).verify(sent.body, alone)).toThrow();
  });

  test('a delivery says what its body is, and names the run that caused it, where one did', () => {
    const sentBy = (runId: string | null | undefined) =>
      deliveryHeaders({ secret }, signed, {
        event: 'e',
        sequence: 7,
        requestId: 'r',
        ...(runId === undefined ? {} : { runId }),
      });
    expect(sentBy('run_1')).toMatchObject({ 'Content-Type': 'application/json', 'X-Service-Run-Id': 'run_1' });
    for (const none of [null, undefined]) expect(sentBy(none)).not.toHaveProperty('X-Service-Run-Id');
  });

  // spec: delivery-header:X-Service-Delivery-Id:unique per delivery attempt
  test('a new attempt changes its own id and signature, and keeps webhook-id', () => {
    const first = deliveryHeaders(
      { secret },
      { ...signed, attemptId: `${signed.deliveryId}.1` },
      { event: 'e', sequence: 7, requestId: 'r' },
    );
    const second = deliveryHeaders({ secret }, signed, { event: 'e', sequence: 7, requestId: 'r' });
    expect(first['X-Service-Delivery-Id']).not.toBe(second['X-Service-Delivery-Id']);
    expect(first['X-Service-Signature']).not.toBe(second['X-Service-Signature']);
    expect(first['webhook-id']).toBe(second['webhook-id']);
    expect(first['webhook-signature']).toBe(second['webhook-signature']);
  });
});

// spec: delivery-body:event
// spec: delivery-body:createdAt with milliseconds in UTC
// spec: delivery-body:data
test('the body has event, createdAt with milliseconds in UTC, data and sequence, in this order', () => {
  const body = bodyOf({
    event: 'card.frozen',
    createdAt: new Date('2026-11-20T09:00:00+01:00'),
    data: { id: 'ca_01', status: 'frozen' },
    sequence: 7,
  });
  expect(body).toBe(signed.body);
});

test('secrets are whsec_ and 32 random bytes, never the same', () => {
  const many = Array.from({ length: 50 }, newWebhookSecret);
  expect(new Set(many).size).toBe(50);
  for (const one of many) {
    expect(one).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(Buffer.from(one.slice(6), 'base64')).toHaveLength(32);
  }
});
