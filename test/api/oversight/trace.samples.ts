/** Sample calls of the trace, for the suites that cover all operations. @module */
import { traceArea } from '../../../src/domains/oversight/trace/trace.contract.ts';
import { samplesOf } from '../../support/samples.ts';
import { theIntent } from '../spending/intents.samples.ts';

export const samples = samplesOf(traceArea, {
  ids: { anyId: theIntent },
  calls: (one) => ({
    getTrace: async () => ({ path: { anyId: await one.the(theIntent) } }),
  }),
});
