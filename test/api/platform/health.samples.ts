/** Sample calls of health and of the API's description, for the suites that cover all operations. @module */
import { healthArea } from '../../../src/http/health.ts';
import { samplesOf } from '../../support/samples.ts';

export const samples = samplesOf(healthArea, {
  ids: {},
  calls: () => ({
    getHealth: () => ({ as: 'nobody' }),
    getApiInformation: () => ({ as: 'nobody' }),
  }),
  needsNothing: ['getApiInformation'],
});
