/** Sample calls and records of card requests, for the suites that cover all operations. @module */
import { cardRequestsArea } from '../../../src/domains/cards/card-requests/card-request.contract.ts';
import { theRecords } from '../../support/factories/records.ts';
import { type Sampler, samplesOf } from '../../support/samples.ts';
import { theAgent } from '../parties/agents.samples.ts';

async function freshRequest(one: Sampler): Promise<string> {
  const { agentId, cardId } = await one.the(theRecords);
  const body = { type: 'limit_change', agentId, cardId, dailyLimitEuros: 80 } as const;
  return (await one.client(cardRequestsArea).createCardRequest({ body })).id;
}

const path = async (one: Sampler) => ({ path: { id: await freshRequest(one) } });

export const samples = samplesOf(cardRequestsArea, {
  ids: { id: freshRequest, agentId: theAgent },
  calls: (one) => ({
    createCardRequest: async () => {
      const { agentId } = await one.the(theRecords);
      return { body: { type: 'new_card', agentId, usage: 'multi', purpose: 'cloud hosting' } };
    },
    listCardRequests: () => ({}),
    getCardRequest: () => path(one),
    approveCardRequest: () => path(one),
    denyCardRequest: () => path(one),
    cancelCardRequest: () => path(one),
  }),
  needsTemporal: ['approveCardRequest'],
});
