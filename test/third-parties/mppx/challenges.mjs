/** Random challenges, made and written by mppx, with the values that a reader must find. @module */
import { Challenge } from 'mppx';

/** mulberry32: the same numbers for the same seed. */
function randomOf(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

/** What makes parsers fail: quotes, backslashes, commas, what looks like a parameter or a challenge, and all of Unicode. */
const pieces = [
  ...['a', 'Z', '0', ' ', '\t', ',', ', ', '=', ';', ':', '/', '"', '\\', '\\"', "'", '|', '%', '%22', '\\u0041'],
  ...[
    'Payment id="x"',
    ', Payment id="fake", method="card"',
    'Bearer realm="r"',
    'é',
    'Ü',
    'ß',
    'ÿ',
    '€',
    '–',
    '“',
    '你',
  ],
  ...['😀', '\u2028', '{}', '[]', 'null', '__proto__', '+', '~', '@'],
];

export function makeChallenges({ seed, count, secretKey }) {
  const random = randomOf(seed);
  const pick = (values) => values[random(values.length)];
  const phrase = (most) => Array.from({ length: random(most + 1) }, () => pick(pieces)).join('');
  const ascii = (most) => phrase(most).replace(/[^ -~]/g, '') || 'x';
  const maybe = (value) => (random(2) === 0 ? {} : value());
  return Array.from({ length: count }, () => {
    const challenge = Challenge.from({
      secretKey,
      realm: pick(['api.shop.example', 'shop.example:8443', ascii(4)]),
      method: 'card',
      intent: 'charge',
      request: {
        methodDetails: {
          merchantName: phrase(6),
          encryptionJwk: { use: 'enc', kty: 'RSA', kid: phrase(2), e: 'AQAB', alg: 'RSA-OAEP-256', n: phrase(3) },
          acceptedNetworks: ['visa', 'mastercard'].slice(random(2)),
          ...maybe(() => ({ billingRequired: random(2) === 0 })),
        },
        currency: 'eur',
        amount: String(1 + random(1_000_000)),
        ...maybe(() => ({ recipient: phrase(4) })),
        ...maybe(() => ({ externalId: phrase(4) })),
        // Members that no draft knows, of each type of JSON.
        ...maybe(() => ({
          [`z${random(9)}`]: pick([1e21, 0.1, -0, 1e-7, 123456789012, true, null, [1, 'é'], { b: 1, a: 2 }]),
        })),
      },
      ...maybe(() => ({ expires: new Date(Date.now() + 60_000 + random(1e7)).toISOString() })),
      ...maybe(() => ({ description: phrase(8) || 'd' })),
      ...maybe(() => ({ digest: 'sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:' })),
      ...maybe(() => ({ meta: { b: phrase(3), a: phrase(3), é: '1' } })),
      ...maybe(() => ({ header: 'Payment-Authorization' })),
    });
    return { header: Challenge.serialize(challenge), challenge };
  });
}
