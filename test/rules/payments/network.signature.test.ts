/** Whose key signed: the right bytes at the right endpoint, the right time, and each adapter by its own key. @module */
import { createHmac } from 'node:crypto';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { signerOf, signerOfHead } from '../../../src/domains/payments/network/network.signature.ts';
import { fileSignature, networkSignature } from '../../../src/sandbox/network/network-signature.ts';

const keys = { sandbox: 'a'.repeat(64), other: 'b'.repeat(64), unset: '' };
const now = 1_760_000_000;
const bytes = (text: string) => new TextEncoder().encode(text);
const requestLine = 'POST /network/authorizations';

const sign = (key: string, rawBody: string, unixSeconds = now) =>
  networkSignature(key, { requestLine, rawBody, unixSeconds });
const signer = (signature: string, rawBody: string, line = requestLine) =>
  signerOf({ signature, contentDigest: undefined, requestLine: line, rawBody: bytes(rawBody) }, keys, now * 1_000)
    .adapter;

/**
 * Made with OpenSSL, not with a signer of ours:
 * printf '1760000000.POST /network/authorizations.{"id":"auth_1"}' | openssl dgst -sha256 -hmac aaaa… (64 a)
 */
const golden = [
  {
    line: 'POST /network/authorizations',
    body: '{"id":"auth_1"}',
    hex: '1434242ac49f02da4603d8d539663c86fd00a7fec4fc8deb64d3379ff6cd949c',
  },
  {
    line: 'POST /network/clearings',
    body: '{"id":"auth_1"}',
    hex: 'ff16e07f970cd4d3cf028d63dbbdc0cf57311f7d45bd53f8fb90756f57c3371f',
  },
  {
    line: 'POST /v1/network/clearings?attempt=2&note=%C3%A9',
    body: '{"id":"clr_1","merchant":{"name":"Café Zoë"}}',
    hex: 'eba0881d98edc8731f38e62b15b672fbae7dca14e59cd7809c068b7d01a90ec8',
  },
] as const;

test.each(golden)('golden vector of $line', ({ line, body, hex }) => {
  const header = `t=${now},v1=${hex}`;
  expect(signer(header, body, line)).toBe('sandbox');
  expect(networkSignature(keys.sandbox, { requestLine: line, rawBody: body, unixSeconds: now })).toBe(header);
  for (const other of golden.filter((one) => one.line !== line))
    expect(signer(header, body, other.line)).toBeUndefined();
});

test('a signature is valid for its method, target and body alone', () => {
  fc.assert(
    fc.property(fc.webPath(), fc.webQueryParameters(), fc.string(), fc.string(), (path, query, body, other) => {
      const line = `POST ${path}?${query}`;
      const header = networkSignature(keys.sandbox, { requestLine: line, rawBody: body, unixSeconds: now });
      expect(signer(header, body, line)).toBe('sandbox');
      expect(signer(header, body, `PUT ${path}?${query}`)).toBeUndefined();
      expect(signer(header, body, `POST ${path}`)).toBeUndefined();
      expect(signer(header, body, `POST ${path}/?${query}`)).toBeUndefined();
      if (other !== body) expect(signer(header, other, line)).toBeUndefined();
    }),
  );
});

test('each adapter is identified by its key; an unset key verifies no message', () => {
  expect(signer(sign(keys.other, 'x'), 'x')).toBe('other');
  expect(signer(sign('', 'x'), 'x')).toBeUndefined();
});

test('five minutes either way, and not a second more', () => {
  for (const [offset, isTaken] of [
    [-300, true],
    [300, true],
    [-301, false],
    [301, false],
  ] as const) {
    expect(signer(sign(keys.sandbox, 'x', now + offset), 'x') !== undefined).toBe(isTaken);
  }
});

test('a right signature at another time tells how far the clocks are apart, a wrong one tells nothing', () => {
  const at = (header: string) =>
    signerOf(
      { signature: header, contentDigest: undefined, requestLine, rawBody: bytes('x') },
      keys,
      now * 1_000 + 250,
    );
  expect(at(sign(keys.other, 'x', now - 600))).toEqual({
    adapter: undefined,
    untimely: { adapter: 'other', apartMs: 600_250 },
  });
  expect(at(sign(keys.sandbox, 'x', now + 600))).toEqual({
    adapter: undefined,
    untimely: { adapter: 'sandbox', apartMs: -599_750 },
  });
  expect(at(sign(keys.sandbox, 'y', now - 600))).toStrictEqual({ adapter: undefined });
});

