/** Answers the operations of the merchant registry: call the service, shape the answer. @module */
import type { Database } from '../../../db/database.ts';
import { inTransaction } from '../../../http/in-transaction.ts';
import type { Handlers } from '../../../http/route.ts';
import { hour } from '../../../kernel/instant.ts';
import type { Vault } from '../../../vault/vault.ts';
import type { AssertInvited } from './invite-codes.ts';
import type { merchantsArea } from './merchant.contract.ts';
import { type RegistrationRules, readKey, readRegistration, registerMerchant } from './merchant.service.ts';
import { encryptionKeyWire, merchantWire } from './merchant.wire.ts';
import { keyChallenge, provenThumbprint } from './merchant-key.challenge.ts';
import { keysOfMerchant } from './merchant-key.queries.ts';
import { activateEncryptionKey, lockMerchant, registerEncryptionKey } from './merchant-key.service.ts';
import { rotateMerchantSecret } from './merchant-secret.service.ts';

export type MerchantDeps = RegistrationRules & {
  readonly database: Database;
  readonly vault: Pick<Vault, 'seal' | 'open'>;
  readonly assertInvited: AssertInvited;
};

export const merchantHandlers = ({
  database,
  vault,
  assertInvited,
  ...rules
}: MerchantDeps): Handlers<typeof merchantsArea> => ({
  createMerchant: async ({ body: { encryptionJwk, ...body }, own: { ownerId } }, call) => {
    const jwk = readRegistration({ encryptionJwk, webhookUrl: body.webhookUrl }, rules);
    assertInvited(body.inviteCode, call.cause.sourceAddress ?? 'unknown');
    const wanted = { id: call.newId('merchant'), ownerId, body, encryptionJwk: jwk };
    const { row, key, secret } = await inTransaction({ database }, call, (tx, cause) =>
      registerMerchant(tx, wanted, cause),
    );
    return {
      id: row.id,
      slug: row.slug,
      merchant_secret_key: secret,
      key_challenge: await keyChallenge(vault, key, new Date()),
      warning: 'Store merchant_secret_key now: it is not shown again.',
    };
  },

  getMerchant: async ({ records: { merchant } }) =>
    merchantWire(merchant, await keysOfMerchant(database.read(), merchant.id), new Date()),

  rotateMerchantKey: async ({ params: { id }, body, own: { ownerId } }, call) => {
    const timing = { overlapMs: body.overlapHours * hour, now: new Date() };
    const { secret, formerUntil } = await inTransaction({ database }, call, async (tx, cause) =>
      rotateMerchantSecret(tx, await lockMerchant(tx, { id, ownerId }), timing, cause),
    );
    return { id, merchant_secret_key: secret, former_until: formerUntil.toISOString() };
  },

  createMerchantEncryptionKey: async ({ params: { id }, body, own: { ownerId } }, call) => {
    const jwk = readKey(body, rules);
    const key = await inTransaction({ database }, call, async (tx, cause) =>
      registerEncryptionKey(tx, await lockMerchant(tx, { id, ownerId }), jwk, cause),
    );
    const now = new Date();
    return { id, encryptionKey: encryptionKeyWire(key, now), key_challenge: await keyChallenge(vault, key, now) };
  },

  activateMerchantEncryptionKey: async ({ params: { id }, body, own: { ownerId } }, call) => {
    const now = new Date();
    const thumbprint = await provenThumbprint(vault, { merchantId: id, proof: body.proof }, now);
    const activation = { thumbprint, overlapMs: body.overlapHours * hour, now };
    return inTransaction({ database }, call, async (tx, cause) => {
      const merchant = await lockMerchant(tx, { id, ownerId });
      await activateEncryptionKey(tx, merchant, activation, cause);
      return merchantWire(merchant, await keysOfMerchant(tx, id), now);
    });
  },
});
