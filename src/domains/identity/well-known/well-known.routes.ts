/** Answers public discovery and verification. No decision is made here. @module */
import type { Database } from '../../../db/database.ts';
import type { Handlers } from '../../../http/route.ts';
import { serviceJwks } from './signing-key.queries.ts';
import { type IsOpenAgent, publishedJwksOf } from './signing-key.service.ts';
import { readToken } from './token.service.ts';
import { verificationWire } from './token.wire.ts';
import type { wellKnownArea } from './well-known.contract.ts';

export type WellKnownDeps = {
  readonly database: Database;
  readonly publicUrl: string;
  readonly version: string;
  /** The schemes of HTTP 402 that this deployment answers or accepts. */
  readonly paymentSchemes: readonly string[];
  readonly isOpenAgent: IsOpenAgent;
};

export const wellKnownHandlers = ({
  database,
  publicUrl,
  version,
  paymentSchemes,
  isOpenAgent,
}: WellKnownDeps): Handlers<typeof wellKnownArea> => ({
  getJwks: async () => ({ keys: await serviceJwks(database.read()) }),

  getAgentPayments: async () => ({
    name: 'Bursar',
    version,
    issuer: publicUrl,
    jwksUri: `${publicUrl}/.well-known/jwks.json`,
    apiBase: publicUrl,
    paymentSchemes: [...paymentSchemes],
    mpp: { alg: 'RSA-OAEP-256', enc: 'A256GCM' },
    webhookSignature: {
      header: 'X-Service-Signature',
      algorithm: 'HMAC-SHA256',
      format: 'sha256=<hex>',
      signedMessage: '<X-Service-Delivery-Id>.<X-Service-Timestamp>.<raw body>',
    },
    dataResidency: 'EU',
  }),

  getAgentJwks: async ({ params: { agentId } }) => ({
    keys: await publishedJwksOf(database.read(), agentId, isOpenAgent),
  }),

  verifyToken: async ({ body: { token } }) => verificationWire(await readToken(database.read(), token)),
});
