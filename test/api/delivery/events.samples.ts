/** Sample calls of the feed of events, for the suites that cover all operations. @module */
import { eventsArea } from '../../../src/domains/delivery/events/event.contract.ts';
import { theRecords } from '../../support/factories/records.ts';
import { samplesOf } from '../../support/samples.ts';

export const samples = samplesOf(eventsArea, {
  ids: {},
  calls: (one) => ({
    listEvents: async () => {
      await one.the(theRecords);
      return { query: 'after=0' };
    },
  }),
});