test('no other header is taken', () => {
  const right = sign(keys.sandbox, 'x');
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.constantFrom(
          right.toUpperCase(),
          `${right},v1=0`,
          ` ${right}`,
          right.replace('v1', 'v0'),
          right.replace('v1', 'v2'),
        ),
      ),
      (header) => {
        expect(signer(header, 'x')).toBeUndefined();
      },
    ),
  );
});

/**
 * Made with OpenSSL: printf '<Document/>' | openssl dgst -sha256 -binary | base64, then
 * printf 'v2.1760000000.POST /network/sepa/files.sha-256=:…:' | openssl dgst -sha256 -hmac aaaa… (64 a)
 */
const file = {
  line: 'POST /network/sepa/files',
  body: '<Document/>',
  contentDigest: 'sha-256=:rvCNoWsvZmOKTDlWBzOw3viy20lVxk+OVn+LanvKZoU=:',
  signature: `t=${now},v2=5e858fcb74147af6de46e5d376cc93615dd2ba61fac13718ff70d8ec7194bb83`,
};
const head = { signature: file.signature, contentDigest: file.contentDigest, requestLine: file.line };
const ofFile = (over: Partial<typeof head> = {}, rawBody = file.body, atMs = now * 1_000) =>
  signerOf({ ...head, ...over, rawBody: bytes(rawBody) }, keys, atMs).adapter;

test('golden vector of a signature over the digest of a file', () => {
  expect(ofFile()).toBe('sandbox');
  expect(signerOfHead(head, keys, now * 1_000)).toEqual({ adapter: 'sandbox' });
  const made = fileSignature(keys.sandbox, { requestLine: file.line, rawBody: file.body, unixSeconds: now });
  expect(made).toEqual({ 'Content-Digest': file.contentDigest, 'X-Network-Signature': file.signature });
});

test('a signature over a digest is valid for its target, its digest and the body that has it alone', () => {
  const other = fileSignature(keys.sandbox, { requestLine: file.line, rawBody: '<Other/>', unixSeconds: now });
  expect(ofFile({}, '<Other/>')).toBeUndefined();
  expect(ofFile({ contentDigest: other['Content-Digest'] }, '<Other/>')).toBeUndefined();
  expect(ofFile({ requestLine: 'POST /v1/network/sepa/files' })).toBeUndefined();
  expect(ofFile({}, file.body, (now + 301) * 1_000)).toBeUndefined();
  const elsewhere = [undefined, '', file.contentDigest.replace('256', '512'), `${file.contentDigest}, md5=:eA==:`];
  for (const contentDigest of elsewhere) {
    expect(signerOf({ ...head, contentDigest, rawBody: bytes(file.body) }, keys, now * 1_000)).toStrictEqual({
      adapter: undefined,
    });
    expect(signerOfHead({ ...head, contentDigest }, keys, now * 1_000)).toStrictEqual({ adapter: undefined });
  }
  const wholeOf = (rawBody: string) => signerOf({ ...head, rawBody: bytes(rawBody) }, keys, now * 1_000);
  expect(wholeOf('<Other/>')).toStrictEqual({ adapter: undefined });
  // A body that reads like what v2 signs: the signature of such a message proves no file.
  const body = `${file.line}.${file.contentDigest}`;
  const mac = sign(keys.sandbox, body).replace('v1', 'v2');
  expect(ofFile({ signature: mac })).toBeUndefined();
});

test('a digest of another form is refused, although its adapter has signed it', () => {
  const by = (contentDigest: string) => {
    const mac = createHmac('sha256', keys.sandbox).update(`v2.${now}.${file.line}.${contentDigest}`).digest('hex');
    return signerOfHead({ ...head, signature: `t=${now},v2=${mac}`, contentDigest }, keys, now * 1_000);
  };
  expect(by(file.contentDigest)).toStrictEqual({ adapter: 'sandbox' });
  for (const other of ['', 'md5=:eA==:', `x${file.contentDigest}`, `${file.contentDigest}, md5=:eA==:`])
    expect(by(other)).toStrictEqual({ adapter: undefined });
});

test('before the body is there only a signature over its digest shows who signed', () => {
  const headOf = (signature: string | undefined) => signerOfHead({ ...head, signature }, keys, now * 1_000);
  expect(headOf(sign(keys.sandbox, 'x'))).toBe('by body');
  expect(headOf(sign('c'.repeat(64), 'x'))).toBe('by body');
  for (const signature of [undefined, 'x', file.signature.replace(/.$/, '')])
    expect(headOf(signature)).toStrictEqual({ adapter: undefined });
  expect(headOf(`t=${now},v2=${'0'.repeat(64)}`)).toStrictEqual({ adapter: undefined });
  expect(signerOfHead(head, keys, (now + 600) * 1_000)).toEqual({
    adapter: undefined,
    untimely: { adapter: 'sandbox', apartMs: 600_000 },
  });
});
