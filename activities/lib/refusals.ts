/**
 * The worker's translator: a DomainError becomes a failure that Temporal does not retry, with its code as type, so that
 * the API can answer with the same message. `unavailable` stays retryable. Every other error is a bug and is retried;
 * the worker removes its text first (src/temporal/activity-failures.ts).
 * @module
 */
import { ApplicationFailure } from '@temporalio/common';
import { DomainError } from '../../src/kernel/errors.ts';

/** Wraps an activity: refusals of the domain end it, faults of the world are tried again. */
export function refusing<Arguments extends unknown[], Result>(
  activity: (...input: Arguments) => Promise<Result>,
): (...input: Arguments) => Promise<Result> {
  return async (...input) => {
    try {
      return await activity(...input);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      const isRetryable = error.code === 'unavailable';
      throw ApplicationFailure.create({ message: error.message, type: error.code, nonRetryable: !isRetryable });
    }
  };
}
