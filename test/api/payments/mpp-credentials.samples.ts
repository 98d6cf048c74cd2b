/** Sample calls and records of MPP credentials, for the suites that cover all operations. @module */
import { merchantsArea } from '../../../src/domains/merchants/merchants/merchant.contract.ts';
import { mppCredentialsArea } from '../../../src/domains/payments/mpp-credentials/mpp-credential.contract.ts';
import { intentsArea } from '../../../src/domains/spending/intents/intent.contract.ts';
import { theMerchant } from '../../support/factories/merchants.ts';
import { challengeHeader, readChallengeHeader } from '../../support/payment-challenges.ts';
import { type Sampler, samplesOf } from '../../support/samples.ts';
import { freshIntent, theIntent } from '../spending/intents.samples.ts';

type Minting = { readonly amountCents?: number; readonly keySource?: Readonly<Record<string, unknown>> };

/** A challenge for a fresh intent of its amount. */
async function aRequest(one: Sampler, { amountCents = 500, ...challenge }: Minting = {}) {
  const intentId = await freshIntent(one, amountCents / 100);
  const { cardId } = await one.client(intentsArea).getIntent({ params: { id: intentId } });
  if (cardId === null) throw new Error('the intent has no card');
  return {
    challenge: challengeHeader({ amountCents, recipient: 'Sandbox-Shop', ...challenge }),
    intentId,
    cardId,
  };
}

const theCredential = (one: Sampler): Promise<string> => one.the(newCredential);

async function newCredential(one: Sampler): Promise<string> {
  return (await one.client(mppCredentialsArea).mintMppCredential({ body: await aRequest(one) })).id;
}

/** Minted for a registered merchant. */
async function merchantsCredential(one: Sampler) {
  const { id: merchantId, merchant_secret_key: key } = await one.the(theMerchant);
  const { encryptionJwk } = await one.client(merchantsArea).getMerchant({ params: { id: merchantId } });
  // The amount of the document's example.
  const body = await aRequest(one, { amountCents: 1_250, keySource: { encryptionJwk } });
  const { id } = await one.client(mppCredentialsArea).mintMppCredential({ body });
  const expected = { expectedPayee: 'Sandbox-Shop' };
  const asked = { as: 'nobody', headers: { 'X-Merchant-Key': key }, body: expected } as const;
  return { id, challenge: body.challenge, asked };
}

export const samples = samplesOf(mppCredentialsArea, {
  ids: { id: theCredential, intentId: theIntent, challengeId: 'public' },
  calls: (one) => ({
    mintMppCredential: async () => ({ body: await aRequest(one) }),
    listMppCredentials: async () => {
      await theCredential(one);
      return {};
    },
    getMppCredential: async () => ({ path: { id: await theCredential(one) } }),
    consumeMppCredential: async () => {
      const { id, asked } = await merchantsCredential(one);
      return { path: { id }, ...asked };
    },
    consumeMppCredentialByChallenge: async () => {
      const { challenge, asked } = await merchantsCredential(one);
      return { path: { challengeId: readChallengeHeader(challenge).challenge.id }, ...asked };
    },
  }),
  // Another process may find the row and mint before the API answers.
  mayOutliveTemporal: ['mintMppCredential'],
});
