/** Sample calls and records of protect rules, for the suites that cover all operations. @module */
import { randomUUID } from 'node:crypto';
import { protectRulesArea } from '../../../src/domains/spending/protect-rules/protect-rule.contract.ts';
import { type Sampler, samplesOf } from '../../support/samples.ts';
import { theAgent } from '../parties/agents.samples.ts';

/** Of the sample's agent, so that owners and agents without it cannot reach it. */
const newProtectRule = async (one: Sampler): Promise<string> => {
  const agentId = await one.the(theAgent);
  const merchant = `${randomUUID()}.example`;
  const { id } = await one.client(protectRulesArea).createProtectRule({ body: { type: 'deny', merchant, agentId } });
  return id;
};
const theProtectRule = (one: Sampler): Promise<string> => one.the(newProtectRule);

export const samples = samplesOf(protectRulesArea, {
  ids: { id: theProtectRule, agentId: theAgent },
  calls: (one) => ({
    createProtectRule: async () => ({
      body: {
        type: 'allow',
        merchant: `${randomUUID()}.example`,
        agentId: await one.the(theAgent),
        reason: 'a sample',
      },
    }),
    listProtectRules: async () => {
      await theProtectRule(one);
      return {};
    },
    deleteProtectRule: async () => ({ path: { id: await newProtectRule(one) } }),
  }),
});
