/** Which keys of merchants may receive a payment token, and where they may come from. @module */
import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { compactDecrypt, importJWK } from 'jose';
import {
  keyInSet,
  readEncryptionKey,
  refusalOfJwksUri,
} from '../../../../src/domains/payments/mpp/encryption-key.rules.ts';
import {
  encryptPaymentToken,
  type PaymentToken,
} from '../../../../src/domains/payments/mpp/payment-token.encryption.ts';

const pair = (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength });
const keys = pair(2048);
const jwkOf = (of: ReturnType<typeof pair>) => ({
  ...of.publicKey.export({ format: 'jwk' }),
  alg: 'RSA-OAEP-256',
  use: 'enc',
  kid: 'key-1',
});
const jwk = jwkOf(keys);
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });
const privateJwk = keys.privateKey.export({ format: 'jwk' });
const base64urlOf = (hex: string): string => Buffer.from(hex, 'hex').toString('base64url');

describe('a merchant’s key', () => {
  test('with 2,048 and with 4,096 bits is used', () => {
    expect(readEncryptionKey(jwk)).toEqual({ ok: true, jwk });
    expect(readEncryptionKey(jwkOf(pair(4096)))).toMatchObject({ ok: true });
  });

  test('may have an e of 15 signs, which begins with zeros', () => {
    const e = base64urlOf(`${'00'.repeat(10)}03`);
    expect(e).toHaveLength(15);
    expect(readEncryptionKey({ ...jwk, e })).toMatchObject({ ok: true });
  });

  test('keeps only the members that encryption needs', () => {
    expect(readEncryptionKey({ ...jwk, x5u: 'https://shop.example/key', key_ops: ['encrypt'] })).toEqual({
      ok: true,
      jwk,
    });
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['of an elliptic curve', { ...ec, alg: 'RSA-OAEP-256', use: 'enc', kid: 'k' }, 'not an RSA key'],
    ['symmetric', { kty: 'oct', k: 'AAAA', alg: 'RSA-OAEP-256', use: 'enc', kid: 'k' }, 'not an RSA key'],
    ['private', { ...jwk, ...privateJwk }, 'private members'],
    ['for another algorithm', { ...jwk, alg: 'RSA-OAEP' }, 'algorithm'],
    ['for RSA1_5', { ...jwk, alg: 'RSA1_5' }, 'algorithm'],
    ['without an algorithm', { ...jwk, alg: undefined }, 'algorithm'],
    ['for signatures', { ...jwk, use: 'sig' }, 'not for encryption'],
    ['without a use', { ...jwk, use: undefined }, 'not for encryption'],
    ['without a kid', { ...jwk, kid: undefined }, 'no kid'],
    ['with an empty kid', { ...jwk, kid: '' }, 'no kid'],
    ['with a kid that is a number', { ...jwk, kid: 7 }, 'no kid'],
    ['with a kid of 257 characters', { ...jwk, kid: 'k'.repeat(257) }, 'no kid'],
    ['without n', { ...jwk, n: undefined }, 'no n or e'],
    ['without e', { ...jwk, e: undefined }, 'no n or e'],
    ['of 2,047 bits', { ...jwk, n: base64urlOf(`7f${'ff'.repeat(255)}`) }, '2047 bits; 2048 are required'],
    ['of 8,193 bits', { ...jwk, n: base64urlOf(`01${'ff'.repeat(1_024)}`) }, 'at most 8192 bits'],
    ['with n of other signs', { ...jwk, n: `+${jwk.n}` }, 'base64url'],
    ['with an empty n', { ...jwk, n: '' }, 'base64url'],
    ['with an even e', { ...jwk, e: base64urlOf('04') }, 'odd number of at least 3'],
    ['with an e of one sign', { ...jwk, e: 'A' }, 'odd number of at least 3'],
    ['with an e of 16 signs', { ...jwk, e: base64urlOf(`${'00'.repeat(11)}03`) }, 'odd number of at least 3'],
    ['with e of 65 bits', { ...jwk, e: base64urlOf(`01${'00'.repeat(7)}01`) }, 'odd number of at least 3'],
    ...['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'].map((member): [string, Record<string, unknown>, string] => [
      `with ${member}`,
      { ...jwk, [member]: 'AAAA' },
      'private members',
    ]),
    ['of 1,024 bits', jwkOf(pair(1024)), '1024 bits; 2048 are required'],
    [
      'of 1,024 bits that is padded with zeros',
      { ...jwk, n: base64urlOf(`${'00'.repeat(128)}c0${'01'.repeat(127)}`) },
      '1024 bits',
    ],
    ['with n of padded base64', { ...jwk, n: `${jwk.n}=` }, 'base64url'],
    ['with n of a megabyte', { ...jwk, n: 'A'.repeat(1_000_000) }, 'at most 8192 bits'],
    ['with an even n', { ...jwk, n: base64urlOf(`c0${'00'.repeat(255)}`) }, 'even'],
    ['with e = 1, which would not encrypt', { ...jwk, e: 'AQ' }, 'odd number of at least 3'],
    ['with an even e', { ...jwk, e: 'Ag' }, 'odd number of at least 3'],
    ['with a long e', { ...jwk, e: 'A'.repeat(40) }, 'odd number of at least 3'],
  ])('%s is refused', (_name, given, reason) => {
    expect(readEncryptionKey(given)).toEqual({ ok: false, reason: expect.stringContaining(reason) });
  });

  test('may have 8,192 bits, an e of 3 or of 64 bits, and a kid of 256 characters', () => {
    for (const over of [
      ...[{ n: base64urlOf('ff'.repeat(1_024)) }, { n: base64urlOf('ff'.repeat(256)) }, { e: 'Aw' }],
      ...[{ e: base64urlOf(`80${'00'.repeat(6)}01`) }, { kid: 'k'.repeat(256) }],
    ])
      expect(readEncryptionKey({ ...jwk, ...over })).toEqual({ ok: true, jwk: { ...jwk, ...over } });
  });

  test('that is refused says why', () => {
    const why = (over: Record<string, unknown>) => readEncryptionKey({ ...jwk, ...over });
    for (const [over, reason] of [
      [{ kty: 'EC' }, 'the encryption key is not an RSA key'],
      [{ d: 'AAAA' }, 'the encryption key contains private members'],
      [{ alg: 'RSA-OAEP' }, 'the algorithm of the encryption key is not RSA-OAEP-256'],
      [{ use: 'sig' }, 'the encryption key is not for encryption'],
      [{ kid: '' }, 'the encryption key has no kid'],
      [{ n: 7 }, 'the encryption key has no n or e'],
      [{ n: '!' }, 'n of the encryption key is not base64url of at most 8192 bits'],
      [{ n: 'Aw' }, 'the encryption key has 2 bits; 2048 are required'],
      [{ n: base64urlOf(`c0${'00'.repeat(255)}`) }, 'n of the encryption key is even'],
      [{ e: 'AQ' }, 'e of the encryption key is not an odd number of at least 3'],
    ] as const)
      expect(why(over)).toEqual({ ok: false, reason });
  });

  test('of a set is found by its kid, and must be the only one with it', () => {
    const other = { ...jwk, kid: 'key-2' };
    expect(keyInSet({ keys: [other, jwk] }, 'key-1')).toEqual({ ok: true, jwk });
    expect(keyInSet({ keys: [jwk, jwk] }, 'key-1')).toMatchObject({
      ok: false,
      reason: expect.stringContaining('2 keys'),
    });
    expect(keyInSet({ keys: [other] }, 'key-1')).toMatchObject({
      ok: false,
      reason: expect.stringContaining('0 keys'),
    });
    expect(keyInSet({ keys: [null, 'x', 7, jwk] }, 'key-1')).toEqual({ ok: true, jwk });
    for (const answer of [undefined, null, 'x', [jwk], { keys: jwk }])
      expect(keyInSet(answer, 'key-1')).toEqual({ ok: false, reason: 'jwksUri answers no JWK Set' });
  });
});

