/** Sample calls of public discovery, for the suites that cover all operations. @module */
import { wellKnownArea } from '../../../src/domains/identity/well-known/well-known.contract.ts';
import { samplesOf } from '../../support/samples.ts';
import { theAgent } from '../parties/agents.samples.ts';

export const samples = samplesOf(wellKnownArea, {
  ids: { agentId: theAgent },
  calls: (one) => ({
    getJwks: () => ({ as: 'nobody' }),
    getAgentPayments: () => ({ as: 'nobody' }),
    getAgentJwks: async () => ({ as: 'nobody', path: { agentId: await one.the(theAgent) } }),
    verifyToken: () => ({ as: 'nobody', body: { token: 'eyJhbGciOiJFZERTQSJ9.e30.AAAA' } }),
  }),
  needsNothing: ['getAgentPayments'],
});
