/** Sample calls and records of access events, for the suites that cover all operations. @module */
import { accessEventsArea } from '../../../src/domains/oversight/access-events/access-event.contract.ts';
import { type Sampler, samplesOf } from '../../support/samples.ts';
import { theCard } from '../cards/cards.samples.ts';
import { theAgent } from '../parties/agents.samples.ts';

async function newAccessEvent(one: Sampler): Promise<string> {
  const params = { cardId: await one.the(theCard) };
  return (await one.client(accessEventsArea).requestCardAccess({ params, body: { expectedAmount: 5 } })).id;
}
/** Two, so that a page of one is not the whole list. */
const bothAccessEvents = async (one: Sampler) => [await newAccessEvent(one), await newAccessEvent(one)] as const;
const theAccessEvent = async (one: Sampler): Promise<string> => (await one.the(bothAccessEvents))[0];

export const samples = samplesOf(accessEventsArea, {
  ids: { id: theAccessEvent, cardId: theCard, agentId: theAgent },
  calls: (one) => ({
    requestCardAccess: async () => ({ path: { cardId: await one.the(theCard) }, body: { purpose: 'a book' } }),
    listAccessEvents: async () => {
      await theAccessEvent(one);
      return {};
    },
    getAccessEvent: async () => ({ path: { id: await theAccessEvent(one) } }),
  }),
});
