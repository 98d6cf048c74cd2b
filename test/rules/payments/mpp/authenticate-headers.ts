/**
 * Headers of merchants, valid and hostile, each with the reason why it is in the list and what has to be done with it:
 * `pays` names the id of the challenge that is answered, `refuses` a part of the reason, `none` that no payment is asked.
 * @module
 */
import { generateKeyPairSync } from 'node:crypto';

/** Real time of the tests. */
export const nowMs = Date.parse('2026-11-21T12:00:00Z');

export const jwk = {
  ...(generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' }) as {
    n: string;
    e: string;
  }),
  kty: 'RSA',
  alg: 'RSA-OAEP-256',
  use: 'enc',
  kid: 'key-1',
};

type Json = Readonly<Record<string, unknown>>;

const details: Json = { acceptedNetworks: ['visa', 'mastercard'], encryptionJwk: jwk, merchantName: 'Café Ünïcode' };
const charge: Json = { amount: '499', currency: 'eur', methodDetails: details };

export const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A request with some members replaced; `undefined` removes one. */
const request = (members: Json = {}): string => encoded({ ...charge, ...members });
const withDetails = (members: Json): string => request({ methodDetails: { ...details, ...members } });

const valid = { id: 'c1', realm: 'shop.example', method: 'card', intent: 'charge', request: request() };

/** A challenge with some parameters replaced; `undefined` removes one, in the form `Payment name="value", …`. */
function payment(parameters: Readonly<Record<string, string | undefined>> = {}, scheme = 'Payment'): string {
  const all = Object.entries({ ...valid, ...parameters }).filter(([, value]) => value !== undefined);
  return `${scheme} ${all.map(([name, value]) => `${name}="${value}"`).join(', ')}`;
}

const unquoted = (): string =>
  `Payment ${Object.entries(valid)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ')}`;

type Expected = { readonly pays: string } | { readonly refuses: string } | 'none';
export type HeaderCase = readonly [why: string, lines: readonly string[], expected: Expected];

const pays = (id = 'c1'): Expected => ({ pays: id });
const refuses = (reason: string): Expected => ({ refuses: reason });
const list = (...challenges: string[]): string => challenges.join(', ');
const inFuture = '2030-01-01T00:00:00Z';

