/** What is signed of a request, character by character, and the header fields that carry it. @module */
import { expect, test } from '@jest/globals';
import {
  contentDigestOf,
  nonceBytes,
  type RequestPurpose,
  type RequestToSign,
  type Signed,
  signatureHeaders,
  signatureLivesSeconds,
  signatureProfiles,
  unsignedSignature,
} from '../../../src/outbound/message-signature.rules.ts';

const keySetUrl = 'https://pay.example/.well-known/agents/ag_01kc1v9m3se7ttw5v1x0h2q8ab/jwks.json';
const aRequest: RequestToSign = {
  method: 'POST',
  url: new URL('https://shop.example:8443/orders/7/pay?lang=de'),
  contentDigest: 'sha-256=:AA==:',
  purpose: 'pay',
};

test('the signature base of Web Bot Auth, character by character', () => {
  const parameters = { created: new Date(1_795_000_000_900), keyid: 'kid', nonce: 'n' };
  expect(unsignedSignature('web_bot_auth', aRequest, keySetUrl, parameters).base.split('\n')).toEqual([
    '"@method": POST',
    '"@authority": shop.example:8443',
    '"@path": /orders/7/pay',
    '"@query": ?lang=de',
    '"content-digest": sha-256=:AA==:',
    `"signature-agent";key="sig1": "${keySetUrl}"`,
    '"@signature-params": ("@method" "@authority" "@path" "@query" "content-digest" "signature-agent";key="sig1")' +
      ';created=1795000000;expires=1795000060;keyid="kid";alg="ed25519";nonce="n";tag="web-bot-auth"',
  ]);
});

test('the signature base of the Trusted Agent Protocol, character by character', () => {
  const parameters = { created: new Date(1_795_000_000_900), keyid: 'kid', nonce: 'n' };
  const baseOf = (purpose: RequestPurpose) =>
    unsignedSignature('trusted_agent', { ...aRequest, purpose, contentDigest: undefined }, keySetUrl, parameters).base;
  const base = [
    '"@authority": shop.example:8443',
    '"@path": /orders/7/pay',
    '"@signature-params": ("@authority" "@path")' +
      ';created=1795000000;expires=1795000060;keyid="kid";alg="ed25519";nonce="n";tag="agent-payer-auth"',
  ].join('\n');
  expect(baseOf('pay')).toBe(base);
  expect(baseOf('browse')).toBe(base.replace('agent-payer-auth', 'agent-browser-auth'));
});

test('the default port and upper case are not part of the authority', () => {
  const parameters = { created: new Date(), keyid: 'k', nonce: 'n' };
  const request = { ...aRequest, url: new URL('https://SHOP.Example:443'), contentDigest: undefined };
  const { base } = unsignedSignature('trusted_agent', request, keySetUrl, parameters);
  expect(base).toContain('"@authority": shop.example\n"@path": /\n');
});

test('text that a header cannot hold is refused, and quotes do not end a string', () => {
  const make = (url: string) =>
    signatureHeaders(
      [{ label: 'l', input: '"signature-agent"', base: '', signature: new Uint8Array() }],
      url,
      undefined,
    );
  for (const text of ['a\r\nX-Injected: 1', 'ä', '\u0000', '\u007f'])
    expect(() => make(text)).toThrow(new TypeError('a structured field holds printable ASCII only'));
  expect(make('a"b\\c')['Signature-Agent']).toBe(String.raw`sig1="a\"b\\c"`);
});

test('a request without a query and without a body is signed without them', () => {
  const parameters = { created: new Date(1_795_000_000_000), keyid: 'kid', nonce: 'n' };
  const request = { ...aRequest, url: new URL('https://shop.example/a'), contentDigest: undefined };
  expect(unsignedSignature('web_bot_auth', request, keySetUrl, parameters)).toEqual({
    label: 'sig1',
    input:
      '("@method" "@authority" "@path" "signature-agent";key="sig1")' +
      ';created=1795000000;expires=1795000060;keyid="kid";alg="ed25519";nonce="n";tag="web-bot-auth"',
    base: expect.stringMatching(/^"@method": POST\n"@authority": shop\.example\n"@path": \/a\n"signature-agent";/),
  });
});

test('a signature lives for a minute, and its nonce has 64 random bytes', () => {
  expect([signatureLivesSeconds, nonceBytes]).toEqual([60, 64]);
});

test('the header fields of both signatures, and of what they cover', () => {
  const parameters = { created: new Date(1_795_000_000_000), keyid: 'kid', nonce: 'n' };
  const [bot, card] = signatureProfiles.map((profile): Signed => {
    return { ...unsignedSignature(profile, aRequest, keySetUrl, parameters), signature: Uint8Array.of(1, 2, 3) };
  }) as [Signed, Signed];
  const digest = contentDigestOf(Uint8Array.of(0));
  expect(digest).toBe('sha-256=:AA==:');
  expect(signatureHeaders([bot, card], keySetUrl, digest)).toStrictEqual({
    'Content-Digest': digest,
    'Signature-Agent': `sig1="${keySetUrl}"`,
    'Signature-Input': `sig1=${bot.input}, sig2=${card.input}`,
    Signature: 'sig1=:AQID:, sig2=:AQID:',
  });
  expect(signatureHeaders([card], keySetUrl, digest)).toStrictEqual({
    ...{ 'Signature-Input': `sig2=${card.input}`, Signature: 'sig2=:AQID:' },
  });
  expect(signatureHeaders([bot], keySetUrl, undefined)).not.toHaveProperty('Content-Digest');
});
