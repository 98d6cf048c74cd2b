/** Sample calls and records of intents, for the suites that cover all operations. @module */
import { intentsArea } from '../../../src/domains/spending/intents/intent.contract.ts';
import { intentChallengeOf, thePasskey } from '../../support/factories/passkeys.ts';
import { theRecords } from '../../support/factories/records.ts';
import { type Sampler, samplesOf } from '../../support/samples.ts';
import { freshAgent, theAgent } from '../parties/agents.samples.ts';

/** An intent that waits for approval. */
export const theIntent = async (one: Sampler): Promise<string> => (await one.the(theRecords)).intentId;

/** An intent of a fresh agent: approved for 5.00 EUR, waiting for approval for 60.00 EUR. */
export async function freshIntent(one: Sampler, expectedAmountEuros: number): Promise<string> {
  const agentId = await freshAgent(one);
  const body = { agentId, purpose: 'a thing', expectedAmountEuros, expectedMerchant: 'Sandbox Shop' };
  return (await one.client(intentsArea).declareIntent({ body })).id;
}

export const samples = samplesOf(intentsArea, {
  ids: { id: theIntent, agentId: theAgent },
  calls: (one) => {
    const path = async () => ({ id: await one.the(theIntent) });
    const freshPath = async (euros: number) => ({ id: await freshIntent(one, euros) });
    return {
      declareIntent: async () => ({
        body: { agentId: await freshAgent(one), purpose: 'x', expectedAmountEuros: 1 },
      }),
      listIntents: () => ({}),
      getIntent: async () => ({ path: await path() }),
      approveIntent: async () => ({ path: await freshPath(60) }),
      attestIntent: async () => {
        const passkey = await one.the(thePasskey);
        const id = await freshIntent(one, 5);
        const webauthnAssertion = passkey.answer(await intentChallengeOf(one.owner, id));
        return { path: { id }, body: { webauthnAssertion } };
      },
      denyIntent: async () => ({ path: await freshPath(60) }),
      cancelIntent: async () => ({ path: await freshPath(5) }),
      listIntentWindows: async () => ({ path: await path() }),
      verifyIntent: async () => ({
        path: { id: (await one.the(theRecords)).completedIntentId },
        body: { actualAmountEuros: 12.5 },
      }),
    };
  },
  shortLists: ['listIntentWindows'],
  needsTemporal: ['approveIntent'],
});
