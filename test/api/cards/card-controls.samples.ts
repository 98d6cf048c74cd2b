/** Sample calls of card controls, for the suites that cover all operations. @module */
import { cardControlsArea } from '../../../src/domains/cards/card-controls/card-control.contract.ts';
import { type Sampler, samplesOf } from '../../support/samples.ts';
import { freshCard, theCard } from './cards.samples.ts';

export const samples = samplesOf(cardControlsArea, {
  ids: { cardId: theCard },
  calls: (one: Sampler) => {
    const controls = one.client(cardControlsArea);
    const fresh = async () => ({ cardId: await freshCard(one) });
    return {
      getCardControls: async () => ({ path: { cardId: await one.the(theCard) } }),
      replaceCardControls: async () => ({ path: await fresh(), body: { blockedMccs: ['7995'] } }),
      updateCardControls: async () => ({ path: await fresh(), body: { allowedCountries: ['de'] } }),
      deleteCardControls: async () => {
        const params = (await fresh()) as { cardId: `ca_${string}` };
        await controls.replaceCardControls({ params, body: { blockedMccs: ['7995'] } });
        return { path: params };
      },
    };
  },
});