describe('jwksUri', () => {
  test.each([
    ['https://shop.example/jwks.json', 'shop.example'],
    ['https://shop.example:443/jwks.json', 'shop.example'],
    ['https://shop.example:8443/jwks.json', 'shop.example:8443'],
    ['https://SHOP.example/jwks.json', 'shop.EXAMPLE'],
  ])('%s belongs to the realm %s', (uri, realm) => {
    expect(refusalOfJwksUri(uri, realm)).toBeUndefined();
  });

  test.each([
    ['http://shop.example/jwks.json', 'shop.example', 'https'],
    ['https://other.example/jwks.json', 'shop.example', 'another origin'],
    ['https://keys.shop.example/jwks.json', 'shop.example', 'another origin'],
    ['https://shop.example:8443/jwks.json', 'shop.example', 'another origin'],
    ['https://shop.example@evil.example/', 'shop.example', 'credentials'],
    ['https://:word@shop.example/', 'shop.example', 'credentials'],
    ['https://shop.example/', 'shop.example/path', 'not a host'],
    ['https://shop.example/', 'user@shop.example', 'not a host'],
    ['https://shop.example/', 'Our Shop', 'not a host'],
    ['/jwks.json', 'shop.example', 'https'],
  ])('%s does not belong to the realm %s', (uri, realm, reason) => {
    expect(refusalOfJwksUri(uri, realm)).toContain(reason);
  });
});

test('the reason why a jwksUri is refused is a sentence', () => {
  expect(refusalOfJwksUri('/jwks.json', 'shop.example')).toBe('jwksUri is not an https address');
  expect(refusalOfJwksUri('https://a@shop.example/', 'shop.example')).toBe('jwksUri contains credentials');
  expect(refusalOfJwksUri('https://shop.example/', 'Our Shop')).toBe(
    'jwksUri cannot be compared with the realm: the realm is not a host',
  );
  expect(refusalOfJwksUri('https://other.example/', 'shop.example')).toBe('jwksUri has another origin than the realm');
  expect(keyInSet({ keys: [] }, 'key-1')).toEqual({
    ...{ ok: false, reason: 'jwksUri has 0 keys with the kid of the challenge' },
  });
});

test('the payment token is encrypted for the key, under a header of three members', async () => {
  const token: PaymentToken = {
    token: { paymentToken: '4895370012003478', tokenExpirationMonth: '12', tokenExpirationYear: '2030', eci: '07' },
    dynamicData: {
      dynamicDataValue: 'AmDDBjkH/4A=',
      dynamicDataType: 'CARD_APPLICATION_CRYPTOGRAM_SHORT_FORM',
      dynamicDataExpiration: 1_795_000_000,
    },
  };
  const reading = readEncryptionKey(jwk);
  if (!reading.ok) throw new Error(reading.reason);
  const encrypted = await encryptPaymentToken(token, reading.jwk);
  const { plaintext, protectedHeader } = await compactDecrypt(
    encrypted,
    await importJWK({ ...privateJwk, alg: 'RSA-OAEP-256' }, 'RSA-OAEP-256'),
  );
  expect(protectedHeader).toEqual({ alg: 'RSA-OAEP-256', enc: 'A256GCM', kid: 'key-1' });
  expect(new TextDecoder().decode(plaintext)).toBe(JSON.stringify(token));
  expect(await encryptPaymentToken(token, reading.jwk)).not.toBe(encrypted);
});
