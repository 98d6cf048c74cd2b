/**
 * Converts an activity's unknown error before it leaves the worker: into a failure that is retried and carries only the
 * error's class and code. The text of a database error contains rows, and a workflow history keeps all that it gets;
 * the log has the rest, redacted.
 * @module
 */
import { ApplicationFailure, TemporalFailure } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import type { Logger } from '../platform/log.ts';

export const activityFailures =
  (log: Logger): ActivityInterceptorsFactory =>
  (context) => ({
    inbound: {
      execute: async (input, next) => {
        try {
          return await next(input);
        } catch (error) {
          if (isForTheSdk(error, context)) throw error;
          const { activityType, attempt, workflowExecution } = context.info;
          const { workflowId, runId } = workflowExecution ?? {};
          log.warn({ err: error, activityType, attempt, workflowId, runId }, 'activity failed; it is repeated');
          throw failureOf(error);
        }
      },
    },
  });

/** Without stack and cause: both repeat the error's own text. */
export function failureOf(error: unknown): ApplicationFailure {
  const type = error instanceof Error ? error.name : typeof error;
  const code = codeOf(error);
  const message = code === undefined ? type : `${type} (${code})`;
  const failure = ApplicationFailure.create({ message, type, nonRetryable: false });
  failure.stack = '';
  return failure;
}

type Context = Parameters<ActivityInterceptorsFactory>[0];

/** A refusal made by `refusing`, or a cancellation. */
const isForTheSdk = (error: unknown, { cancellationSignal }: Context): boolean =>
  error instanceof TemporalFailure ||
  (cancellationSignal.aborted && error instanceof Error && error.name === 'AbortError');

/** PostgreSQL's SQLSTATE, or the system's name of the fault (`ECONNREFUSED`). */
function codeOf(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null ? Reflect.get(error, 'code') : undefined;
  if (typeof code !== 'string' || !/^[A-Z0-9_]{2,40}$/.test(code)) return undefined;
  return /^(?=.*\d)[0-9A-Z]{5}$/.test(code) ? `SQLSTATE ${code}` : code;
}