const lists: readonly HeaderCase[] = [
  ['the usual form: one challenge, every parameter quoted', [payment()], pays()],
  ['parameters as tokens are allowed', [unquoted()], pays()],
  [
    'spaces around the equals sign are allowed',
    [payment().replaceAll('=', '=').replace('id="c1"', 'id = "c1"')],
    pays(),
  ],
  ['tabs around the equals sign are allowed', [payment().replace('id="c1"', 'id\t=\t"c1"')], pays()],
  ['no space after a comma', [payment().replaceAll(', ', ',')], pays()],
  ['spaces before a comma', [payment().replaceAll(', ', ' , ')], pays()],
  ['a tab after a comma', [payment().replaceAll(', ', ',\t')], pays()],
  ['empty elements of a list are ignored', [payment().replaceAll(', ', ', , ,')], pays()],
  ['a comma before the first challenge', [`, ${payment()}`], pays()],
  ['a comma after the last parameter', [`${payment()},`], pays()],
  ['spaces around the whole value', [`  ${payment()}  `], pays()],
  ['several spaces after the scheme', [payment().replace('Payment ', 'Payment   ')], pays()],
  ['the scheme in lower case', [payment({}, 'payment')], pays()],
  ['the scheme in upper case', [payment({}, 'PAYMENT')], pays()],
  ['parameter names in upper case', [payment().replace('id=', 'ID=').replace('realm=', 'Realm=')], pays()],
  [
    'parameters in another order',
    [
      `Payment ${Object.entries(valid)
        .reverse()
        .map(([n, v]) => `${n}="${v}"`)
        .join(', ')}`,
    ],
    pays(),
  ],
  ['two header lines: the first that can be answered is taken', [payment(), payment({ id: 'c2' })], pays()],
  ['two challenges on one line', [list(payment(), payment({ id: 'c2' }))], pays()],
  ['Bearer before on the same line', [list('Bearer realm="api"', payment())], pays()],
  ['Bearer after on the same line', [list(payment(), 'Bearer realm="api", error="invalid_token"')], pays()],
  ['Bearer on a separate line', ['Bearer realm="api"', payment()], pays()],
  ['Basic with a charset', [list('Basic realm="x", charset="UTF-8"', payment())], pays()],
  ['a scheme without parameters before', [list('Negotiate', payment())], pays()],
  ['a scheme without parameters after', [list(payment(), 'Negotiate')], pays()],
  ['a scheme with a token68', [list('Negotiate YWJjZGVm==', payment())], pays()],
  ['a token68 without padding', [list('NTLM TlRMTVNTUAAB', payment())], pays()],
  ['a token68 on a separate line', ['Negotiate abc/def+ghi=', payment()], pays()],
  [
    'Digest with many parameters',
    [list('Digest realm="d", qop="auth, auth-int", nonce="a,b", opaque="c"', payment())],
    pays(),
  ],
  ['three schemes, the payment in the middle', [list('Basic realm="a"', payment(), 'Bearer realm="b"')], pays()],
  ['an empty line beside', ['', payment()], pays()],
  ['a line of commas beside', [',,,', payment()], pays()],
  [
    'the second challenge is for card, the first for a stablecoin',
    [list(payment({ method: 'tempo' }), payment({ id: 'c2' }))],
    pays('c2'),
  ],
  [
    'ten challenges, the last can be answered',
    [list(...Array.from({ length: 9 }, () => payment({ method: 'evm' })), payment({ id: 'c10' }))],
    pays('c10'),
  ],
];

const decoys: readonly HeaderCase[] = [
  ['a challenge within the description is text', [payment({ description: ', Payment id=fake, realm=x' })], pays()],
  [
    'a challenge within the realm of Bearer is text',
    [list('Bearer realm="x, Payment id=\\"fake\\", method=\\"card\\""', payment())],
    pays(),
  ],
  ['only a decoy within a quoted string', ['Bearer realm="x, Payment id=\\"fake\\", realm=\\"y\\""'], 'none'],
  ['a decoy with every parameter, quoted', [`Bearer realm="${payment().replaceAll('"', '\\"')}"`], 'none'],
  ['an escaped quote at the end of a description', [payment({ description: 'say \\"hi\\"' })], pays()],
  ['an escaped backslash before the closing quote', [payment({ description: 'C:\\\\' })], pays()],
  ['an escaped ordinary character', [payment({ description: '\\a\\b' })], pays()],
  ['an id with escapes is unescaped', [payment({ id: 'c\\1' })], pays()],
  ['a comma within an id', [payment({ id: 'c,1' })], pays('c,1')],
  ['an equals sign within an id', [payment({ id: 'c=1' })], pays('c=1')],
  ['a description that looks like another amount', [payment({ description: 'amount=1' })], pays()],
  ['an unknown parameter named like a method', [payment({ 'x-method': 'tempo' })], pays()],
  ['an unknown parameter', [payment({ version: '2' })], pays()],
  [
    'many unknown parameters',
    [payment(Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`x${n}`, 'y'])))],
    pays(),
  ],
  ['an unknown parameter without quotes', [`${payment()}, x=1`], pays()],
  ['an unknown parameter with an empty value', [payment({ x: '' })], pays()],
  ['the word Payment as the value of a parameter', [`Bearer scheme=Payment, id=fake`], 'none'],
  ['Payment within a longer scheme name', [payment({}, 'XPayment')], 'none'],
  ['Payment with a suffix', [payment({}, 'Payment-2')], 'none'],
  ['an apostrophe does not quote', [`Bearer realm='x, ${payment()}`], pays()],
  ['a description with text of another script in Latin-1 bytes', [payment({ description: 'Caf\u00e9' })], pays()],
  ['a description with the \\u form of one library', [payment({ description: 'a\\u2014b' })], pays()],
];

