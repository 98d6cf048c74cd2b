/** Public discovery and verification as published. Wire shapes only. @module */
import * as z from 'zod';
import { defineArea } from '../../../http/route.ts';
import { id, text } from '../../../http/schemas.ts';
import { keySetCacheSeconds } from './signing-key.rules.ts';
import { refusedTokenReasons, tokenTypes } from './token.rules.ts';

const word = (description: string, example: string) => z.string().meta({ description, examples: [example] });

const jwk = z
  .strictObject({
    kty: z.literal('OKP').meta({ description: 'The kind of key.' }),
    crv: z.literal('Ed25519').meta({ description: 'The curve.' }),
    x: word('The public key, base64url.', '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo'),
    kid: word('The name of the key: its thumbprint (RFC 7638).', 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k'),
    use: z.literal('sig').meta({ description: 'What the key is for.' }),
    alg: z.literal('EdDSA').optional().meta({
      description:
        'The JOSE algorithm of its signatures. Absent from an agent’s key, which signs HTTP requests (RFC 9421, `ed25519`).',
    }),
  })
  .meta({ id: 'SigningJwk', description: 'A public key (RFC 8037).' });

const keySet = z
  .strictObject({ keys: z.array(jwk).meta({ description: 'The keys, newest first.' }) })
  .meta({ id: 'JwkSet', description: 'A set of public keys (RFC 7517).' });

const discovery = z
  .strictObject({
    name: word('The name of the service.', 'Bursar'),
    version: word('The version of the interface.', '0.5.0'),
    issuer: word('The `iss` of receipts and tokens.', 'https://pay.example'),
    jwksUri: word('Where the service’s public keys are.', 'https://pay.example/.well-known/jwks.json'),
    apiBase: word('The base of every path.', 'https://pay.example'),
    paymentSchemes: z
      .array(z.string())
      .meta({ description: 'Schemes of HTTP 402 that are accepted or answered.', examples: [['Payment']] }),
    mpp: z
      .strictObject({
        alg: word('How the key of a credential is encrypted.', 'RSA-OAEP-256'),
        enc: word('How a credential is encrypted.', 'A256GCM'),
      })
      .meta({ description: 'The encryption of credentials of machine payments.' }),
    webhookSignature: z
      .strictObject({
        header: word('The header with the signature.', 'X-Service-Signature'),
        algorithm: word('The algorithm.', 'HMAC-SHA256'),
        format: word('The form of the header.', 'sha256=<hex>'),
        signedMessage: word('What is signed.', '<delivery id>.<timestamp>.<raw body>'),
      })
      .meta({ description: 'How webhook deliveries are signed.' }),
    dataResidency: z.literal('EU').meta({ description: 'Where all data is kept.' }),
  })
  .meta({ id: 'AgentPaymentsDiscovery', description: 'What a merchant or an agent must know to begin.' });

const seconds = (description: string) => z.int().meta({ description, examples: [1_795_000_000] });

const publicPayload = z
  .strictObject({
    iss: word('The service that signed.', 'https://pay.example').optional(),
    iat: seconds('When it was signed, in seconds since 1970.').optional(),
    exp: seconds('When it expires, in seconds since 1970.').optional(),
    jti: word('The credential or the payment token.', 'mppc_01kc1v9m3se7ttw5v1x0h2q8ab').optional(),
    status: word('Of a receipt: always `success`.', 'success').optional(),
    method: word('Of a receipt: how it was paid.', 'card').optional(),
    reference: word('Of a receipt: the transaction.', 'tx_01kc1v9m3se7ttw5v1x0h2q8ab').optional(),
    challengeId: word('Of a receipt: the challenge that was answered.', 'ch_4711').optional(),
    timestamp: word('Of a receipt: when the payment was settled.', '2026-11-20T12:00:00.000Z').optional(),
    amount: word('The amount in cents.', '499').optional(),
    currency: word('The currency, in lower case.', 'eur').optional(),
    merchantId: word('Of a receipt: the registered merchant.', 'mer_01kc1v9m3se7ttw5v1x0h2q8ab').optional(),
  })
  .meta({ id: 'PublicTokenPayload', description: 'The claims that everyone may read.' });

const verification = z
  .strictObject({
    valid: z.boolean().meta({ description: 'Whether the service signed it and it has not expired.', examples: [true] }),
    type: z
      .enum(tokenTypes)
      .nullable()
      .meta({ description: 'What the token is by its header; null for another type.', examples: ['receipt'] }),
    payload: publicPayload.nullable().meta({ description: 'Its public claims; null unless it is valid.' }),
    reason: z
      .enum(refusedTokenReasons)
      .nullable()
      .meta({ description: 'Why it is not valid; null when it is valid.', examples: [null] }),
    detail: z
      .string()
      .nullable()
      .meta({ description: 'The same as one sentence for people; null when it is valid.', examples: [null] }),
  })
  .meta({ id: 'TokenVerification', description: 'What the verification of a token found.' });
export type TokenVerificationWire = z.infer<typeof verification>;

export const wellKnownArea = defineArea({
  tag: 'Well-Known',
  base: '/.well-known',
  aliases: [],
  description: 'Public keys, discovery and verification, without credentials.',
  operations: {
    getJwks: {
      method: 'get',
      path: '/jwks.json',
      summary: 'The public keys of the service',
      description:
        'Of ledger checkpoints and, with a separate key, of receipts and payment tokens. A new key is published ten minutes before it signs, and former keys stay, unless they were revoked.',
      auth: ['public'],
      cacheSeconds: keySetCacheSeconds,
      success: { status: 200, body: keySet },
      refusals: [],
    },
    getAgentPayments: {
      method: 'get',
      path: '/agent-payments.json',
      summary: 'The discovery document of agent payments',
      auth: ['public'],
      success: { status: 200, body: discovery },
      refusals: [],
    },
    getAgentJwks: {
      method: 'get',
      path: '/agents/{agentId}/jwks.json',
      summary: 'The public keys of an agent',
      description:
        'The set is empty until the agent signs something for the first time. After a rotation the former key stays for the overlap.',
      auth: ['public'],
      ownerless: true,
      params: z.strictObject({ agentId: id('agent', { elsewhere: 'a public key is everybody’s' }) }),
      success: { status: 200, body: keySet },
      refusals: ['not_found'],
    },
    verifyToken: {
      method: 'post',
      path: '/verify',
      summary: 'Verify a receipt or a payment token',
      description: 'Compares signature and expiry only: a payment token may have been used.',
      auth: ['public'],
      body: z
        .strictObject({
          token: text(8_192).meta({ description: 'The compact JWS.', examples: ['eyJhbGciOiJFZERTQSJ9.e30.AAAA'] }),
        })
        .meta({ id: 'VerifyToken' }),
      success: { status: 200, body: verification },
      refusals: [],
      pure: true,
    },
  },
});
