/** The merchant registry as published. Wire shapes only. @module */
import * as z from 'zod';
import { defineArea } from '../../../http/route.ts';
import { id, idOut, instantOut, text } from '../../../http/schemas.ts';
import { encryptionKeyStatuses, merchantStatuses } from './merchant.rules.ts';

/** Of the key in appendix A.1 of RFC 7517. */
const exampleModulus =
  '0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw';

const slug = z.string().meta({
  description: 'The merchant’s name in addresses and rules: lower case, made from its name, and no other merchant’s.',
  examples: ['acme-books'],
});

const publicKey = z
  .strictObject({
    kty: z.literal('RSA').meta({ description: 'The kind of key.' }),
    n: z.string().meta({ description: 'The modulus, base64url.', examples: [exampleModulus] }),
    e: z.string().meta({ description: 'The exponent, base64url.', examples: ['AQAB'] }),
    alg: z.literal('RSA-OAEP-256').meta({ description: 'How keys are encrypted for it.' }),
    use: z.literal('enc').meta({ description: 'What the key is for.' }),
    kid: z.string().meta({ description: 'The merchant’s name for the key.', examples: ['enc-1'] }),
  })
  .meta({ id: 'MerchantEncryptionKey', description: 'The public key for which credentials are encrypted (RFC 7517).' });

const encryptionKey = z
  .strictObject({
    thumbprint: z.string().meta({
      description: 'The thumbprint of the key (RFC 7638).',
      examples: ['NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs'],
    }),
    jwk: publicKey,
    status: z.enum(encryptionKeyStatuses).meta({
      description:
        '`unproven`: the merchant has not decrypted its challenge, and the key counts for nothing; `active`: in force; `replaced`: challenges with it are answered until `validUntil`; `ended`: they are refused.',
      examples: ['active'],
    }),
    validUntil: instantOut.nullable().meta({
      description: 'Until when a replaced key counts, in real time; null for one that was not replaced.',
    }),
  })
  .meta({ id: 'RegisteredEncryptionKey', description: 'An encryption key of a merchant, and whether it counts.' });

const keyChallenge = z.string().meta({
  description:
    'Encrypted for the registered key, as credentials are: a compact JWE. Its decrypted content is the `proof` that puts the key in force, within an hour.',
  examples: ['eyJhbGciOiJSU0EtT0FFUC0yNTYi…'],
});

const overlapHours = z
  .int()
  .min(0)
  .max(168)
  .default(24)
  .meta({ description: 'How long the former key counts beside the new one, in real time.', examples: [24] });

const merchantOut = z
  .strictObject({
    id: idOut('merchant'),
    slug,
    name: z.string().meta({ description: 'The merchant’s name, as it was given.', examples: ['Acme Books'] }),
    encryptionJwk: publicKey.meta({ description: 'The key in force; before any is proven, the registered one.' }),
    encryptionKeys: z
      .array(encryptionKey)
      .meta({ description: 'All that were registered and not dropped unproven, newest first.' }),
    status: z.enum(merchantStatuses).meta({
      description: '`suspended`: the merchant’s key is not accepted.',
      examples: ['active'],
    }),
  })
  .meta({ id: 'Merchant', description: 'A merchant that accepts machine payments.' });
export type MerchantWire = z.infer<typeof merchantOut>;

const newMerchant = z
  .strictObject({
    id: idOut('merchant'),
    slug,
    merchant_secret_key: z.string().meta({
      description: 'The merchant’s key, for the header `X-Merchant-Key`; shown only here.',
      examples: ['mer_sk_…'],
    }),
    key_challenge: keyChallenge,
    warning: z.string().meta({
      description: 'What to do with the key.',
      examples: ['Store merchant_secret_key now: it is not shown again.'],
    }),
  })
  .meta({ id: 'NewMerchant', description: 'A registered merchant with its secret key, which is shown only once.' });

const encryptionJwkIn = z.record(z.string(), z.unknown()).meta({
  description:
    'Public RSA key as a JWK: at least 2048 bits, `alg` `RSA-OAEP-256`, `use` `enc`, with a `kid` and without private members.',
  examples: [{ kty: 'RSA', n: exampleModulus, e: 'AQAB', alg: 'RSA-OAEP-256', use: 'enc', kid: 'enc-1' }],
});