const faults: readonly HeaderCase[] = [
  ['a quote that ends at the next parameter', ['Payment id="c1, realm="x'], refuses('comma')],
  ['an unterminated quote at the last parameter', [payment().slice(0, -1)], refuses('malformed')],
  ['an unterminated quote does not swallow another line', ['Payment id="c1', payment({ id: 'c2' })], pays('c2')],
  ['a parameter twice', [payment({ ID: 'c2' })], refuses('occurs twice')],
  ['the request twice', [`${payment()}, request="${request({ amount: '1' })}"`], refuses('request occurs twice')],
  ['an unknown parameter twice', [`${payment()}, x=1, x=2`], refuses('x occurs twice')],
  [
    'a parameter twice spoils its own challenge only',
    [list(`${payment()}, id="again"`, payment({ id: 'c2' }))],
    pays('c2'),
  ],
  ['parameters without a comma between them', ['Payment id="c1" realm="x"'], refuses('comma')],
  ['a semicolon in place of a comma', [payment().replaceAll(', ', '; ')], refuses('comma')],
  [
    'a missing comma spoils its own challenge only',
    [list('Payment id="a" realm="b"', payment({ id: 'c2' }))],
    pays('c2'),
  ],
  ['text behind a closing quote', [payment().replace('id="c1"', 'id="c1"x')], refuses('comma')],
  ['a colon in place of the equals sign', [payment().replace('id="c1"', 'id:"c1"')], refuses('has no value')],
  ['a name without a value', [`Payment id, realm="x"`], refuses('follow a token68')],
  ['an equals sign without a name', [`Payment ="c1", realm="x"`], refuses('comma')],
  [
    'a parameter with nothing behind the equals sign',
    [payment().replace('id="c1"', 'id=')],
    refuses('follow a token68'),
  ],
  ['a tab behind the scheme', [payment().replace('Payment ', 'Payment\t')], refuses('comma')],
  ['a control character within a quoted string', [payment({ description: 'a\u0001b' })], refuses('malformed')],
  ['a line feed within a quoted string', [payment({ description: 'a\nb' })], refuses('malformed')],
  ['a carriage return within a quoted string', [payment({ description: 'a\rb' })], refuses('malformed')],
  ['a NUL within a quoted string', [payment({ id: 'c\u00001' })], refuses('malformed')],
  ['a DEL within a quoted string', [payment({ id: 'c\u007f1' })], refuses('malformed')],
  ['a character above one byte', [payment({ description: 'a\u2014b' })], refuses('malformed')],
  ['a backslash before a control character', [payment({ description: '\\\u0001' })], refuses('malformed')],
  ['a token with a character that is not one', ['Payment id=c@1, realm=x'], refuses('comma')],
  ['brackets', ['Payment id=[c1]'], refuses('malformed')],
  ['a JSON object in place of parameters', ['Payment {"id":"c1"}'], refuses('comma')],
  ['a base64 text in place of parameters', [`Payment ${encoded(valid)}`], refuses('id is missing')],
  ['the older form with one parameter challenge', [`Payment challenge="${encoded(valid)}"`], refuses('id is missing')],
  ['the scheme alone', ['Payment'], refuses('id is missing')],
  ['the scheme and a space', ['Payment '], refuses('id is missing')],
  ['the scheme and a comma', ['Payment,'], refuses('id is missing')],
  ['a header without content', [''], 'none'],
  ['no header', [], 'none'],
  ['spaces only', ['   '], 'none'],
  ['quotes only', ['"""'], 'none'],
  ['parameters before any scheme', [`id="c1", realm="x", ${payment({ id: 'c2' })}`], pays('c2')],
  ['a value that begins with a quote and no scheme', [`"x", ${payment()}`], pays()],
  ['an equals sign first', [`=x, ${payment()}`], pays()],
  ['10,000 quotes and backslashes', [`Payment ${'"\\'.repeat(10_000)}`], refuses('comma')],
  ['10,000 open quotes', [`Payment ${'a="'.repeat(10_000)}`], refuses('')],
  ['10,000 names without values', [`Payment ${'a '.repeat(10_000)}`], refuses('has no value')],
  ['10,000 commas', [','.repeat(10_000)], 'none'],
  ['10,000 spaces within a parameter', [`Payment id${' '.repeat(10_000)}="c1"`], refuses('realm is missing')],
  ['1,000 schemes', [list(...Array.from({ length: 1_000 }, () => 'Bearer realm=x'), payment())], pays()],
];

