/**
 * Converts a failed call to Temporal for the caller: a refusal by the rules, a collision that a repeat resolves, or a
 * 503 that names the gRPC status. Messages never contain an address or a text of the server.
 * @module
 */
import {
  isGrpcServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { DomainError, type ErrorCode, errorCodes, unavailable } from '../kernel/errors.ts';

/** The numbers of gRPC that need a sentence of their own. */
const statusNames: Readonly<Record<number, string>> = {
  1: 'CANCELLED',
  2: 'UNKNOWN',
  3: 'INVALID_ARGUMENT',
  4: 'DEADLINE_EXCEEDED',
  5: 'NOT_FOUND',
  6: 'ALREADY_EXISTS',
  7: 'PERMISSION_DENIED',
  8: 'RESOURCE_EXHAUSTED',
  9: 'FAILED_PRECONDITION',
  10: 'ABORTED',
  11: 'OUT_OF_RANGE',
  12: 'UNIMPLEMENTED',
  13: 'INTERNAL',
  14: 'UNAVAILABLE',
  15: 'DATA_LOSS',
  16: 'UNAUTHENTICATED',
};

const sentences: Readonly<Record<string, string>> = {
  UNAVAILABLE: 'Temporal cannot be reached, and this needs it',
  RESOURCE_EXHAUSTED: 'Temporal takes no more requests at the moment',
  PERMISSION_DENIED: 'Temporal does not permit this call: its operator has to look at it',
  UNAUTHENTICATED: 'Temporal does not accept this deployment’s credentials: its operator has to look at it',
  NOT_FOUND: 'Temporal does not know the namespace or the workflow run',
  INVALID_ARGUMENT: 'Temporal refuses this request: its operator has to look at the log',
  FAILED_PRECONDITION: 'the workflow run cannot take this now',
  UNIMPLEMENTED: 'this Temporal is too old for this call',
};

/**
 * True when the run ended or began anew while the update was on its way, so that a repeat with the same update id is
 * answered. Seen with a wake that arrives with a run's completion: the server discards the workflow task.
 */
export function isCollision(error: unknown): boolean {
  if (error instanceof WorkflowUpdateFailedError) {
    // Accepted, but the run ended before it answered. The next run reads from the row what became of it.
    return error.cause instanceof ApplicationFailure && error.cause.type === 'AcceptedUpdateCompletedWorkflow';
  }
  return /unexpected workflow task failure|workflow update was aborted|workflow is closing/i.test(messagesOf(error));
}

/** Undefined for an error that is not Temporal's. */
export function refusalFrom(error: unknown, waitedMs: number): DomainError | undefined {
  if (error instanceof WorkflowUpdateFailedError) return refusalOf(error);
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return noAnswer(waitedMs, error);
  const status = statusOf(error);
  if (status === undefined) return undefined;
  if (status === 'DEADLINE_EXCEEDED') return noAnswer(waitedMs, error);
  const text = messagesOf(error);
  if (/in-flight updates/i.test(text)) {
    return unavailable('this workflow run has as many updates in flight as Temporal takes (10)', error);
  }
  if (/in failed state/i.test(text)) {
    return unavailable('the workflow run cannot continue: an operator has to look at it', error);
  }
  return unavailable(`${sentences[status] ?? 'Temporal failed'} (${status})`, error);
}

export const noAnswer = (ms: number, cause?: unknown): DomainError =>
  unavailable(`no answer within ${ms / 1_000} s: this may still take effect`, cause);

/** Errors of the client wrap gRPC's; both texts count. */
export const messagesOf = (error: unknown): string =>
  error instanceof Error ? `${error.message} ${detailsOf(error)} ${messagesOf(error.cause)}` : '';

const detailsOf = (error: Error): string => String((error as { details?: unknown }).details ?? '');

function refusalOf(error: WorkflowUpdateFailedError): DomainError {
  const failure = error.cause;
  const code = failure instanceof ApplicationFailure ? failure.type : undefined;
  if (code === 'unavailable') return unavailable(failure?.message ?? 'something is away', error);
  if (isErrorCode(code)) return new DomainError(code, failure?.message ?? 'refused');
  return unavailable('the workflow ended before it answered', error);
}

const isErrorCode = (code: unknown): code is ErrorCode => (errorCodes as readonly unknown[]).includes(code);

/** The name of the gRPC status, also where the client's own error stands in front of it. */
function statusOf(error: unknown): string | undefined {
  if (error instanceof WorkflowNotFoundError) return 'NOT_FOUND';
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if (isGrpcServiceError(at)) return statusNames[at.code] ?? `status ${at.code}`;
  }
  return isConnectFailure(error) ? 'UNAVAILABLE' : undefined;
}

/** The client's errors before there is a connection have no status. */
const isConnectFailure = (error: unknown): boolean =>
  error instanceof Error && (error.name === 'ServiceError' || /connect|deadline|UNAVAILABLE/i.test(error.message));
