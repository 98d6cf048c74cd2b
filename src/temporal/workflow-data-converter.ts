/**
 * The data converter inside workflow runs. An invalid value ends the run, or the update that returns it, as a failure
 * that is not retried. A plain error would make the workflow task fail for ever, and no message could reach the run.
 * @module
 */
import { ApplicationFailure } from '@temporalio/common';
import { createPayloadConverter } from './payloads.ts';

export const payloadConverter = createPayloadConverter((why) =>
  ApplicationFailure.create({ message: why, type: 'unfit_payload', nonRetryable: true }),
);
