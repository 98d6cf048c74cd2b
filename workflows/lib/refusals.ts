/** Distinguishes a refusal by the rules from a fault, inside workflows. @module */
import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';

/** The refusal's own sentence, when the failure is one of ours; undefined for a fault. */
export function refusalIn(error: unknown): string | undefined {
  const failure = error instanceof ActivityFailure ? error.cause : error;
  return failure instanceof ApplicationFailure && failure.nonRetryable ? failure.message : undefined;
}

/** An update's refusal as the caller should get it: the rule's code and sentence, without the activity around it. */
export function asRefusal(error: unknown): unknown {
  const failure = error instanceof ActivityFailure ? error.cause : error;
  return failure instanceof ApplicationFailure ? failure : error;
}

export const refusal = (code: string, why: string): ApplicationFailure =>
  ApplicationFailure.create({ message: why, type: code, nonRetryable: true });
