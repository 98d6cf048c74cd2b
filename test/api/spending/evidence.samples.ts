/** Sample calls and records of evidence, for the suites that cover all operations. @module */
import { evidenceArea } from '../../../src/domains/spending/evidence/evidence.contract.ts';
import { theRecords } from '../../support/factories/records.ts';
import { type Sampler, samplesOf } from '../../support/samples.ts';
import { theIntent } from './intents.samples.ts';

const theEvidence = async (one: Sampler): Promise<string> => (await one.the(theRecords)).evidenceId;

export const samples = samplesOf(evidenceArea, {
  ids: { id: theEvidence, intentId: theIntent },
  calls: (one) => ({
    createEvidence: async () => ({ body: { intentId: await one.the(theIntent), type: 'receipt', amountEuros: 80 } }),
    listEvidence: async () => ({ query: `intentId=${await one.the(theIntent)}` }),
    getEvidence: async () => ({ path: { id: await one.the(theEvidence) } }),
    deleteEvidence: async () => {
      const { id } = await one.client(evidenceArea).createEvidence({ body: { intentId: await one.the(theIntent) } });
      return { path: { id } };
    },
  }),
});
