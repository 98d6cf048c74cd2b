/** Sample calls and records of beneficiaries, for the suites that cover all operations. @module */
import { beneficiariesArea } from '../../../src/domains/treasury/beneficiaries/beneficiary.contract.ts';
import { aBeneficiary, anIban } from '../../support/factories/beneficiaries.ts';
import { type Sampler, samplesOf } from '../../support/samples.ts';

const newBeneficiary = async (one: Sampler): Promise<string> =>
  (await aBeneficiary(one.owner, { agentsMayPay: true })).id;
export const theBeneficiary = (one: Sampler): Promise<string> => one.the(newBeneficiary);

const twoBeneficiaries = async (one: Sampler): Promise<void> => {
  await theBeneficiary(one);
  await newBeneficiary(one);
};

/** The world of the samples has no sanctions list, so the match is written behind the API. */
async function matched(one: Sampler): Promise<string> {
  const id = await newBeneficiary(one);
  const match = { reference: 'EU.1234.56', name: 'Erika Muster', scorePercent: 97 };
  await one.world.sql(`update beneficiaries set screening_result = 'hit', matches = $2 where id = $1`, [
    id,
    JSON.stringify([match]),
  ]);
  return id;
}

export const samples = samplesOf(beneficiariesArea, {
  ids: { id: theBeneficiary },
  calls: (one) => ({
    createBeneficiary: () => ({
      body: {
        name: 'Müller & Söhne GmbH',
        iban: anIban(),
        bic: 'COBADEFFXXX',
        country: 'AT',
        email: 'billing@payee.example',
        agentsMayPay: true,
      },
    }),
    listBeneficiaries: async () => {
      await one.the(twoBeneficiaries);
      return {};
    },
    getBeneficiary: async () => ({ path: { id: await theBeneficiary(one) } }),
    updateBeneficiary: async () => ({ path: { id: await newBeneficiary(one) }, body: { name: 'Keller KG' } }),
    deleteBeneficiary: async () => ({ path: { id: await newBeneficiary(one) } }),
    dismissBeneficiaryMatch: async () => ({
      as: 'dashboard',
      path: { id: await matched(one) },
      headers: { 'X-Owner-Id': one.owner.ownerId },
      body: { reference: 'EU.1234.56', reason: 'another date of birth' },
    }),
  }),
  actsTwice: { dismissBeneficiaryMatch: 'each use of the dashboard’s secret is audited; the match is dismissed once' },
  // A beneficiary belongs to the owner. Every agent may read those that agents may pay.
  sharedBySiblings: ['getBeneficiary'],
});
