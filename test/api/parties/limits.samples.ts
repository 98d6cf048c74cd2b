/** Sample calls of owners' limits, for the suites that cover all operations. @module */
import { limitsArea } from '../../../src/domains/parties/limits/limit.contract.ts';
import { samplesOf } from '../../support/samples.ts';

export const samples = samplesOf(limitsArea, {
  ids: { name: 'public' },
  calls: ({ owner }) => ({
    listLimits: () => ({}),
    updateLimit: () => ({
      as: 'dashboard',
      path: { name: 'wallets' },
      body: { limit: 150 },
      headers: { 'X-Owner-Id': owner.ownerId },
    }),
  }),
});