const parameters: readonly HeaderCase[] = [
  ...(['id', 'realm', 'method', 'intent', 'request'] as const).flatMap((name): HeaderCase[] => [
    [`${name} is required`, [payment({ [name]: undefined })], refuses(`${name} is missing`)],
    [`${name} must not be empty`, [payment({ [name]: '' })], refuses(`${name} is missing`)],
  ]),
  ['an id of 512 characters', [payment({ id: 'x'.repeat(512) })], pays('x'.repeat(512))],
  ['a challenge of 4 KiB must be handled', [payment({ opaque: 'x'.repeat(4_096) })], pays()],
  ['a challenge of 15 KiB', [payment({ opaque: 'x'.repeat(13_000) })], pays()],
  ['a challenge of 64 KiB', [payment({ opaque: 'x'.repeat(65_536) })], refuses('longer than')],
  ['a description of 64 KiB', [payment({ description: 'x'.repeat(65_536) })], refuses('longer than')],
  [
    'a challenge that is too long spoils no other',
    [list(payment({ opaque: 'x'.repeat(65_536) }), payment({ id: 'c2' }))],
    pays('c2'),
  ],
  ['method in upper case: values are case-sensitive', [payment({ method: 'CARD' })], refuses('CARD/charge')],
  ['intent in upper case', [payment({ intent: 'Charge' })], refuses('card/Charge')],
  ['an intent that Bursar does not know', [payment({ intent: 'session' })], refuses('card/session')],
  ...['tempo', 'evm', 'solana', 'lightning', 'stripe', 'x402'].map(
    (method): HeaderCase => [`the method ${method} is not paid`, [payment({ method })], refuses(`${method}/charge`)],
  ),
  ['header for the credential', [payment({ header: 'Payment-Authorization' })], pays()],
  ['header in another spelling', [payment({ header: 'payment-authorization' })], refuses('header')],
  ['header Authorization must not be named', [payment({ header: 'Authorization' })], refuses('header')],
  ['header that would send the credential elsewhere', [payment({ header: 'Cookie' })], refuses('header')],
  ['an empty header', [payment({ header: '' })], refuses('header')],
  [
    'an unknown header spoils its own challenge only',
    [list(payment({ header: 'Cookie' }), payment({ id: 'c2' }))],
    pays('c2'),
  ],
  ['expires in the future', [payment({ expires: inFuture })], pays()],
  ['expires with an offset', [payment({ expires: '2026-11-21T13:00:01+01:00' })], pays()],
  ['expires with fractions', [payment({ expires: '2026-11-21T12:00:00.001Z' })], pays()],
  ['expires in lower case letters', [payment({ expires: '2030-01-01t00:00:00z' })], pays()],
  ['expires far away', [payment({ expires: '9999-12-31T23:59:59Z' })], pays()],
  ['expires now', [payment({ expires: '2026-11-21T12:00:00Z' })], refuses('expired at')],
  [
    'expires with an offset that lies in the past',
    [payment({ expires: '2026-11-21T12:30:00+01:00' })],
    refuses('expired at'),
  ],
  ['expired yesterday', [payment({ expires: '2026-11-20T12:00:00Z' })], refuses('expired at')],
  [
    'an expired challenge before a valid one',
    [list(payment({ expires: '2020-01-01T00:00:00Z' }), payment({ id: 'c2' }))],
    pays('c2'),
  ],
  ['expires without a time', [payment({ expires: '2030-01-01' })], refuses('RFC 3339')],
  ['expires without a zone', [payment({ expires: '2030-01-01T00:00:00' })], refuses('RFC 3339')],
  ['expires as a number', [payment({ expires: '1893456000' })], refuses('RFC 3339')],
  ['expires as an HTTP date', [payment({ expires: 'Tue, 01 Jan 2030 00:00:00 GMT' })], refuses('RFC 3339')],
  ['expires on a day that does not exist', [payment({ expires: '2030-02-30T00:00:00Z' })], refuses('RFC 3339')],
  ['expires empty', [payment({ expires: '' })], refuses('RFC 3339')],
  [
    'a digest is compared later',
    [payment({ digest: 'sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:' })],
    pays(),
  ],
  ['opaque is returned as it is', [payment({ opaque: 'eyJvcmRlciI6IjEifQ' })], pays()],
];

