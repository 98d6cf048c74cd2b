/** Sample calls and records of policies, for the suites that cover all operations. @module */
import { policiesArea } from '../../../src/domains/spending/policies/policy.contract.ts';
import { theRecords } from '../../support/factories/records.ts';
import { type Sampler, samplesOf } from '../../support/samples.ts';
import { freshAgent, theAgent } from '../parties/agents.samples.ts';

const theTemplate = async (one: Sampler): Promise<string> => (await one.the(theRecords)).policyId;

/** It has two versions. */
const changedTemplate = async (one: Sampler): Promise<string> => {
  const id = await theTemplate(one);
  await one.client(policiesArea).updatePolicy({ params: { id }, body: { cooldownMinutes: 5 } });
  return id;
};

export const samples = samplesOf(policiesArea, {
  ids: { id: theTemplate, agentId: theAgent, presetId: 'public', n: 'public' },
  calls: (one) => {
    const policies = one.client(policiesArea);
    const path = async () => ({ id: await one.the(theTemplate) });
    return {
      createPolicy: () => ({ body: { name: 'fresh' } }),
      listPolicies: () => ({}),
      listPolicyPresets: () => ({}),
      getPolicyPreset: () => ({ path: { presetId: 'strict' } }),
      simulatePolicy: async () => ({ body: { agentId: await one.the(theAgent), amount: 1 } }),
      getAgentPolicy: async () => ({ path: { agentId: await one.the(theAgent) } }),
      updateAgentPolicy: async () => ({ path: { agentId: await one.the(theAgent) }, body: { cooldownMinutes: 0 } }),
      applyPolicy: async () => ({ path: { agentId: await freshAgent(one) }, body: { presetId: 'open' } }),
      toggleAgentPolicy: async () => ({
        path: { agentId: await freshAgent(one) },
        body: { field: 'lockToFirstMerchant', value: true },
      }),
      getPolicy: async () => ({ path: await path() }),
      listPolicyVersions: async () => {
        const changed = await one.the(changedTemplate);
        return { path: { id: changed } };
      },
      getPolicyVersion: async () => ({ path: { ...(await path()), n: '1' } }),
      updatePolicy: async () => ({ path: await path(), body: { dailyLimitEuros: 3 } }),
      deletePolicy: async () => {
        const { id } = await policies.createPolicy({ body: { name: 'short-lived' } });
        return { path: { id: id ?? '' } };
      },
    };
  },
  needsNothing: ['listPolicyPresets', 'getPolicyPreset'],
});
