/** The wire forms around a payment: credential, digest and receipt. @module */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Challenge } from '../../../../src/domains/payments/mpp/challenge.wire.ts';
import {
  type CardPayload,
  credentialHeader,
  digestFits,
  digestOf,
  longestReceiptBytes,
  readReceipt,
} from '../../../../src/domains/payments/mpp/credential.wire.ts';
import { encoded } from './authenticate-headers.ts';

const challenge: Challenge = {
  id: 'c1',
  realm: 'shop.example',
  method: 'card',
  intent: 'charge',
  request: 'eyJhbW91bnQiOiI0OTkifQ',
};
const payload: CardPayload = {
  encryptedPayload: 'a.b.c.d.e',
  network: 'visa',
  panLastFour: '4242',
  panExpirationMonth: '06',
  panExpirationYear: '2028',
};
const decoded = (header: string): unknown =>
  JSON.parse(Buffer.from(header.replace(/^Payment /, ''), 'base64url').toString());

describe('the credential', () => {
  test('returns every text of the challenge as it was received', () => {
    const text = fc.string({ maxLength: 30 });
    fc.assert(
      fc.property(fc.record({ expires: text, digest: text, description: text, opaque: text }), (optional) => {
        const { name, value } = credentialHeader({ ...challenge, ...optional }, payload);
        expect(name).toBe('Authorization');
        expect(value).toMatch(/^Payment [A-Za-z0-9_-]+$/);
        expect(decoded(value)).toEqual({ challenge: { ...challenge, ...optional }, payload });
      }),
    );
  });

  test('goes into the header that the challenge names, and only then names it', () => {
    const { name, value } = credentialHeader({ ...challenge, header: 'Payment-Authorization' }, payload);
    expect(name).toBe('Payment-Authorization');
    expect(decoded(value)).toMatchObject({ challenge: { header: 'Payment-Authorization' } });
    expect(decoded(credentialHeader(challenge, payload).value)).not.toHaveProperty('challenge.header');
  });
});

describe('the digest of a body', () => {
  // The digest of RFC 9530, B.1, for `{"hello": "world"}` and a line feed.
  const body = Buffer.from('{"hello": "world"}\n');
  const rfc = 'sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:';

  test('equals the example of RFC 9530', () => {
    expect(digestOf(body)).toBe(rfc);
  });

  test('fits with and without colons, and beside another algorithm', () => {
    expect(digestFits(rfc, body)).toBe(true);
    expect(digestFits(rfc.replaceAll(':', ''), body)).toBe(true);
    expect(digestFits(`sha-512=:AAAA:, ${rfc}`, body)).toBe(true);
    expect(digestFits('sha-512=:AAAA:', body)).toBe(true);
  });

  test('does not fit another body, nor an unreadable one', () => {
    expect(digestFits(rfc, Buffer.from('{}'))).toBe(false);
    expect(digestFits('sha-256=:', body)).toBe(false);
    expect(digestFits('sha-256=::', body)).toBe(false);
  });
});

describe('the receipt', () => {
  const receipt = { status: 'success', method: 'card', reference: 'auth_1', timestamp: '2026-11-20T07:17:04.112Z' };
  const whole = { ...receipt, challengeId: 'c1', externalId: 'order_1' };

  test('is read with and without the members that some merchants omit', () => {
    expect(readReceipt(encoded(whole), 'c1')).toEqual({
      ok: true,
      receipt: {
        method: 'card',
        reference: 'auth_1',
        timestamp: '2026-11-20T07:17:04.112Z',
        challengeId: 'c1',
        externalId: 'order_1',
      },
    });
    expect(readReceipt(encoded({ status: 'success', method: 'card', reference: 'x', more: 1 }), 'c1')).toEqual({
      ok: true,
      receipt: { method: 'card', reference: 'x', timestamp: null, challengeId: null, externalId: null },
    });
  });

  test.each<[string, string, string]>([
    ['of another payment', encoded({ ...whole, challengeId: 'c2' }), 'another challenge'],
    ['of another method', encoded({ ...whole, method: 'tempo' }), 'the method tempo'],
    ['that says failure', encoded({ ...whole, status: 'failed' }), 'not a receipt'],
    ['without a reference', encoded({ ...whole, reference: undefined }), 'not a receipt'],
    ['that is signed in another form', `${encoded(whole)}.c2ln`, 'not a receipt'],
    ['that is plain JSON', JSON.stringify(whole), 'not a receipt'],
    ['that is empty', '', 'not a receipt'],
    ['that is too long', encoded({ ...whole, more: 'x'.repeat(longestReceiptBytes) }), 'longer than'],
  ])('%s is not accepted', (_name, header, reason) => {
    expect(readReceipt(header, 'c1')).toEqual({ ok: false, reason: expect.stringContaining(reason) });
  });
});