const creation = z
  .strictObject({
    inviteCode: z
      .string()
      .regex(/^[!-~]{8,64}$/, 'must be 8 to 64 printable characters without spaces')
      .meta({ description: 'The code that admits this registration; it admits one.', examples: ['invite-4711'] }),
    name: text(120).meta({ description: 'The merchant’s name.', examples: ['Acme Books'] }),
    encryptionJwk: encryptionJwkIn,
    webhookUrl: text(2_048)
      .optional()
      .meta({
        format: 'uri',
        description: 'A public address of the merchant, kept with its record; under the rules of webhook addresses.',
        examples: ['https://shop.example/hooks'],
      }),
  })
  .meta({ id: 'CreateMerchant' });
export type MerchantBody = z.output<typeof creation>;

const params = z.strictObject({ id: id('merchant') });

export const merchantsArea = defineArea({
  tag: 'Merchant Registry',
  base: '/v1/merchants',
  aliases: [],
  description:
    'Merchants that verify machine payments with Bursar. A registered merchant calls with the header `X-Merchant-Key`.',
  operations: {
    createMerchant: {
      method: 'post',
      path: '',
      summary: 'Register a merchant',
      description:
        'An invite code admits one registration, and an encryption key belongs to one merchant: the one that proves to hold it, by decrypting `key_challenge` and putting the key in force. Until then the registration counts for no credential. A registration that is repeated after its answer was lost makes the first secret key void.',
      auth: ['key', 'dashboard'],
      body: creation,
      success: { status: 201, body: newMerchant },
      refusals: ['invalid_state'],
      fires: ['merchant.registered'],
      secret: true,
    },
    getMerchant: {
      method: 'get',
      path: '/{id}',
      summary: 'Get a merchant of this owner',
      auth: ['key'],
      params,
      success: { status: 200, body: merchantOut },
      refusals: ['not_found'],
    },
    rotateMerchantKey: {
      method: 'post',
      path: '/{id}/rotate-key',
      summary: 'Rotate the secret key of a merchant',
      description:
        'The former key is accepted for the overlap; 0 makes it void at once. Keys of earlier rotations are void. A rotation that is repeated after its answer was lost makes the first new key void.',
      auth: ['key'],
      params,
      body: z.strictObject({ overlapHours }).meta({ id: 'RotateMerchantKey' }),
      success: {
        status: 200,
        body: z
          .strictObject({
            id: idOut('merchant'),
            merchant_secret_key: z
              .string()
              .meta({ description: 'The new key; shown only here.', examples: ['mer_sk_…'] }),
            former_until: instantOut.meta({ description: 'Until when the former key is accepted, in real time.' }),
          })
          .meta({ id: 'RotatedMerchantKey', description: 'A merchant with its new secret key, shown only once.' }),
      },
      refusals: ['not_found'],
      fires: ['merchant_key.rotated'],
      secret: true,
    },
    createMerchantEncryptionKey: {
      method: 'post',
      path: '/{id}/encryption-keys',
      summary: 'Register another encryption key of a merchant',
      description:
        'It counts for nothing until it is put in force with the proof, so nothing changes for credentials. A key that was registered before and not proven is dropped; the same key again gets another challenge.',
      auth: ['key'],
      params,
      body: z.strictObject({ encryptionJwk: encryptionJwkIn }).meta({ id: 'CreateMerchantEncryptionKey' }),
      success: {
        status: 201,
        body: z
          .strictObject({ id: idOut('merchant'), encryptionKey, key_challenge: keyChallenge })
          .meta({ id: 'NewMerchantEncryptionKey', description: 'A registered key, with the challenge to prove it.' }),
      },
      refusals: ['invalid_state', 'not_found'],
      fires: ['merchant_encryption_key.created'],
      sealed: true,
    },
    activateMerchantEncryptionKey: {
      method: 'post',
      path: '/{id}/encryption-keys/activate',
      summary: 'Put an encryption key in force',
      description:
        'With the decrypted challenge, which only the holder of the private half has. Challenges with the former key are answered for the overlap; 0 ends it at once. Repeating is 200 again. A former key is not put in force again.',
      auth: ['key'],
      params,
      body: z
        .strictObject({
          proof: text(2_048).meta({
            description: 'The decrypted content of `key_challenge`.',
            examples: ['eyJhbGciOiJkaXIi…'],
          }),
          overlapHours,
        })
        .meta({ id: 'ActivateMerchantEncryptionKey' }),
      success: { status: 200, body: merchantOut },
      refusals: ['invalid_state', 'not_found', 'gone'],
      fires: ['merchant_encryption_key.activated'],
    },
  },
});
