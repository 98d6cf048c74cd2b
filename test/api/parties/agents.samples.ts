/** Sample calls and records of agents, for the suites that cover all operations. @module */
import { agentsArea } from '../../../src/domains/parties/agents/agent.contract.ts';
import { theRecords } from '../../support/factories/records.ts';
import { type Sampler, samplesOf } from '../../support/samples.ts';

export const theAgent = async (one: Sampler): Promise<string> => (await one.the(theRecords)).agentId;

export const freshAgent = async (one: Sampler): Promise<string> =>
  (await one.client(agentsArea).createAgent({ body: { name: 'another' } })).id;

export const samples = samplesOf(agentsArea, {
  ids: { id: theAgent },
  calls: (one) => {
    const agents = one.client(agentsArea);
    const path = async () => ({ id: await one.the(theAgent) });
    const freshPath = async () => ({ id: await freshAgent(one) });
    return {
      createAgent: () => ({ body: { name: 'one more' } }),
      listAgents: () => ({}),
      getAgent: async () => ({ path: await path() }),
      getAgentWallet: async () => ({ path: await path() }),
      updateAgent: async () => ({ path: await path(), body: { scope: 'shopping' } }),
      closeAgent: async () => ({ path: await freshPath() }),
      fundAgent: async () => {
        await one.the(theRecords); // The owner's wallet has money then.
        return { path: await freshPath(), body: { amount: 1.5 } };
      },
      rotateAgentKey: async () => {
        const params = await freshPath();
        await agents.updateAgent({ params, body: { requestSignatures: 'both' } });
        return { path: params, body: {} };
      },
      freezeAgent: async () => ({ path: await freshPath() }),
      unfreezeAgent: async () => {
        const params = await freshPath();
        await agents.freezeAgent({ params, body: {} });
        return { path: params };
      },
    };
  },
  needsTemporal: ['createAgent'],
});
