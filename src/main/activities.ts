/** Every activity that the worker registers. @module */
import { intentActivities } from '../../activities/spending/intent.activities.ts';
import type { Infrastructure } from './infrastructure.ts';

export const workerActivities = ({ database, clock, config }: Infrastructure) => ({
  ...intentActivities({ database, clock, signalsMayApprove: config.signalsMayApprove }),
});
