/** Sample calls and records of the merchant registry, for the suites that cover all operations. @module */
import { merchantsArea } from '../../../src/domains/merchants/merchants/merchant.contract.ts';
import {
  aKeyPair,
  anEncryptionKey,
  aRegistration,
  proofOf,
  registeredMerchant,
  theMerchant,
  unprovenMerchant,
} from '../../support/factories/merchants.ts';
import { type Sampler, samplesOf } from '../../support/samples.ts';

const theMerchantId = async (one: Sampler): Promise<string> => (await one.the(theMerchant)).id;

export const samples = samplesOf(merchantsArea, {
  ids: { id: theMerchantId },
  calls: (one) => ({
    createMerchant: () => ({ body: aRegistration() }),
    rotateMerchantKey: async () => ({ path: { id: (await registeredMerchant(one.owner)).id }, body: {} }),
    createMerchantEncryptionKey: async () => ({
      path: { id: await theMerchantId(one) },
      body: { encryptionJwk: anEncryptionKey() },
    }),
    activateMerchantEncryptionKey: async () => {
      const { jwk, privateKey } = aKeyPair();
      const { id, key_challenge: challenge } = await unprovenMerchant(one.owner, { encryptionJwk: jwk });
      return { path: { id }, body: { proof: await proofOf(challenge, privateKey) } };
    },
    getMerchant: async () => ({ path: { id: await theMerchantId(one) } }),
  }),
});
