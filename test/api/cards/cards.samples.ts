/** Sample calls and records of cards, for the suites that cover all operations. @module */
import { cardsArea } from '../../../src/domains/cards/cards/card.contract.ts';
import { agentsArea } from '../../../src/domains/parties/agents/agent.contract.ts';
import { theRecords } from '../../support/factories/records.ts';
import { type Sampler, samplesOf } from '../../support/samples.ts';
import { freshAgent, theAgent } from '../parties/agents.samples.ts';

export const theCard = async (one: Sampler): Promise<string> => (await one.the(theRecords)).cardId;

export async function freshCard(one: Sampler): Promise<string> {
  const { cardId } = await one.client(agentsArea).createAgent({ body: { name: 'cardholder' } });
  return cardId ?? '';
}

export const samples = samplesOf(cardsArea, {
  ids: { cardId: theCard, agentId: theAgent },
  calls: (one) => {
    const cards = one.client(cardsArea);
    const ofAgent = async () => ({ agentId: await one.the(theAgent) });
    const ofFreshAgent = async () => ({ agentId: await freshAgent(one) });
    const fresh = async () => ({ cardId: await freshCard(one) });
    return {
      listCards: () => ({}),
      listAgentCards: async () => ({ path: await ofAgent() }),
      issueAgentCard: async () => ({
        path: await ofFreshAgent(),
        body: { usage: 'single', purpose: 'one thing', name: 'single' },
      }),
      freezePrimaryCard: async () => ({ path: await ofFreshAgent() }),
      unfreezePrimaryCard: async () => {
        const params = await ofFreshAgent();
        await cards.freezePrimaryCard({ params });
        return { path: params };
      },
      closePrimaryCard: async () => ({ path: await ofFreshAgent() }),
      rotatePrimaryCard: async () => ({ path: await ofFreshAgent() }),
      getCard: async () => ({ path: { cardId: await one.the(theCard) } }),
      getCardPolicy: async () => ({ path: { cardId: await one.the(theCard) } }),
      freezeCard: async () => ({ path: await fresh() }),
      unfreezeCard: async () => {
        const params = await fresh();
        await cards.freezeCard({ params });
        return { path: params };
      },
      closeCard: async () => ({ path: await fresh() }),
      updateCard: async () => ({ path: await fresh(), body: { displayName: 'Travel' } }),
      updateCardLimits: async () => ({ path: await fresh(), body: { dailyLimitEuros: 40 } }),
      rotateCard: async () => ({ path: await fresh() }),
    };
  },
  needsTemporal: ['issueAgentCard', 'rotateCard', 'rotatePrimaryCard'],
});
