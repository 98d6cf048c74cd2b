/** Sample call of the operation on payment challenges, for the suites that cover all operations. @module */
import { mppChallengesArea } from '../../../src/domains/payments/mpp-challenges/mpp-challenge.contract.ts';
import { challengeHeader } from '../../support/payment-challenges.ts';
import { samplesOf } from '../../support/samples.ts';
import { freshAgent } from '../parties/agents.samples.ts';

export const samples = samplesOf(mppChallengesArea, {
  ids: {},
  calls: (one) => ({
    handlePaymentChallenge: async () => ({
      body: {
        agentId: await freshAgent(one),
        challenge: challengeHeader({ amountCents: 500 }),
        url: 'https://shop.example/reports/7',
      },
    }),
  }),
});