const requests: readonly HeaderCase[] = [
  ['request that is not base64url', [payment({ request: 'a+b/' })], refuses('base64url')],
  [
    'request with padding',
    [payment({ request: `${Buffer.from(JSON.stringify(charge)).toString('base64url')}=` })],
    refuses('base64url'),
  ],
  ['request that is not JSON', [payment({ request: Buffer.from('{').toString('base64url') })], refuses('base64url')],
  [
    'request in invalid UTF-8',
    [payment({ request: Buffer.from([0x22, 0xff, 0x22]).toString('base64url') })],
    refuses('base64url'),
  ],
  ['request as a list', [payment({ request: encoded([charge]) })], refuses('no valid form')],
  ['request as null', [payment({ request: encoded(null) })], refuses('no valid form')],
  ['request as a text', [payment({ request: encoded('x') })], refuses('no valid form')],
  ['an empty object', [payment({ request: encoded({}) })], refuses('no valid amount')],
  ['unknown members are ignored', [payment({ request: request({ extra: { deep: [1] } }) })], pays()],
  [
    'a prototype in the request',
    [
      payment({
        request: Buffer.from(JSON.stringify(charge).replace('{', '{"__proto__":{"amount":"1"},')).toString('base64url'),
      }),
    ],
    pays(),
  ],
  ['amount as a number', [payment({ request: request({ amount: 499 }) })], refuses('amount')],
  ['amount with decimals', [payment({ request: request({ amount: '4.99' }) })], refuses('whole number')],
  ['amount below zero', [payment({ request: request({ amount: '-499' }) })], refuses('whole number')],
  ['amount with a plus sign', [payment({ request: request({ amount: '+499' }) })], refuses('whole number')],
  ['amount with leading zeros', [payment({ request: request({ amount: '0499' }) })], refuses('whole number')],
  ['amount in exponent form', [payment({ request: request({ amount: '1e3' }) })], refuses('whole number')],
  ['amount in hexadecimal', [payment({ request: request({ amount: '0x1f' }) })], refuses('whole number')],
  ['amount with spaces', [payment({ request: request({ amount: ' 499' }) })], refuses('whole number')],
  ['amount with a line feed at its end', [payment({ request: request({ amount: '499\n' }) })], refuses('whole number')],
  ['amount in other digits', [payment({ request: request({ amount: '٤٩٩' }) })], refuses('whole number')],
  ['amount empty', [payment({ request: request({ amount: '' }) })], refuses('whole number')],
  ['amount zero', [payment({ request: request({ amount: '0' }) })], refuses('zero')],
  [
    'an amount that no number holds exactly',
    [payment({ request: request({ amount: '9007199254740993' }) })],
    refuses('whole number'),
  ],
  ['an amount of 100 digits', [payment({ request: request({ amount: '9'.repeat(100) }) })], refuses('whole number')],
  ['amount missing', [payment({ request: request({ amount: undefined }) })], refuses('amount')],
  ['currency in upper case', [payment({ request: request({ currency: 'EUR' }) })], refuses('currency is EUR')],
  ['another currency', [payment({ request: request({ currency: 'usd' }) })], refuses('currency is usd')],
  ['a stablecoin as currency', [payment({ request: request({ currency: 'usdc' }) })], refuses('currency is usdc')],
  ['currency missing', [payment({ request: request({ currency: undefined }) })], refuses('currency')],
  [
    'a long currency is cut in the reason',
    [payment({ request: request({ currency: 'x'.repeat(500) }) })],
    refuses(`currency is ${'x'.repeat(12)};`),
  ],
  ['a recipient', [payment({ request: request({ recipient: 'merch_1' }) })], pays()],
  ['a recipient that is no text', [payment({ request: request({ recipient: 7 }) })], refuses('recipient')],
  ['an external id', [payment({ request: request({ externalId: 'order_1' }) })], pays()],
  ['methodDetails missing', [payment({ request: request({ methodDetails: undefined }) })], refuses('methodDetails')],
  ['no card networks', [payment({ request: withDetails({ acceptedNetworks: [] }) })], refuses('no card network')],
  [
    'only unknown card networks',
    [payment({ request: withDetails({ acceptedNetworks: ['jcb', 'diners'] }) })],
    refuses('no card network'),
  ],
  [
    'an unknown network beside a known one',
    [payment({ request: withDetails({ acceptedNetworks: ['jcb', 'visa'] }) })],
    pays(),
  ],
  [
    'networks in upper case',
    [payment({ request: withDetails({ acceptedNetworks: ['VISA'] }) })],
    refuses('no card network'),
  ],
  [
    'networks as a text',
    [payment({ request: withDetails({ acceptedNetworks: 'visa' }) })],
    refuses('acceptedNetworks'),
  ],
  [
    'a thousand networks',
    [payment({ request: withDetails({ acceptedNetworks: Array.from({ length: 1_000 }, () => 'visa') }) })],
    refuses('acceptedNetworks'),
  ],
  ['merchant name missing', [payment({ request: withDetails({ merchantName: undefined }) })], refuses('merchantName')],
  ['both key sources', [payment({ request: withDetails({ jwksUri: 'https://shop.example/jwks' }) })], refuses('both')],
  ['no key source', [payment({ request: withDetails({ encryptionJwk: undefined }) })], refuses('neither')],
  ['a kid beside the embedded key', [payment({ request: withDetails({ kid: 'key-1' }) })], refuses('kid beside')],
  [
    'a published key',
    [payment({ request: withDetails({ encryptionJwk: undefined, jwksUri: 'https://shop.example/jwks', kid: 'k' }) })],
    pays(),
  ],
  [
    'a published key without kid',
    [payment({ request: withDetails({ encryptionJwk: undefined, jwksUri: 'https://shop.example/jwks' }) })],
    refuses('without kid'),
  ],
  ['a key that is no object', [payment({ request: withDetails({ encryptionJwk: 'key' }) })], refuses('encryptionJwk')],
  ['a billing address is wanted', [payment({ request: withDetails({ billingRequired: true }) })], pays()],
  [
    'billingRequired that is no boolean',
    [payment({ request: withDetails({ billingRequired: 'yes' }) })],
    refuses('billingRequired'),
  ],
  [
    'a bad request spoils its own challenge only',
    [list(payment({ request: 'e30' }), payment({ id: 'c2' }))],
    pays('c2'),
  ],
  [
    'two offers: the dearer first is the one of the merchant’s choice',
    [list(payment({ id: 'dear', request: request({ amount: '99900' }) }), payment())],
    pays('dear'),
  ],
];

export const headerCases: readonly HeaderCase[] = [...lists, ...decoys, ...faults, ...parameters, ...requests];
