/** Sample calls of agents' tokens, for the suites that cover all operations. @module */
import { agentTokensArea } from '../../../src/domains/identity/agent-tokens/agent-token.contract.ts';
import { type Sampler, samplesOf } from '../../support/samples.ts';
import { theAgent } from '../parties/agents.samples.ts';

async function freshToken(one: Sampler): Promise<string> {
  const params = { id: await one.the(theAgent) };
  return (await one.client(agentTokensArea).createAgentToken({ params, body: {} })).id;
}

export const samples = samplesOf(agentTokensArea, {
  ids: { id: theAgent, tokenId: freshToken },
  calls: (one) => ({
    createAgentToken: async () => ({ path: { id: await one.the(theAgent) }, body: { label: 'more' } }),
    listAgentTokens: async () => ({ path: { id: await one.the(theAgent) } }),
    listAllAgentTokens: () => ({}),
    revokeAgentToken: async () => ({ path: { id: await one.the(theAgent), tokenId: await freshToken(one) } }),
  }),
});
