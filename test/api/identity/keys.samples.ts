/** Sample calls of API keys, for the suites that cover all operations. @module */
import { keysArea } from '../../../src/domains/identity/keys/key.contract.ts';
import { type Sampler, samplesOf } from '../../support/samples.ts';

const freshKey = async (one: Sampler): Promise<string> => (await one.client(keysArea).createKey({ body: {} })).id;

export const samples = samplesOf(keysArea, {
  ids: { id: freshKey, ownerId: 'public' },
  calls: (one) => ({
    createKey: () => ({ body: { label: 'second' } }),
    listKeys: () => ({}),
    revokeKeyByDelete: async () => ({ path: { id: await freshKey(one) } }),
    revokeKey: async () => ({ path: { id: await freshKey(one) } }),
  }),
});
