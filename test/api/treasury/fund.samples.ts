/** Sample calls and records of top-ups, for the suites that cover all operations. @module */
import { fundArea } from '../../../src/domains/treasury/funding/funding.contract.ts';
import { theRecords } from '../../support/factories/records.ts';
import { type Sampler, samplesOf } from '../../support/samples.ts';

const theFunding = async (one: Sampler): Promise<string> => (await one.the(theRecords)).fundingId;

export const samples = samplesOf(fundArea, {
  ids: { id: theFunding },
  calls: (one) => ({
    fundWallet: () => ({ body: { amountEuros: 1 } }),
    getFunding: async () => ({ path: { id: await one.the(theFunding) } }),
  }),
});
