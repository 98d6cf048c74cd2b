/**
 * Goal: a caller reads what kind of failure Temporal had, and never an address or the server's own words. Method: the
 * client's errors as it makes them, for every gRPC status.
 * @module
 */
import { describe, expect, test } from '@jest/globals';
import { ServiceError, WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { isCollision, refusalFrom } from '../../../src/temporal/call-errors.ts';

const secret = 'sk_live_0123456789abcdefghij at temporal.internal:7233';
const grpc = (code: number, details: string): Error =>
  Object.assign(new Error(`${code} X: ${details}`), { code, details, metadata: {} });
const wrapped = (code: number, details = secret): Error =>
  new ServiceError('Failed to start Workflow', { cause: grpc(code, details) });

describe('the sentence of a 503', () => {
  const cases: [number, RegExp][] = [
    [14, /cannot be reached.*\(UNAVAILABLE\)/],
    [8, /takes no more requests.*\(RESOURCE_EXHAUSTED\)/],
    [7, /does not permit.*\(PERMISSION_DENIED\)/],
    [16, /credentials.*\(UNAUTHENTICATED\)/],
    [5, /does not know.*\(NOT_FOUND\)/],
    [3, /refuses this request.*\(INVALID_ARGUMENT\)/],
    [9, /cannot take this now.*\(FAILED_PRECONDITION\)/],
    [12, /too old.*\(UNIMPLEMENTED\)/],
    [13, /Temporal failed \(INTERNAL\)/],
    [2, /Temporal failed \(UNKNOWN\)/],
    [4, /no answer within 10 s: this may still take effect/],
  ];
  test.each(cases)('status %d', (code, sentence) => {
    for (const error of [grpc(code, secret), wrapped(code)]) {
      const refusal = refusalFrom(error, 10_000);
      expect(refusal).toMatchObject({ code: 'unavailable', retryAfterSeconds: 5 });
      expect(refusal?.message).toMatch(sentence);
      expect(refusal?.message).not.toMatch(/7233|sk_live/);
    }
  });

  test('a run with ten updates, a run that cannot continue, and no connection at all', () => {
    const crowded = wrapped(8, 'limit on number of concurrent in-flight updates has been reached (10)');
    expect(refusalFrom(crowded, 1)?.message).toMatch(/as many updates in flight as Temporal takes \(10\)/);
    const blocked = wrapped(9, 'Unable to perform workflow execution update due to Workflow Task in failed state.');
    expect(refusalFrom(blocked, 1)?.message).toMatch(/cannot continue: an operator has to look at it/);
    expect(refusalFrom(new Error('Failed to connect before the deadline'), 1)?.message).toMatch(/cannot be reached/);
    expect(refusalFrom(new WorkflowNotFoundError('x', 'y', undefined), 1)?.message).toMatch(/NOT_FOUND/);
    expect(refusalFrom(new TypeError('a bug'), 1)).toBeUndefined();
  });
});

test('only errors that a repeat resolves are collisions', () => {
  const collided = 'Unable to perform workflow execution update due to unexpected workflow task failure.';
  expect(isCollision(wrapped(9, collided))).toBe(true);
  expect(isCollision(wrapped(5, 'workflow update was aborted by closing workflow'))).toBe(true);
  expect(isCollision(wrapped(14, 'workflow operation can not be applied because workflow is closing'))).toBe(true);
  const ended = ApplicationFailure.create({ type: 'AcceptedUpdateCompletedWorkflow', message: 'completed' });
  expect(isCollision(new WorkflowUpdateFailedError('failed', ended))).toBe(true);
  const refused = ApplicationFailure.create({ type: 'invalid_state', message: 'cannot deny' });
  expect(isCollision(new WorkflowUpdateFailedError('failed', refused))).toBe(false);
  for (const code of [3, 7, 8, 9, 14]) expect(isCollision(wrapped(code))).toBe(false);
});
